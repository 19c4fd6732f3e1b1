"""Skip-gram with given contexts: blocks against the naive version, weights, objectives, and what is refused."""

from collections import Counter

import naive
import numpy as np
import pytest

import embeddings as em
from embeddings.corpora import ContextFormat
from embeddings.errors import CorpusError, SettingError
from embeddings.kernels.block import FIRST, LAST, POSITION
from embeddings.settings.objectives import WORD_OBJECTIVES
from embeddings.training import GivenContexts
from embeddings.training.training_data import prepare


def thing_pairs(count=600, seed=1):
    """Six groups of three words; the words of a group share their contexts."""
    rng = np.random.default_rng(seed)
    things = rng.integers(6, size=count)
    return [(f"word{n}{rng.integers(3)}", f"dobj/of {n}{rng.integers(4)}") for n in things]


def plan_of(pairs, **settings):
    trainer = GivenContexts(**{"dim": 8, "min_count": 1, **settings})
    data = prepare(trainer, pairs, threads=1, seed=3)
    return trainer.plan(data), data


def read_blocks(plan, chunk, key=5):
    """The windows of each block of a chunk, and the random numbers that were drawn."""
    block, random = plan.stream.new_block(), np.array([key, 0], np.uint64)
    plan.stream.rewind(block, chunk)
    while plan.stream.fill(block, chunk, random):
        centres = range(block.cursor[FIRST], block.cursor[LAST])
        yield block, [(int(block.words[i]), [int(block.inputs[i - 1])], block.noise[i].tolist()) for i in centres]
    assert plan.stream.is_empty(block)
    assert block.cursor[POSITION] == chunk.end


@pytest.mark.parametrize("sharing", ["window", "batch"])
def test_blocks_are_the_pairs_of_the_table_with_random_contexts(sharing):
    pairs = [*thing_pairs(9000), ("rare", "dobj/of 11"), ("word11", "rare")]
    plan, data = plan_of(pairs, shuffle=False, min_count=2, negatives=3, negative_sharing=sharing)
    contexts = plan.tags.to_pylist()
    assert contexts == [
        context for context, n in sorted(Counter(c for _, c in pairs).items(), key=lambda x: (-x[1], x[0])) if n > 1
    ]
    blocks = [windows for _, windows in read_blocks(plan, next(iter(plan.stream.chunks(0, plan.stream.units, None))))]
    assert len(blocks) > 1
    words = data.vocabulary.words
    assert [(words[inputs[0]], contexts[centre]) for block in blocks for centre, inputs, _ in block] == pairs[:9000]
    drawn = naive.Stream(5)
    for block in blocks:
        for i, (_, _, noise) in enumerate(block):
            if sharing == "window" or i % 8 == 0:
                expected = [naive.draw_word(plan.stream.source.noise, drawn.next()) for _ in range(3)]
            assert noise == expected


def test_a_block_equals_that_of_the_naive_version():
    plan, _ = plan_of(thing_pairs(), negatives=4)
    arrays = plan.allocate(3)
    arrays["output"][:] = np.random.default_rng(1).normal(size=arrays["output"].shape).astype(np.float32)
    words, output = arrays["words"].astype(np.float64), arrays["output"].astype(np.float64)
    chunk = next(iter(plan.stream.chunks(0, 600, np.random.default_rng(2))))
    for block, windows in read_blocks(plan, chunk):
        plan.kernel(block, plan.operands(arrays), plan.buffers(), 0.05)
        naive.skipgram(words, output, windows, 0.05)
    np.testing.assert_allclose(arrays["words"], words, atol=1e-5)
    np.testing.assert_allclose(arrays["output"], output, atol=1e-5)
    assert not np.allclose(arrays["output"], plan.allocate(3)["output"])


