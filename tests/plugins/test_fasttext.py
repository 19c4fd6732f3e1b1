"""fastText: all settings, blocks against twins, gradient steps, a whole run against the twin, and unseen words."""

import naive
import numpy as np
import pytest
from kernel_helpers import (
    BLOCK_TOLERANCE,
    DIM,
    POSITIONS,
    SMALL_VOCABULARY,
    VOCABULARY,
    block_and_tables,
    check_gradients,
    position_and_block,
    positions_of,
    random_rows,
    rows,
    small_table,
    tallying_buffers,
    windows_of,
)
from subword_models import naive_vector

import embeddings as em
from embeddings.errors import FormatError
from embeddings.kernels.block import POSITION, fill_block, rewind
from embeddings.kernels.loss_tally import EXAMPLES, LOSS
from embeddings.kernels.random_numbers import thread_keys
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.kernels.subword_rows import SubwordTables, new_subword_cache
from embeddings.objectives.negative_sampling import NegativeSamples
from embeddings.plugins import fasttext
from embeddings.testing import check_trainer
from embeddings.training.training_data import prepare
from embeddings.vectors.subwords import subwords

BUCKETS = 15
KERNELS = {"skipgram": fasttext.learn_skipgram, "cbow": fasttext.learn_cbow, "weighted": fasttext.learn_weighted_cbow}


@pytest.mark.parametrize(
    "settings",
    [
        {"architecture": "cbow"},
        {"architecture": "cbow", "position_weights": True},
        *(
            pytest.param(settings, marks=pytest.mark.slow)
            for settings in (
                {"max_n": 0},
                {"min_n": 0, "max_n": 2},
                {"buckets": 300},
                {"window": 140, "architecture": "cbow"},
                {"window": 140},
                {"negatives": 20},
                {"negative_sharing": "batch"},
            )
        ),
    ],
    ids=str,
)
def test_contract(settings):
    check_trainer(em.FastText, **settings)


def random_parts(rng, vocabulary, count=None):
    """The n-grams of each word, some shared, some repeated, some none; or `count` of them each."""
    return [rng.integers(0, BUCKETS, k if count is None else count).tolist() for k in rng.integers(0, 6, vocabulary)]


def operands_of(own, ngrams, output, negatives, parts, positions, size=400):
    """What a thread works on."""
    offsets = np.cumsum([0, *map(len, parts)])
    buckets = np.array([b for rows in parts for b in rows], np.int32)
    cache = new_subword_cache(size, len(parts), 1 + max(map(len, parts)), own.shape[1], own.dtype.type)
    subwords = SubwordTables(own, ngrams, offsets, buckets)
    return fasttext.FastTextOperands(subwords, cache, NegativeSamples(output, negatives), positions)


