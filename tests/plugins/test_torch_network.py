"""Recurrent networks in PyTorch: the network, its losses and Adam, against numpy."""

import os

import naive
import naive_objectives
import numpy as np
import pytest
from neural_models import naive_lstm, naive_spelling
from test_neural_trainer import SMALL, TEXTS, TRAINERS

import embeddings as em
from embeddings.errors import SettingError
from embeddings.kernels.block import LAST
from embeddings.plugins.neural.context2vec import new_context_encoder
from embeddings.plugins.neural.trained_networks import batches
from embeddings.training.training_data import prepare

torch = pytest.importorskip("torch", reason="requires PyTorch: pip install 'embeddings-toolkit[neural]'")


def new_network(name, **settings):
    """A network, its arrays and a block of text, with one word of which no vocabulary knows the frequency."""
    corpus = em.Corpus([*TEXTS, "hapax the cat"])
    trainer = {"context2vec": em.Context2Vec, "c2w": em.C2W}[name](**SMALL | TRAINERS[name] | settings)
    data = prepare(trainer, corpus, threads=1, seed=2)
    plan = trainer.plan(data)
    arrays = plan.allocate(2)
    rng = np.random.default_rng(4)
    for key, table in plan.tables.items():
        if table.saved_as is not None:
            arrays[key][:, : table.dim] = rng.normal(size=(len(arrays[key]), table.dim)) * 0.5
    network, block = plan.operands(arrays), plan.stream.new_block()
    plan.stream.rewind(block, next(plan.stream.chunks(0, plan.stream.units, None)))
    plan.stream.fill(block, next(plan.stream.chunks(0, plan.stream.units, None)), np.array([3, 0], np.uint64))
    saved = {key: table for key, table in plan.tables.items() if table.saved_as is not None}
    tables = {table.saved_as or key: table.unpad(arrays[key].copy()) for key, table in saved.items()}
    return network, tables, block, data


def copied(arrays):
    return {name: array.copy() for name, array in arrays.items()}


def hidden_rows(network, block):
    """For each batch: the places of the words in the block, and what the network computes for them."""
    for batch, lengths in batches(block, network.settings.batch_words):
        rows = np.flatnonzero(np.arange(batch.shape[1]) < lengths[:, None])
        with torch.no_grad():
            yield batch.ravel()[rows], network.hidden(block, batch, lengths, rows).numpy()


def sentence_of(block, place):
    """The words of the sentence of a word, and its place there."""
    number = int(np.searchsorted(block.starts[: block.cursor[LAST] + 1], place, side="right")) - 1
    start, stop = block.starts[number : number + 2]
    return block.words[start:stop].tolist(), int(place - start)


def test_the_context_network_is_that_of_trained_models():
    network, tables, block, data = new_network("context2vec")
    size = len(data.vocabulary)
    encoder = new_context_encoder({name: tables[name] for name in network.settings.tables(size)}, size)
    for places, hidden in hidden_rows(network, block):
        for place, row in list(zip(places, hidden, strict=True))[::7]:
            ids, position = sentence_of(block, place)
            np.testing.assert_allclose(row, encoder([np.array(ids)])[0][position], rtol=1e-3, atol=1e-5)


def test_the_language_model_reads_all_words_by_their_characters():
    network, tables, block, data = new_network("c2w")
    words, marks = data.encoded.vocabulary.words, tables["marks"]
    spelt = {"code_points": np.array(sorted({ord(c) for word in data.vocabulary.words for c in word})), **tables}
    for places, hidden in hidden_rows(network, block):
        for place, row in list(zip(places, hidden, strict=True))[::7]:
            ids, position = sentence_of(block, place)
            inputs = [marks[1], *(naive_spelling(spelt, words[one]) for one in ids[:position])]
            expected = naive_lstm(inputs, tables["sentence_weights"], tables["sentence_bias"])
            np.testing.assert_allclose(row, expected, rtol=1e-3, atol=1e-5)


def test_dropout_keeps_the_mean_and_follows_seed_and_step():
    network, *_ = new_network("c2w", dropout=0.25)
    network.generator.manual_seed(1)
    rows = network.drop(torch.ones(200, 100))
    assert set(rows.unique().tolist()) == {0.0, float(torch.tensor(1.0) / 0.75)}
    assert float((rows == 0).float().mean()) == pytest.approx(0.25, abs=0.01)
    runs = [
        em.train("c2w", TEXTS, threads=1, seed=2, dropout=share, **SMALL | TRAINERS["c2w"]) for share in (0, 0.3, 0.3)
    ]
    assert not np.array_equal(runs[0].vectors.matrix, runs[1].vectors.matrix)
    np.testing.assert_array_equal(runs[1].vectors.matrix, runs[2].vectors.matrix)


def negative_sampling(tables, word, hidden, noise, q):
    targets, weights = naive.window_targets(tables["output"], word, noise)
    return naive.logistic_loss(naive.score([hidden], targets), 1, weights)


