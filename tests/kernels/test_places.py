"""Structured skip-gram and continuous window: whole blocks against their twins, steps against slopes of the loss."""

import naive
import numpy as np
import pytest
from compiled import places, rows
from test_gradient import DIM, RATE, VOCABULARY, assert_gradient
from test_models import TOLERANCE, block_and_tables

from embeddings.kernels.block import FIRST, FILLED, LAST, new_block
from embeddings.kernels.row_operations import TARGETS, padded
from embeddings.kernels.step_buffers import LOSS, UNTIL_SAMPLE, PAIRS, aligned_zeros, new_step_buffers
from embeddings.kernels.window_batch import new_window_buffers
from embeddings.plugins import continuous_window, structured_skipgram

EACH = np.array([[at, at] for at in (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5)])
SIDES = np.array([[-5, -1], [1, 5]])
WIDE = 13  # components


def bundle_for(inputs, negatives, width, dtype, **more):
    """A bundle that tallies every window."""
    made = new_step_buffers(inputs, 1 + negatives, width, dtype=dtype, **more)
    made.tally[UNTIL_SAMPLE] = -1e9
    return made


def wide(rng, slots, dtype):
    """A table of 20 words with a row for each slot, and its twin (20, slots, dim)."""
    output = rows(rng, 20 * slots, WIDE, dtype, scale=0.4)
    return output, output.twin.reshape(20, slots, -1)