def test_an_epoch_draws_a_pair_in_proportion_to_its_weight():
    rng = np.random.default_rng(4)
    weights = np.where(rng.random(500) < 0.2, 0, rng.gamma(0.5, size=500))
    pairs = [(f"w{i % 7}", f"c{i}", weight) for i, weight in enumerate(weights.tolist())]
    plan, _ = plan_of(pairs)
    units, contexts = plan.stream.units, plan.tags.to_pylist()
    assert units == np.count_nonzero(weights) == plan.record["pairs"]
    expected = weights * units / weights.sum()
    for order in (None, np.random.default_rng(1), np.random.default_rng(2)):
        if order is None:
            plan, _ = plan_of(pairs, shuffle=False)
        chunk = next(iter(plan.stream.chunks(0, units, order)))
        names = [contexts[chunk.source.contexts[pair]] for pair in chunk.source.order]
        drawn = np.array([names.count(f"c{i}") for i in range(500)])
        assert (np.abs(drawn - expected) < 1).all()
        assert drawn.sum() == units
        assert (names == sorted(names, key=lambda name: int(name[1:]))) == (order is None)


def test_equal_weights_are_no_weights():
    pairs = thing_pairs()
    models = [
        GivenContexts(dim=8, shuffle=False).train(rows, threads=1) for rows in (pairs, [(*pair, 0.3) for pair in pairs])
    ]
    assert models[0].vectors.matrix.tobytes() == models[1].vectors.matrix.tobytes()


FEW = "negative-sampling", "nce", "hierarchical-softmax"  # the kernels of others take long to compile


@pytest.mark.parametrize(
    "name",
    [
        declaration.name if declaration.name in FEW else pytest.param(declaration.name, marks=pytest.mark.slow)
        for declaration in WORD_OBJECTIVES.values()
    ],
)
def test_objectives_learn_words_and_contexts(name, tmp_path):
    model = GivenContexts(objective=name, dim=16, epochs=40).train(thing_pairs(), threads=1)
    model.save(tmp_path / "model")
    model = em.load_model(tmp_path / "model")
    for word in model.vectors.words:
        nearest = {other for other, _ in model.vectors.most_similar(word, top=2)}
        assert {other[:5] for other in nearest} == {word[:5]}
    if not WORD_OBJECTIVES[name].has_word_rows:
        assert "documents" not in model.tables
        return
    assert len(model.documents) == model.record["contexts"] == 24
    best = [context for context, _ in model.documents.most_similar(model.vectors["word30"], top=4)]
    assert sorted(best) == [f"dobj/of 3{k}" for k in range(4)]


@pytest.mark.parametrize(
    ("pairs", "settings", "message"),
    [
        (em.Corpus(["a b", "c d"]), {"min_count": 1}, "requires a Corpus.*ContextFormat"),
        ([("a", "b"), ("a", "c")], {"min_count": 1}, "two words and two contexts"),
        ([("a", "b"), ("c", "b")], {"min_count": 1}, "two words and two contexts"),
        ([("a", "b"), ("a", "c")], {"min_count": 2}, "two contexts in 2 pairs each.*min_count"),
        ([("a", "b", 0), ("c", "d", 0)], {"min_count": 1}, "two words and two contexts"),
    ],
)
def test_pairs_of_which_nothing_can_be_learned(pairs, settings, message):
    with pytest.raises(CorpusError, match=message):
        GivenContexts(dim=4, **settings).train(pairs, threads=1)


def test_models_cannot_be_trained_further():
    model = GivenContexts(dim=4).train(thing_pairs(), threads=1)
    with pytest.raises(SettingError, match=r"given-contexts models cannot be trained further$"):
        em.continue_training(model, em.Corpus(thing_pairs(), pairs=ContextFormat()))


@pytest.mark.parametrize(
    "change", ["words", "inputs", "noise", "start", "stop", (FIRST, -1), (LAST, 1 << 20), (POSITION, 601)]
)
def test_a_restored_block_is_checked(change):
    plan, _ = plan_of(thing_pairs(), negatives=4)
    chunk = next(iter(plan.stream.chunks(0, 600, None)))
    block, _ = next(read_blocks(plan, chunk))
    assert plan.stream.is_valid(block, chunk)
    name, place, value = (change, 3, 1 << 20) if isinstance(change, str) else ("cursor", *change)
    getattr(block, name).flat[place] = value
    assert not plan.stream.is_valid(block, chunk)