NAIVE_LOSSES = {
    "negative-sampling": negative_sampling,
    "nce": naive_objectives.nce,
    "sampled-softmax": naive_objectives.sampled_softmax,
    "full-softmax": naive_objectives.full_softmax,
}


@pytest.mark.parametrize("objective", NAIVE_LOSSES)
def test_losses_equal_naive_ones(objective):
    count = {} if objective == "full-softmax" else {"negatives": 4}
    network, tables, _, data = new_network("c2w", objective=objective, **count)
    size, rng = len(data.vocabulary), np.random.default_rng(6)
    hidden, words, noise = rng.normal(size=(40, 5)), rng.integers(0, size, 40), rng.integers(0, size, (40, 4))
    shares = network.objective.noise_weights / network.objective.noise_weights.sum()
    total = network.loss(torch.from_numpy(hidden).float(), words, noise).item()
    tables = {"output": tables["next_words"].astype(np.float64), "bias": tables.get("bias")}
    rows = zip(hidden, words.tolist(), noise.tolist(), strict=True)
    expected = sum(NAIVE_LOSSES[objective](tables, word, row, drawn, shares) for row, word, drawn in rows)
    assert total == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("dim", [3, 16])
def test_adam_is_that_of_pytorch(dim, is_sparse):
    """Of a table whose rows have padding, and of selected rows, with clipped gradients."""
    from embeddings.plugins.neural.torch_network import AdamParameter, take_step

    rng = np.random.default_rng(0)
    start = torch.from_numpy(rng.normal(size=(6, dim))).float()
    tables = [torch.full((6, 16), 7.0), torch.zeros(6, 16), torch.zeros(6, 16)]
    tables[0][:, :dim] = start
    values, first, second = (table[:, :dim] for table in tables)
    ours = AdamParameter(values.requires_grad_(), first, second, torch.zeros(1)[0])
    theirs = start.clone().requires_grad_()
    optimizer = (torch.optim.SparseAdam if is_sparse else torch.optim.Adam)([theirs], lr=0.1)
    for _ in range(5):
        rows, goal = np.unique(rng.integers(0, 5, 4)), torch.from_numpy(rng.normal(size=(6, dim))).float()
        rows = torch.from_numpy(rows)
        used = ours.select(rows) if is_sparse else ours.values[rows]
        ((used - goal[rows]) ** 2).sum().backward()
        theirs.grad = None
        ((torch.nn.functional.embedding(rows, theirs, sparse=is_sparse) - goal[rows]) ** 2).sum().backward()
        theirs.grad = theirs.grad.coalesce() if is_sparse else theirs.grad
        gradient = theirs.grad.values() if is_sparse else theirs.grad
        gradient *= min(1, 2 / float(gradient.norm()))
        take_step([ours], 0.1, 2.0)
        optimizer.step()
        torch.testing.assert_close(ours.values, theirs)
    assert (tables[0][:, dim:] == 7).all()


def test_the_threads_of_pytorch_are_given_back():
    before, seen = torch.get_num_threads(), []
    em.train("context2vec", TEXTS, threads=1, progress=lambda progress: seen.append(torch.get_num_threads()), **SMALL)
    assert torch.get_num_threads() == before


def test_rare_words_are_composed_and_read():
    model = em.train("c2w", TEXTS, threads=1, **SMALL | TRAINERS["c2w"])
    assert "mat" in model.vectors
    row = model.vectors.matrix[model.vectors.index("mat")]
    np.testing.assert_allclose(model.compose(["mat"])[0], row, rtol=1e-4, atol=1e-5)
    with pytest.raises(SettingError, match="use skipgram, cbow"):
        model.predict_output_word(["cat"])
    assert "sleeping" not in model.vectors
    assert model.compose(["sleeping"])[0].any()


def test_copies_on_a_device_are_stored_in_the_tables(monkeypatch):
    """A network that has copies of the tables, as on a GPU, learns the same but for the order of sums."""
    model = em.train("context2vec", TEXTS, threads=1, seed=2, **SMALL)
    monkeypatch.setattr("embeddings.plugins.neural.torch_network.Network.share", share_copy)
    other = em.train("context2vec", TEXTS, threads=1, seed=2, **SMALL)
    np.testing.assert_allclose(other.vectors.matrix, model.vectors.matrix, atol=1e-3)
    for name, table in model.tables.items():
        np.testing.assert_allclose(other.tables[name], table, atol=1e-3)


def share_copy(network, table, dim):
    view = torch.from_numpy(table)[:, :dim]
    copy = torch.full(view.shape, torch.nan)
    network.copies.append((copy, view))
    return copy


@pytest.mark.parametrize(("chosen", "used"), [("active", "active"), (None, "passive")])
def test_waiting_threads_of_pytorch_sleep(chosen, used, monkeypatch):
    """Unless the user has chosen otherwise: threads that spin make training ten times slower on a busy machine."""
    monkeypatch.setenv("OMP_WAIT_POLICY", chosen or "")
    if chosen is None:
        monkeypatch.delenv("OMP_WAIT_POLICY")
    em.C2W().check_installation()
    assert os.environ["OMP_WAIT_POLICY"] == used
