"""Whole blocks of skip-gram and CBOW against their twins, the same choices given to both."""

import naive
import numpy as np
import pytest
from compiled import choices, lines_of, rows, source

from embeddings.kernels.block import fill_block, new_block, rewind
from embeddings.kernels.row_operations import TARGETS
from embeddings.kernels.step_buffers import LOSS, UNTIL_SAMPLE, PAIRS, new_step_buffers
from embeddings.plugins import cbow, skipgram

VOCABULARY, TOLERANCE = 20, {np.float32: 1e-3, np.float64: 1e-11}


def block_and_tables(dtype, negatives, dim=13, **more):
    """A block of lines of all lengths over few words, so that rows repeat everywhere; two tables."""
    rng = np.random.default_rng(negatives)
    ids, lines = rng.integers(0, VOCABULARY, 300), lines_of(40, 1, 0, 2, 100, 157)
    text = source(ids, lines, VOCABULARY, keep=np.linspace(0.5, 1, VOCABULARY), weights=np.arange(1.0, 21), **more)
    block = new_block(5, negatives, 200)
    rewind(block, text, 0, 300)
    fill_block(block, text, np.array([7, 0], np.uint64))
    words, output = (rows(rng, VOCABULARY, dim, dtype, scale=0.4) for _ in range(2))
    return block, words, output


def bundle_for(inputs, negatives, words):
    """A bundle that tallies every window."""
    made = new_step_buffers(inputs, 1 + negatives, words.width, contexts=10, rows=2, dtype=words.table.dtype)
    made.tally[UNTIL_SAMPLE] = -1e9
    return made


@pytest.mark.parametrize("negatives", [1, 5, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_skipgram(dtype, negatives):
    block, words, output = block_and_tables(dtype, negatives)
    buffers = bundle_for(10, negatives, words)
    skipgram.learn_block(block, skipgram.Tables(words.table, output.table), buffers, 0.05)
    lost, pairs = naive.skipgram(words.twin, output.twin, choices(block), 0.05, at_once=TARGETS)
    words.check(TOLERANCE[dtype])
    output.check(TOLERANCE[dtype])
    assert buffers.tally[PAIRS] == pairs > 500
    assert buffers.tally[LOSS] == pytest.approx(lost, rel=1e-4)


@pytest.mark.parametrize("negatives", [1, 5, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_skipgram_by_pairs(dtype, negatives):
    """Every pair has noise words of its own and is a step of its own."""
    block, words, output = block_and_tables(dtype, 10 * negatives)
    buffers = bundle_for(1, negatives, words)
    skipgram.learn_pairs(block, skipgram.Tables(words.table, output.table), buffers, 0.05)
    windows = naive.pairs_of(choices(block), negatives)
    lost, pairs = naive.skipgram(words.twin, output.twin, windows, 0.05, at_once=TARGETS)
    words.check(TOLERANCE[dtype])
    output.check(TOLERANCE[dtype])
    assert buffers.tally[PAIRS] == pairs > 500
    assert buffers.tally[LOSS] == pytest.approx(lost, rel=1e-4)


@pytest.mark.parametrize("negatives", [1, 5, 20])
@pytest.mark.parametrize(("mean", "exact"), [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cbow(dtype, mean, exact, negatives):
    block, words, output = block_and_tables(dtype, negatives)
    buffers = bundle_for(1, negatives, words)
    cbow.learn_block(block, cbow.Tables(words.table, output.table, mean, exact), buffers, 0.05)
    given = {"mean": mean, "exact": exact, "at_once": TARGETS}
    lost, pairs = naive.cbow(words.twin, output.twin, choices(block), 0.05, **given)
    words.check(TOLERANCE[dtype])
    output.check(TOLERANCE[dtype])
    assert buffers.tally[PAIRS] == pairs > 100
    assert buffers.tally[LOSS] == pytest.approx(lost, rel=1e-4)


def test_one_window_in_64_is_tallied():
    """From the one that `NEXT` says: so the sampled loss is that of every 64th window of the twin."""
    block, words, output = block_and_tables(np.float64, 5)
    buffers = new_step_buffers(10, 6, words.width, dtype=np.float64)
    buffers.tally[UNTIL_SAMPLE] = 17
    skipgram.learn_block(block, skipgram.Tables(words.table, output.table), buffers, 0.05)
    lost = pairs = at = 0
    for choice in choices(block):
        if choice[1]:
            one, m = naive.skipgram(words.twin, output.twin, [choice], 0.05, at_once=TARGETS)
            lost, pairs = (lost + one, pairs + m) if at % 64 == 17 else (lost, pairs)
            at += 1
    assert buffers.tally[PAIRS] == pairs > 10
    assert buffers.tally[LOSS] == pytest.approx(lost, rel=1e-10)
