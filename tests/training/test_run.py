"""Runs with one and several threads: what they read and learn, and the loss that they report."""

import dataclasses

import numpy as np
import pytest
from kernel_helpers import random_rows
from naive import Stream, blocks, single_context_windows, skipgram
from random_draws import draw_words, random_sequence

import embeddings as em
from embeddings.errors import FormatError, SettingError
from embeddings.kernels.block import BLOCK_SIZE, FIRST, LAST
from embeddings.kernels.loss_tally import report_loss
from embeddings.kernels.random_numbers import thread_keys
from embeddings.kernels.row_cache import LEAST_THREADS
from embeddings.models.table import zero_rows
from embeddings.settings import field_types
from embeddings.testing.trainer_contract import synonym_corpus
from embeddings.training import stream
from embeddings.training.run import Run, TrainingError
from embeddings.training.training_data import prepare

TRAINERS = pytest.mark.parametrize("trainer", [em.SkipGram, em.CBOW])
SUM = {"CBOW": {"combine": "sum"}}


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_every_word_is_a_centre_in_every_epoch(threads, shuffle, monkeypatch):
    """A kernel that only counts words; many lines are longer than a thread's share or a block."""
    monkeypatch.setattr(stream, "SEGMENT", 500)
    rng = np.random.default_rng(threads)
    lines = [[f"w{i}" for i in rng.integers(0, 50, n)] for n in (30_000, 1, 7, 9_000, 2, 800, *range(90))]
    made = em.SkipGram(dim=8, min_count=1, subsample=0, epochs=3, window=4, shuffle=shuffle)
    data = prepare(made, em.Corpus(lines), threads=threads)
    seen = []

    def learn_block(block, tables, buffers, rate):
        seen.append(block.words[block.cursor[FIRST] : block.cursor[LAST]].copy())
        report_loss(buffers, 0.0, 1)

    model = Run(data, dataclasses.replace(made.plan(data), kernel=learn_block)).train()
    counts = np.bincount(np.concatenate(seen), minlength=len(data.vocabulary))
    assert counts.tolist() == (3 * data.vocabulary.counts).tolist()
    assert model.record["words"] == 3 * len(data.encoded.ids)


@TRAINERS
@pytest.mark.parametrize("threads", [3, LEAST_THREADS])
def test_several_threads_learn_like_one(trainer, threads):
    model = trainer(dim=16, min_count=1, subsample=0, epochs=40, window=2).train(synonym_corpus(), threads=threads)
    assert np.isfinite(model.vectors.matrix).all()
    assert model.vectors.most_similar("cat", top=1)[0][0] == "kitty"
    assert (model.record["threads"], model.record["words"]) == (threads, 40 * 2400)


def test_more_threads_than_words():
    model = em.train("skipgram", [["a", "b"], ["a"]], dim=4, min_count=1, subsample=0, threads=9)
    assert np.isfinite(model.vectors.matrix).all()
    assert model.record["words"] == 15


@pytest.mark.parametrize("lines", [[["a", "a"]], [["a"] * 3, ["b"]], [["a", "a", "a"]]])
def test_the_smallest_corpora(lines):
    for trainer in ("skipgram", "cbow"):
        model = em.train(trainer, lines, dim=3, min_count=1, subsample=0, threads=1)
        assert np.isfinite(model.vectors.matrix).all()


