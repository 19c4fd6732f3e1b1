"""fastText: whole blocks on composed rows against twins, steps against slopes of the loss."""

import naive
import numpy as np
import pytest
from compiled import choices, places, rows
from test_gradient import DIM, RATE, assert_gradient
from test_models import TOLERANCE, VOCABULARY, block_and_tables
from test_places import PLACES, bundle_for, float64, place_and_block

from embeddings.kernels.row_operations import TARGETS
from embeddings.kernels.step_buffers import LOSS, PAIRS
from embeddings.kernels.subword_rows import SubwordTables, new_subword_cache
from embeddings.plugins import fasttext

BUCKETS = 15


def made_of(rng, vocabulary, count=None):
    """Lists of n-grams of each word, some shared, some twice, some none; or `count` of them each."""
    return [rng.integers(0, BUCKETS, k if count is None else count).tolist() for k in rng.integers(0, 6, vocabulary)]


def tables(own, ngrams, output, made, architecture, positions, size=400):
    """The tables of a thread."""
    offsets = np.cumsum([0, *map(len, made)])
    flat = np.array([b for rows in made for b in rows], np.int32)
    scratch = new_subword_cache(size, len(made), 1 + max(map(len, made)), own.shape[1], own.dtype.type)
    return fasttext.Tables(SubwordTables(own, ngrams, offsets, flat), scratch, output, positions, architecture)


@pytest.mark.parametrize("architecture", [fasttext.SKIPGRAM, fasttext.CBOW, fasttext.WEIGHTED])
@pytest.mark.parametrize("negatives", [5, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks(dtype, negatives, architecture):
    """Two blocks, so that the second composes from what the first gave back."""
    block, words, output = block_and_tables(dtype, negatives)
    rng = np.random.default_rng(2)
    ngrams, positions = (rows(rng, count, 13, dtype, scale=0.4) for count in (BUCKETS, 10))
    made = made_of(rng, VOCABULARY)
    buffers = bundle_for(10, negatives, words.width, dtype, contexts=10, rows=3)
    given = tables(words.table, ngrams.table, output.table, made, architecture, positions.table)
    twins = {
        fasttext.SKIPGRAM: lambda t: naive.skipgram(t, output.twin, choices(block), 0.05, at_once=TARGETS),
        fasttext.CBOW: lambda t: naive.cbow(t, output.twin, choices(block), 0.05, at_once=TARGETS),
        fasttext.WEIGHTED: lambda t: naive.weighted_cbow(
            t, output.twin, positions.twin, places(block), 0.05, at_once=TARGETS
        ),
    }
    told = np.zeros(2)
    for _ in range(2):
        fasttext.learn_block(block, given, buffers, 0.05)
        told += naive.fasttext(words.twin, ngrams.twin, made, twins[architecture])
        for table in (words, ngrams, output, positions):
            table.check(5 * TOLERANCE[dtype])
        assert (given.own.row == -1).all()
    assert buffers.tally[PAIRS] == told[1] > 200
    assert buffers.tally[LOSS] == pytest.approx(told[0], rel=5 * TOLERANCE[dtype])
    assert (positions.twin == positions.table).all() == (architecture != fasttext.WEIGHTED)


@pytest.mark.parametrize("place", PLACES, ids=["both sides", "right", "repeated"])
def test_steps_are_slopes_of_skipgram_times_the_parts(place):
    """Each part of a word has 1/3 of the mean of three, and is given the whole of its gradient."""
    rng = np.random.default_rng(4)
    own, output, ngrams = float64(rng, 9), float64(rng, 9), float64(rng, BUCKETS)
    made = made_of(rng, 9, 2)
    block, (i, line, start, stop, noise) = place_and_block(*place)
    choice = (line[i], [line[c] for c in range(start, stop) if c != i], noise)

    def lost():
        return naive.skipgram_loss(naive.composed(own, ngrams, made), output, [choice])

    everything, parts = (own, ngrams, output), (3, 3, 1)
    slopes = [naive.slope(lost, table[:, :DIM]) for table in everything]
    before = [table.copy() for table in everything]
    buffers = bundle_for(10, 4, own.shape[1], np.float64, contexts=10, rows=3)
    positions = float64(rng, 10)
    given = tables(own, ngrams, output, made, fasttext.SKIPGRAM, positions)
    fasttext.learn_block(block, given, buffers, RATE)
    for table, old, slope, times in zip(everything, before, slopes, parts, strict=True):
        assert_gradient((table - old) / RATE, slope * times)


@pytest.mark.parametrize("place", PLACES, ids=["both sides", "right", "repeated"])
def test_steps_are_slopes_of_weighted_cbow(place):
    """Position weights take their slope; contexts, made of themselves alone here, theirs times their number."""
    rng = np.random.default_rng(4)
    own, output, positions = float64(rng, 9), float64(rng, 9), float64(rng, 10)
    own *= 2  # the mean of ten contexts has small slopes
    block, twin = place_and_block(*place)
    contexts = twin[3] - twin[2] - 1

    def lost():
        return naive.weighted_cbow_loss(own, output, positions, [twin])

    everything, times = (own, output, positions), (contexts, 1, 1)
    slopes = [naive.slope(lost, table[:, :DIM]) for table in everything]
    before = [table.copy() for table in everything]
    buffers = bundle_for(1, 4, own.shape[1], np.float64, contexts=10, rows=3)
    given = tables(own, float64(rng, 1), output, [[]] * 9, fasttext.WEIGHTED, positions)
    fasttext.learn_block(block, given, buffers, RATE)
    for table, old, slope, number in zip(everything, before, slopes, times, strict=True):
        assert_gradient((table - old) / RATE, slope * number)