@pytest.mark.parametrize("negatives", [1, 5, 20])
@pytest.mark.parametrize("reach", [EACH, SIDES], ids=["each", "sides"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_structured(dtype, reach, negatives):
    block, words, _ = block_and_tables(dtype, negatives)
    output, twin = wide(np.random.default_rng(1), len(reach), dtype)
    buffers = bundle_for(5, negatives, words.width, dtype)
    structured_skipgram.learn_block(block, structured_skipgram.Tables(words.table, output.table, reach), buffers, 0.05)
    lost, pairs = naive.structured(words.twin, twin, places(block), reach, 0.05, at_once=TARGETS)
    words.check(TOLERANCE[dtype])
    output.check(TOLERANCE[dtype])
    assert buffers.tally[PAIRS] == pairs > 500
    assert buffers.tally[LOSS] == pytest.approx(lost, rel=TOLERANCE[dtype])


@pytest.mark.parametrize("windows_per_draw", [1, 8])
@pytest.mark.parametrize("negatives", [1, 5, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_continuous_window(dtype, negatives, windows_per_draw):
    block, words, _ = block_and_tables(dtype, negatives, windows_per_draw=windows_per_draw)
    output, twin = wide(np.random.default_rng(1), 10, dtype)
    table, twin = output.table.reshape(20, -1), twin.reshape(20, -1)
    buffers = new_window_buffers(windows_per_draw, negatives, words.width, slots=10, dtype=dtype)
    buffers.tally[UNTIL_SAMPLE] = -1e9
    continuous_window.learn_block(block, continuous_window.Tables(words.table, table, 5, windows_per_draw), buffers, 0.05)
    how = {"windows_per_draw": windows_per_draw, "at_once": TARGETS}
    lost, pairs = naive.continuous_window(words.twin, twin, places(block), 5, 0.05, **how)
    words.check(TOLERANCE[dtype])
    output.check(TOLERANCE[dtype])
    assert buffers.tally[PAIRS] == pairs > 100
    assert buffers.tally[LOSS] == pytest.approx(lost, rel=TOLERANCE[dtype])


def place_and_block(line, i, start, stop, noise):
    """One centre of a line, for a kernel and for its twin."""
    block = new_block(len(line), len(noise))
    block.words[: len(line)] = line
    block.start[i], block.stop[i], block.noise[i] = start, stop, noise
    block.cursor[FIRST], block.cursor[LAST], block.cursor[FILLED] = i, i + 1, len(line)
    return block, (i, line, start, stop, noise)


# A context that is the centre, a doubled one, one that is noise; noise that is the centre, and noise twice.
PLACES = [
    ([1, 2, 2, 3, 5, 3, 4, 4, 0, 6, 8], 5, 0, 11, [1, 3, 3, 7]),
    ([4, 0, 1], 0, 0, 3, [4, 8, 8, 1]),
    ([8, 8, 6, 8], 2, 0, 4, [0, 2, 6, 8]),
]


def float64(rng, count):
    """A table of rows padded with zeros."""
    table = aligned_zeros(count, padded(DIM), np.float64)
    table[:, :DIM] = rng.normal(size=(count, DIM)) * 0.7
    return table


@pytest.mark.parametrize("place", PLACES, ids=["both sides", "right", "repeated"])
@pytest.mark.parametrize("reach", [EACH, SIDES], ids=["each", "sides"])
def test_structured_steps_are_slopes(reach, place):
    rng, slots = np.random.default_rng(3), len(reach)
    words, output = float64(rng, VOCABULARY), float64(rng, VOCABULARY * slots)
    before, deep = (words.copy(), output.copy()), output.reshape(VOCABULARY, slots, -1)
    block, twin = place_and_block(*place)
    slopes = [
        naive.slope(lambda: naive.structured_loss(words, deep, [twin], reach), t[:, :DIM]) for t in (words, output)
    ]
    buffers = new_step_buffers(5, 5, words.shape[1], dtype=np.float64)
    structured_skipgram.learn_block(block, structured_skipgram.Tables(words, output, reach), buffers, RATE)
    for table, old, slope in zip((words, output), before, slopes, strict=True):
        assert_gradient((table - old) / RATE, slope)


@pytest.mark.parametrize("place", PLACES, ids=["both sides", "right", "repeated"])
def test_continuous_window_steps_are_slopes(place):
    rng = np.random.default_rng(3)
    words, output = float64(rng, VOCABULARY), float64(rng, VOCABULARY * 10)
    before, whole = (words.copy(), output.copy()), output.reshape(VOCABULARY, -1)
    block, twin = place_and_block(*place)

    def lost():
        return naive.continuous_window_loss(words, whole, [twin], 5)

    slopes = [naive.slope(lost, table[:, :DIM]) for table in (words, output)]
    buffers = new_window_buffers(1, 4, words.shape[1], slots=10, dtype=np.float64)
    continuous_window.learn_block(block, continuous_window.Tables(words, whole, 5, 1), buffers, RATE)
    for table, old, slope in zip((words, output), before, slopes, strict=True):
        assert_gradient((table - old) / RATE, slope)


def test_a_neighbour_left_and_one_right_are_told_apart():
    """After training on 'a x' and 'x b', x is scored high before b's slot and low in a's."""
    import embeddings as em

    text = [["a", "x", "b"]] * 400
    for name in ("structured-skipgram", "directional-skipgram"):
        model = em.train(name, text, dim=8, min_count=1, subsample=0, window=1, epochs=20, learning_rate=0.1, threads=1, seed=1)
        at = {word: i for i, word in enumerate(model.vocabulary.words)}
        output = model.tables["output"]
        assert output.shape == (3, 2, 8)
        left, right = (model.vectors["a"] @ output[at["x"], slot] for slot in (0, 1))
        assert left > right + 1
        left, right = (model.vectors["b"] @ output[at["x"], slot] for slot in (0, 1))
        assert right > left + 1


@pytest.mark.parametrize("first", [0, 1, 2])
@pytest.mark.parametrize("windows_per_draw", [1, 8])
def test_windows_that_are_tallied_are_tallied_whole(windows_per_draw, first):
    """Outputs of zeros say nothing: each pair costs log 2, that of the centre and those of its noise words."""
    block, words, _ = block_and_tables(np.float64, 5, windows_per_draw=windows_per_draw)
    buffers = new_window_buffers(windows_per_draw, 5, words.width, slots=10, dtype=np.float64)
    buffers.tally[UNTIL_SAMPLE] = first
    output = aligned_zeros(20, 10 * words.width, np.float64)
    continuous_window.learn_block(block, continuous_window.Tables(words.table, output, 5, windows_per_draw), buffers, 0.0)
    noise = np.mean([(row != word).sum() for row, word in zip(block.noise, block.words, strict=True)])
    assert buffers.tally[PAIRS] >= windows_per_draw
    assert buffers.tally[LOSS] / buffers.tally[PAIRS] == pytest.approx((1 + noise) * np.log(2), rel=0.2)