@pytest.mark.parametrize("sharing", ["batch", "window", "none"])
def test_a_run_equals_the_naive_implementation(sharing):
    """From initial to final tables, over epochs, blocks, subsampling and a decreasing learning rate."""
    rng, dim, seed = np.random.default_rng(1), 6, 3
    lines = [[f"w{i}" for i in rng.zipf(1.5, n) % 40] for n in (500, 3, 1, 2000, 60)] * 2
    made = em.SkipGram(dim=dim, min_count=3, subsample=0.05, epochs=2, window=3, learning_rate=0.05, max_vocab=30)
    made = dataclasses.replace(made, negative_sharing=sharing)
    data = prepare(made, em.Corpus(lines), threads=1, seed=seed)
    words, output = (t.astype(np.float64) for t in (random_rows(30, dim, seed), zero_rows(30, dim)))
    source, total, done = made.plan(data).stream.source, len(data.encoded.ids), 0
    drawn = 5 if sharing != "none" else 2 * 3 * 5  # noise words of a centre
    for choices, read in blocks_of_epochs(source, total, int(thread_keys(seed, 1)[0]), drawn):
        choices = choices if sharing != "none" else single_context_windows(choices, 5)
        rate = made.learning_rate_at(done, 2 * total)
        skipgram(words, output, choices, rate)
        done += read
    assert done == 2 * total
    model = made.train(em.Corpus(lines), threads=1, seed=seed)
    assert len(model.vectors) == 30
    np.testing.assert_allclose(model.vectors.matrix, words[:, :dim], atol=2e-3)
    np.testing.assert_allclose(model.tables["output"], output[:, :dim], atol=2e-3)
    assert abs(model.vectors.matrix).max() > 0.2


def blocks_of_epochs(source, total, key, negatives):
    """The choices of each block of a run of one thread and the words read for it; an epoch is one block here."""
    stream = Stream(key)
    for _ in range(2):
        for choices in blocks(source, 0, total, stream, BLOCK_SIZE, negatives):
            yield choices, total
    assert total < BLOCK_SIZE


@TRAINERS
def test_an_excessive_learning_rate_is_an_error(trainer):
    made = trainer(
        dim=8, min_count=1, epochs=5, learning_rate=100, min_learning_rate=100, **SUM.get(trainer.__name__, {})
    )
    with pytest.raises(TrainingError, match=r"diverged.*(loss|words|output|vectors).*learning_rate"):
        made.train(synonym_corpus(), threads=1)


@TRAINERS
def test_initial_loss_is_that_of_chance(trainer):
    """log 2 for the positive and each negative sample that is not the centre itself."""
    model = trainer(dim=8, min_count=1, subsample=0, epochs=40, learning_rate=1e-12).train(synonym_corpus(), threads=1)
    shares = model.vocabulary.counts / model.vocabulary.tokens
    itself = shares @ model.vocabulary.noise_weights(0.75)
    found = np.mean(model.record["loss_by_epoch"])
    assert found == pytest.approx((1 + 5 * (1 - itself)) * np.log(2), rel=0.02)


def test_reported_loss_equals_the_naive_implementation_within_sampling_error():
    """The tables are constant, so the loss of each window is known."""
    rng = np.random.default_rng(2)
    lines = [[f"w{i}" for i in rng.integers(0, 30, 1000)] for _ in range(8)]
    made = em.SkipGram(dim=8, min_count=1, epochs=1, learning_rate=1e-12, window=3)
    data = prepare(made, em.Corpus(lines), threads=1, seed=4)
    words, output = rng.normal(size=(2, 30, 16))
    initial = {"words": words, "output": output}
    reports, choices = (
        [],
        next(blocks(made.plan(data).stream.source, 0, 8000, int(thread_keys(4, 1)[0]), BLOCK_SIZE, 5)),
    )
    data = prepare(made, em.Corpus(lines), threads=1, seed=4, report=reports.append)
    run = Run(data, made.plan(data))
    for name, table in run.executor.tables.items():
        table[:] = initial[name]
    model = run.train()
    each = [skipgram(words, output, [choice], 0)[0] / len(choice[1]) for choice in choices]
    sizes = np.array([len(choice[1]) for choice in choices])
    expected = float(np.average(each, weights=sizes))
    error = np.std(each) / np.sqrt(len(each) / 64)
    found = model.record["loss_by_epoch"][0]
    assert abs(found - expected) < 4 * error
    assert 0 < error < 0.1 * expected
    assert [p.loss for p in reports if p.loss is not None] == [pytest.approx(found)]


def test_initial_tables():
    table = random_rows(70_000, 10, 5)
    assert table.dtype == np.float32
    assert table.shape == (70_000, 16)
    assert table.ctypes.data % 64 == 0
    assert (table[:, 10:] == 0).all()
    scaled = table[:, :10] * 10
    assert -1 <= scaled.min() < -0.9999
    assert 0.9999 < scaled.max() <= 1
    assert abs(scaled.mean()) < 0.004
    assert scaled.std() == pytest.approx(3**-0.5, rel=0.005)
    np.testing.assert_array_equal(table, random_rows(70_000, 10, 5))
    assert not np.array_equal(table, random_rows(70_000, 10, 6))
    assert len(np.unique(table[:, :10])) > 600_000
    assert (zero_rows(3, 10) == 0).all()