@pytest.mark.parametrize("architecture", KERNELS)
@pytest.mark.parametrize("negatives", [5, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_equal_the_twins(dtype, negatives, architecture):
    """Two blocks, so that the second composes rows from what the first changed."""
    block, words, output = block_and_tables(dtype, negatives)
    rng = np.random.default_rng(2)
    ngrams, positions = (rows(rng, count, DIM, dtype, scale=0.4) for count in (BUCKETS, 10))
    parts = random_parts(rng, VOCABULARY)
    buffers = tallying_buffers(10, 1 + negatives, words.width, dtype, contexts=10, rows=3)
    tables = operands_of(words.table, ngrams.table, output.table, negatives, parts, positions.table)
    twins = {
        "skipgram": lambda t: naive.skipgram(t, output.twin, windows_of(block), 0.05),
        "cbow": lambda t: naive.cbow(t, output.twin, windows_of(block), 0.05),
        "weighted": lambda t: naive.weighted_cbow(t, output.twin, positions.twin, positions_of(block), 0.05),
    }
    tally = np.zeros(2)
    for _ in range(2):
        KERNELS[architecture](block, tables, buffers, 0.05)
        tally += naive.fasttext(words.twin, ngrams.twin, parts, twins[architecture])
        for table in (words, ngrams, output, positions):
            table.check(5 * BLOCK_TOLERANCE[dtype])
        assert (tables.cache.row == -1).all()
    assert buffers.tally[EXAMPLES] == tally[1] > 200
    assert buffers.tally[LOSS] == pytest.approx(tally[0], rel=5 * BLOCK_TOLERANCE[dtype])
    assert (positions.twin == positions.table).all() == (architecture != "weighted")


@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_steps_of_skipgram_are_gradient_steps(position):
    """Each of a word's three parts has a weight of 1/3 in the mean, but gets the whole gradient."""
    rng = np.random.default_rng(4)
    own, output, ngrams = (small_table(rng, count) for count in (SMALL_VOCABULARY, SMALL_VOCABULARY, BUCKETS))
    parts = random_parts(rng, SMALL_VOCABULARY, 2)
    block, _ = position_and_block(*position)
    windows = windows_of(block)
    check_gradients(
        fasttext.learn_skipgram,
        block,
        operands_of(own, ngrams, output, block.noise.shape[1], parts, small_table(rng, 10)),
        new_step_buffers(10, 5, own.shape[1], contexts=10, rows=3, dtype=np.float64),
        lambda: naive.skipgram(naive.compose_rows(own, ngrams, parts), output, windows, 0)[0],
        (own, ngrams, output),
        (3, 3, 1),
    )


@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_steps_of_weighted_cbow_are_gradient_steps(position):
    """Position weights get the exact gradient; contexts, here without n-grams, get theirs times their number."""
    rng = np.random.default_rng(4)
    own, output, positions = (small_table(rng, count) for count in (SMALL_VOCABULARY, SMALL_VOCABULARY, 10))
    own *= 2  # the mean of many contexts has small gradients
    block, twin = position_and_block(*position)
    check_gradients(
        fasttext.learn_weighted_cbow,
        block,
        operands_of(own, small_table(rng, 1), output, block.noise.shape[1], [[]] * SMALL_VOCABULARY, positions),
        new_step_buffers(1, 5, own.shape[1], contexts=10, rows=3, dtype=np.float64),
        lambda: naive.weighted_cbow(own, output, positions, [twin], 0)[0],
        (own, output, positions),
        (twin[3] - twin[2] - 1, 1, 1),
    )


@pytest.mark.parametrize("architecture", ["skipgram", "cbow"])
def test_a_run_equals_the_twins(architecture):
    """Over epochs and blocks of 512 words."""
    rng, dim, seed = np.random.default_rng(1), 6, 3
    words = [f"{'ab' * (i % 3)}{i}" for i in range(40)]
    lines = [[words[i] for i in rng.zipf(1.5, n) % 40] for n in (500, 3, 1, 900, 60)]
    trainer = em.FastText(
        dim=dim,
        min_count=3,
        epochs=2,
        window=3,
        architecture=architecture,
        buckets=25,
        min_n=2,
        max_n=3,
        learning_rate=0.01,
    )
    data = prepare(trainer, em.Corpus(lines), threads=1, seed=seed)
    words = data.vocabulary.words
    offsets, rows = subwords(words, min_n=2, max_n=3, buckets=25)
    parts = [rows[offsets[w] : offsets[w + 1]].tolist() for w in range(len(words))]
    own, ngrams = (
        t.astype(np.float64) for t in (random_rows(len(words), dim, seed), random_rows(25, dim, seed + 2**32))
    )
    output, learn = np.zeros_like(own), naive.skipgram if architecture == "skipgram" else naive.cbow
    stream, total, done = naive.Stream(int(thread_keys(seed, 1)[0])), len(data.encoded.ids), 0
    for _ in range(2):
        for windows, read in blocks_read(data, total, stream):
            rate = trainer.learning_rate_at(done, 2 * total)
            learn_words = lambda t, c=windows, r=rate: learn(t, output, c, r)  # noqa: E731
            naive.fasttext(own, ngrams, parts, learn_words)
            done += read
    model = trainer.train(em.Corpus(lines), threads=1, seed=seed)
    for name, twin in (("words", own), ("ngrams", ngrams), ("output", output)):
        np.testing.assert_allclose(model.tables[name], twin[:, :dim], atol=4e-3)
    np.testing.assert_allclose(model.vectors.matrix, naive.compose_rows(own, ngrams, parts)[:, :dim], atol=4e-3)
    assert abs(model.tables["ngrams"]).max() > 0.3  # initially below 1 / dim


def blocks_read(data, total, stream):
    """The windows of each block of an epoch, and the number of ids read for it."""
    stream_of_blocks = data.trainer.plan(data).stream
    source, block, before = stream_of_blocks.source, stream_of_blocks.new_block(), 0
    rng = np.array([stream.key, stream.counter], np.uint64)
    rewind(block, source, 0, total)
    for windows in naive.blocks(source, 0, total, stream, fasttext.FASTTEXT_BLOCK_SIZE, 5):
        fill_block(block, source, rng)
        yield windows, int(block.cursor[POSITION]) - before
        before = int(block.cursor[POSITION])


@pytest.mark.parametrize("hashes", [1, 2, 3])
def test_words_are_means_of_all_rows_of_their_ngrams(hashes, tmp_path):
    trainer = em.FastText(dim=8, epochs=2, min_count=1, buckets=40, hashes=hashes)
    model = trainer.train([["the", "king", "rules", "the", "land"] * 20], threads=1)
    words = ["the", "king", "rules", "kings", "ruler"]
    for word in words:
        np.testing.assert_allclose(model[word], naive_vector(model, word), atol=1e-5)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(em.load_model(tmp_path / "model").compose(words), model.compose(words))


def test_several_rows_of_an_ngram_are_not_written_as_a_fasttext_file(tmp_path):
    trainer = em.FastText(dim=8, epochs=1, min_count=1, buckets=40, hashes=2)
    model = trainer.train([["the", "king"] * 20], threads=1)
    with pytest.raises(FormatError, match="hashes"):
        model.export(tmp_path / "model.bin", format="fasttext")
    again = trainer.train([["the", "king"] * 20], threads=1, continued=model)
    np.testing.assert_allclose(again["kings"], naive_vector(again, "kings"), atol=1e-5)
    model.settings["hashes"] = 9
    with pytest.raises(FormatError, match="hashes"):
        model.compose(["kings"])
