"""Each step in float64 is minus the slope of the loss, found by central differences, times the rate."""

import naive
import numpy as np
import pytest
from compiled import learn_bundle, rows

from embeddings.kernels.block import END, FIRST, LAST, new_block
from embeddings.kernels.row_operations import padded
from embeddings.kernels.step_buffers import aligned_zeros, new_step_buffers
from embeddings.plugins import cbow, skipgram

RATE = 1e-7  # with rows that repeat, a step departs from the slope in proportion to the rate
DIM, NEGATIVES, VOCABULARY = 5, 4, 9

# A doubled context, one that is the centre, one that is noise; noise that is the centre, and noise twice.
WINDOWS = [
    (3, [1, 2, 2, 3, 5], [1, 3, 3, 7]),
    (0, [4], [4, 8, 8, 1]),
    (6, [8, 8, 8, 0, 1, 2, 5], [0, 2, 6, 8]),
]


def tables(seed):
    """Vectors and outputs in float64, rows padded with zeros."""
    rng, made = np.random.default_rng(seed), []
    for _ in range(2):
        table = aligned_zeros(VOCABULARY, padded(DIM), np.float64)
        table[:, :DIM] = rng.normal(size=(VOCABULARY, DIM)) * 0.7
        made.append(table)
    return made


def block_of(windows):
    """A block that holds these windows, each laid out as a line of its own: contexts around the centre."""
    blocks = []
    for centre, contexts, noise in windows:
        block, at = new_block(len(contexts), NEGATIVES), len(contexts) // 2
        line = [*contexts[:at], centre, *contexts[at:]]
        block.words[: len(line)] = line
        block.start[at], block.stop[at], block.noise[at] = 0, len(line), noise
        block.cursor[FIRST], block.cursor[LAST], block.cursor[END] = at, at + 1, len(line)
        blocks.append(block)
    return blocks


def steps(learn_block, made, words, output, windows=WINDOWS, negatives=NEGATIVES):
    """What a model's kernel adds to both tables over a rate, from the same tables for every window."""
    added = np.zeros_like(words), np.zeros_like(output)
    for block in block_of(windows):
        before = words.copy(), output.copy()
        width = words.shape[1]
        buffers = new_step_buffers(10, 1 + negatives, width, contexts=10, rows=2, dtype=np.float64)
        learn_block(block, made(words, output), buffers, RATE)
        for total, table, old in zip(added, (words, output), before, strict=True):
            total += (table - old) / RATE
            table[:] = old
    return added


def assert_gradient(found, slope):
    """Equal to a millionth of the largest number."""
    np.testing.assert_allclose(found[:, :DIM], -slope[:, :DIM], rtol=0, atol=1e-6 * abs(slope).max())
    assert (found[:, DIM:] == 0).all()
    assert abs(slope).max() > 0.1


@pytest.mark.parametrize("seed", range(3))
def test_skipgram(seed):
    words, output = tables(seed)
    found = steps(skipgram.learn_block, skipgram.Tables, words, output)
    for table, added in zip((words, output), found, strict=True):
        slope = naive.slope(lambda: naive.skipgram_loss(words, output, WINDOWS), table[:, :DIM])
        assert_gradient(added, slope)


@pytest.mark.parametrize("seed", range(3))
def test_skipgram_by_pairs(seed):
    """Three windows of one context: a pair is then all there is in a block, with half of the noise words."""
    windows = [(3, [3], [1, 3, 3, 7]), (0, [4], [8, 8, 1, 1]), (6, [2], [6, 2, 0, 0])]
    words, output = tables(seed)
    found = steps(skipgram.learn_pairs, skipgram.Tables, words, output, windows, negatives=2)
    pairs = naive.pairs_of(windows, 2)
    for table, added in zip((words, output), found, strict=True):
        slope = naive.slope(lambda: naive.skipgram_loss(words, output, pairs), table[:, :DIM])
        assert_gradient(added, slope)


@pytest.mark.parametrize("mean", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_cbow_with_the_exact_gradient(mean, seed):
    words, output = tables(seed)
    found = steps(cbow.learn_block, lambda w, o: cbow.Tables(w, o, mean, True), words, output)
    for table, added in zip((words, output), found, strict=True):
        slope = naive.slope(lambda: naive.cbow_loss(words, output, WINDOWS, mean=mean), table[:, :DIM])
        assert_gradient(added, slope)


def test_cbow_undivided_is_the_exact_context_gradient_times_the_contexts():
    words, output = tables(1)
    for window in WINDOWS:
        moved = {}
        for exact in (True, False):
            w, o = words.copy(), output.copy()
            buffers = new_step_buffers(1, 1 + NEGATIVES, w.shape[1], contexts=10, rows=2, dtype=np.float64)
            cbow.learn_block(block_of([window])[0], cbow.Tables(w, o, True, exact), buffers, 0.1)
            moved[exact] = w - words, o - output
        np.testing.assert_allclose(moved[False][0], len(window[1]) * moved[True][0], atol=1e-14)
        np.testing.assert_array_equal(moved[False][1], moved[True][1])
        assert abs(moved[True][0]).max() > 1e-3


def test_cbow_sum_is_the_same_exact_or_not():
    after = []
    for exact in (True, False):
        words, output = tables(2)
        buffers = new_step_buffers(1, 1 + NEGATIVES, words.shape[1], contexts=10, rows=2, dtype=np.float64)
        cbow.learn_block(block_of(WINDOWS)[0], cbow.Tables(words, output, False, exact), buffers, 0.1)
        after.append(words)
    np.testing.assert_array_equal(*after)


@pytest.mark.parametrize("n", [1, 5, 23])
@pytest.mark.parametrize("m", [1, 2, 7])
def test_bundle(m, n):
    """Any number of positives and weights, repeated rows on both sides, one pass or several."""
    rng = np.random.default_rng(10 * m + n)
    positives, weights = min(n, 2), rng.choice([0.5, 1, 2], n)
    x = rows(rng, m, DIM, np.float64, among=max(1, m - 1), scale=0.7)
    o = rows(rng, n, DIM, np.float64, among=max(1, n - 2), scale=0.7)
    buffers = new_step_buffers(m, n, x.width, dtype=np.float64)
    buffers.inputs[:] = buffers.input_gradient_rows[:] = x.at
    buffers.targets[:], buffers.weights[:] = o.at, weights
    learn_bundle(buffers, m, positives, n, x.width, RATE)

    def lost():
        return naive.loss_of(naive.score(x.views, o.views), positives, weights)

    for side in (x, o):
        slope = naive.slope(lost, side.twin[:, :DIM])
        assert_gradient((side.table - side.twin) / RATE, slope)
