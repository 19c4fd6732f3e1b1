"""Encoded corpora that are broken: a block is filled with known words only, and filling ends."""

import numpy as np
import pytest
from compiled import source

from embeddings.kernels.block import FIRST, FILLED, LAST, POSITION, fill_block, new_block, rewind

KNOWN = 5


def read_all(text, size, most=1000):
    """Words of the corpus read at each filling, the centres, and all words and contexts that blocks held."""
    block, rng = new_block(2, 1, size), np.array([7, 0], np.uint64)
    rewind(block, text, 0, len(text.ids))
    read, centres, held = [], [], []
    for _ in range(most):
        read.append(fill_block(block, text, rng))
        first, last = block.cursor[FIRST], block.cursor[LAST]
        if read[-1] == 0 and first == last:
            return read, centres, held
        centres += block.words[first:last].tolist()
        held += block.words[: block.cursor[FILLED]].tolist()
        assert (block.start[first:last] >= 0).all()
        assert (block.stop[first:last] <= block.cursor[FILLED]).all()
        assert (block.start[first:last] <= np.arange(first, last)).all()
        assert (block.stop[first:last] > np.arange(first, last)).all()
    raise AssertionError(f"not at the end after {most} fillings, but at {block.place[POSITION]}")


@pytest.mark.parametrize("size", [1, 16, 1000])
@pytest.mark.parametrize("wrong", [-1, -2, -KNOWN, -(2**31), KNOWN, 2**31 - 1])
def test_ids_that_no_word_has_are_passed_over(size, wrong):
    ids = np.random.default_rng(1).integers(0, KNOWN, 200).astype(np.int32)
    places = np.r_[0, 3:9, 50, 60:100:2, 199]
    ids[places] = wrong
    text = source(ids, np.array([0, 70, 200]), KNOWN, window=2, shrink=False)
    read, centres, held = read_all(text, size)
    assert sum(read) == 200
    assert centres == np.delete(ids, places).tolist()
    assert set(held) <= set(range(KNOWN))


def test_nothing_but_broken_ids_gives_no_word():
    text = source(np.full(100, -3, np.int32), np.array([0, 100]), KNOWN, window=2, shrink=True)
    read, centres, _ = read_all(text, 16)
    assert (sum(read), centres) == (100, [])


@pytest.mark.parametrize("size", [1, 16, 1000])
@pytest.mark.parametrize(
    "lines",
    [
        [0, 50, 20, 100],
        [0, 99, 1, 99, 1, 100],
        [0, -5, 100],
        [0, 30, 30, 29, 0, 60, 100],
        [0, 10, -(2**40), 40, 2**40],
        [100, 0, 100],
    ],
    ids=str,
)
def test_borders_that_fall_do_not_stop_the_clock(lines, size):
    ids = np.arange(100, dtype=np.int32) % KNOWN
    text = source(ids, np.array(lines), KNOWN, window=2, shrink=False)
    read, centres, _ = read_all(text, size)
    assert sum(read) == 100
    assert centres == ids.tolist()