OTHER = {
    "dim": 9, "min_count": 50, "max_vocab": 7, "subsample": 0.01, "window": 3, "shrink_window": False, "negatives": 4,
    "noise_exponent": 0.5, "epochs": 3, "learning_rate": 0.04, "min_learning_rate": 0.02, "combine": "sum",
    "context_gradient": "exact", "negative_sharing": "window", "shuffle": True, "schedule": "cosine", "warm_up": 0.3,
    "average_last": 0.5,
}  # fmt: skip


@pytest.mark.parametrize(
    ("trainer", "name"), [(t, n) for t in (em.SkipGram, em.CBOW) for n in OTHER if n in field_types(t)]
)
def test_every_setting_has_an_effect(trainer, name):
    base = {"dim": 8, "min_count": 1, "subsample": 0, "window": 2, "epochs": 4}
    one, other = (trainer(**{**base, **more}).train(synonym_corpus(), threads=1) for more in ({}, {name: OTHER[name]}))
    assert one.vectors.matrix.tobytes() != other.vectors.matrix.tobytes()
    assert other.settings[name] == OTHER[name]


def test_source_follows_the_settings():
    made = em.SkipGram(min_count=2, max_vocab=3, subsample=0.1, noise_exponent=0.5, window=7, shrink_window=False)
    data = prepare(made, em.Corpus([["a"] * 9, ["b"] * 4 + ["c"] * 4 + ["d"] * 3 + ["e"]]), threads=1)
    source, counts = made.plan(data).stream.source, np.array([9, 4, 4])
    assert source.ids.tolist() == [0] * 9 + [1] * 4 + [2] * 4 + [3] * 3 + [4]
    assert source.lines.tolist() == [0, 9, 21]
    assert (source.window, source.shrink_window, source.windows_per_draw) == (7, False, 8)
    share = counts / 17
    chances = np.minimum(1, np.sqrt(0.1 / share) + 0.1 / share)
    np.testing.assert_allclose(source.keep_thresholds / 2**32, chances, atol=1e-6)
    assert chances[0] < 1
    drawn = np.bincount(draw_words(source.noise, random_sequence(np.uint64(1), 100_000)), minlength=3) / 100_000
    np.testing.assert_allclose(drawn, np.sqrt(counts) / np.sqrt(counts).sum(), atol=0.01)


@pytest.mark.parametrize(("trainer", "window"), [("continuous-window", 1000), ("structured-skipgram", 1000)])
def test_tables_larger_than_memory_are_refused(trainer, window, monkeypatch):
    monkeypatch.setattr("embeddings.models.table.total_memory", lambda: 2**20)
    with pytest.raises(SettingError, match=r"table of [\d,]+ x 8.* 0\.\d GB"):
        em.train(trainer, synonym_corpus(), dim=8, min_count=1, window=window)


def test_a_truncated_file_ends_the_run_with_a_checkpoint(tmp_path, monkeypatch):
    trainer = em.SkipGram(dim=8, min_count=1, epochs=10)
    checkpoints = em.Checkpoints(tmp_path / "c", every="1h")
    data = prepare(
        trainer,
        em.Corpus([["a", "b", "c"]] * 3000),
        threads=1,
        run_options=em.training.RunOptions(checkpoints=checkpoints),
    )
    np.save(tmp_path / "ids.npy", np.asarray(data.encoded.ids))
    ids = np.load(tmp_path / "ids.npy", mmap_mode="r")
    plan = trainer.plan(data)
    stream = dataclasses.replace(plan.stream, source=plan.stream.source._replace(ids=ids))
    run = Run(data, dataclasses.replace(plan, stream=stream))
    with open(tmp_path / "ids.npy", "r+b") as file:
        file.truncate(ids.offset + ids.nbytes - 4)
    with pytest.raises(FormatError, match=r"ids\.npy was truncated"):
        run.train()
    assert checkpoints.paths()
