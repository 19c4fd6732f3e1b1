"""Blocks: every kept word is a centre once, with its whole window, and no window crosses a line."""

from itertools import pairwise

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_helpers import block_source, fill_all, line_bounds, windows_of, within
from scipy.stats import chisquare

from embeddings.kernels.block import (
    BLOCK_SIZE,
    FILLED,
    FIRST,
    LAST,
    POSITION,
    fill_block,
    is_valid_block,
    keep_thresholds,
    new_block,
    rewind,
)

# A block of window 1 holds at least 6 words, of window 3 at least 14.
LENGTHS = {
    "one line": [100],
    "at the border": [14, 14, 28, 14],
    "one beyond": [15, 13, 15, 29],
    "empty lines": [0, 0, 5, 0, 9, 0, 0, 1, 0],
    "single words": [1] * 40,
    "long and short": [1, 200, 0, 2, 3, 57],
    "a first line of the whole block": [14, 1, 13],
    "nothing but one word": [1],
}


def expected_windows(words, lengths, window, begin=0, end=None):
    """Each word with all words of its line and share up to `window` away, straight from the definition."""
    end, result, line_begin = len(words) if end is None else end, [], 0
    for length in lengths:
        line = [i for i in range(line_begin, line_begin + length) if begin <= i < end]
        line_begin += length
        result += [(words[i], [words[j] for j in line if j != i and abs(i - j) <= window]) for i in line]
    return result


@pytest.mark.parametrize("shares", [2, 3, 7])
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_shares_partition_the_corpus(lengths, shares):
    """A share that begins or ends inside a line cuts its windows there and loses no centre."""
    count = sum(lengths)
    words = np.arange(count)
    text = block_source(words, line_bounds(*lengths), count, window=3, shrink=False)
    result, expected = [], []
    for begin, end in pairwise([count * k // shares for k in range(shares + 1)]):
        if begin < end:
            blocks, _ = fill_all(text, begin, end, 1, 14, 2)
            result += [(centre, contexts) for block in blocks for centre, contexts, _ in block]
            expected += expected_windows(words.tolist(), lengths, 3, begin, end)
    assert result == expected
    assert [centre for centre, _ in result] == list(range(count))


@given(
    lengths=st.lists(st.integers(0, 60), min_size=1, max_size=12),
    window=st.integers(1, 7),
    size=st.integers(1, 80),
    key=st.integers(0, 2**64 - 1),
    shrink=st.booleans(),
    keep=st.sampled_from([1.0, 0.5, 0.05]),
    cut=st.floats(0, 1),
    windows_per_draw=st.sampled_from([1, 2, 8]),
)
def test_blocks_equal_the_twins(lengths, window, size, key, shrink, keep, cut, windows_per_draw):
    """Subsampling, windows and negative samples are equal block for block; some words are out of the vocabulary."""
    count = sum(lengths)
    ids = np.random.default_rng(count).integers(0, 12, count)
    chances = np.where(np.arange(9) == 0, 1.0, keep)
    sampling = {"keep": chances, "shrink": shrink, "weights": np.arange(1.0, 10), "windows_per_draw": windows_per_draw}
    text = block_source(ids, line_bounds(*lengths), 9, window=window, **sampling)
    begin = int(cut * count)
    result, read = fill_all(text, begin, count, key, size, 3)
    assert result == list(naive.blocks(text, begin, count, key, max(size, 4 * window + 2), 3))
    assert read == count - begin


def test_rewind_empties_the_block():
    text = block_source(range(100), line_bounds(100), 100, window=3, shrink=False)
    block, rng = new_block(3, 1, 14), np.array([1, 0], np.uint64)
    rewind(block, text, 0, 100)
    fill_block(block, text, rng)
    rewind(block, text, 50, 60)
    fill_block(block, text, rng)
    assert windows_of(block)[0][:2] == (50, [51, 52, 53])
    assert block.cursor[POSITION] == 60
    assert block.cursor[LAST] == 10


def test_only_what_a_restored_block_holds_is_checked():
    text = block_source(range(10), line_bounds(10), 10, window=3)
    block = new_block(3, 1, 14)
    rewind(block, text, 0, 10)
    fill_block(block, text, np.array([1, 0], np.uint64))
    for array in (block.words, block.start, block.stop, block.noise):
        array[10:] = 1 << 30
        assert is_valid_block(block, text, 0, 10)
        array[9] += 1 << 20
        assert not is_valid_block(block, text, 0, 10)
        array[9] -= 1 << 20


@pytest.mark.parametrize("window", [1, 5, 3000, 10_000])
def test_a_block_holds_at_least_two_windows(window):
    size = len(new_block(window, 5).words)
    assert size >= BLOCK_SIZE
    assert size > 4 * window


def test_keep_thresholds_are_exact():
    """A word is kept if a uniform number is at most the threshold, so with probability (threshold + 1) / 2^32."""
    chances = np.array([1, 0.5, 0.25, 1e-9, 0])
    result = keep_thresholds(chances)
    assert result.dtype == np.uint32
    assert result[0] == 2**32 - 1
    np.testing.assert_allclose((result + 1.0) / 2**32, chances, rtol=0, atol=2**-32)


def test_words_are_kept_with_their_probabilities():
    """A word with probability 1 is never dropped."""
    chances, times = np.array([1, 0.6, 0.1, 0.01, 0.001]), 40_000
    text = block_source(np.tile(np.arange(5), times), line_bounds(5 * times), 5, keep=chances)
    blocks, _ = fill_all(text, 0, 5 * times, 3, 0, 1)
    counts = np.bincount([centre for block in blocks for centre, _, _ in block], minlength=5)
    assert counts[0] == times
    deviation = np.sqrt(times * chances * (1 - chances))
    assert (abs(counts - times * chances) <= 4 * deviation).all()


@pytest.mark.parametrize("window", [2, 5, 10])
def test_window_size_is_uniform_and_symmetric(window):
    count = 30_000
    text = block_source(np.arange(count), line_bounds(count), count, window=window)
    blocks, _ = fill_all(text, 0, count, 5, 500, 1)
    reaches = []
    for centre, contexts, _ in (one for block in blocks for one in block):
        if window <= centre < count - window:
            reach = len(contexts) // 2
            assert contexts == [i for i in range(centre - reach, centre + reach + 1) if i != centre]
            reaches.append(reach)
    counts = np.bincount(reaches, minlength=window + 1)
    assert counts[0] == 0
    assert len(counts) == window + 1
    assert chisquare(counts[1:]).pvalue > 1e-3


def test_negative_samples_follow_the_weights():
    count, weights = 20_000, np.arange(1.0, 21)
    text = block_source(np.zeros(count), line_bounds(count), 20, weights=weights)
    blocks, _ = fill_all(text, 0, count, 6, 500, 5)
    noise = np.bincount([word for block in blocks for *_, words in block for word in words], minlength=20)
    assert noise.sum() == 5 * count
    assert chisquare(noise, weights / weights.sum() * noise.sum()).pvalue > 1e-3


@pytest.mark.parametrize("window", [1, 5])
def test_no_word_meets_the_same_negative_samples_twice(window):
    """Windows that share negative samples do not overlap; each draw serves 8 of them and follows the weights."""
    count, weights = 40_000, np.arange(1.0, 21)
    ids = np.arange(count)
    text = block_source(
        ids, line_bounds(count), count, window=window, weights=np.resize(weights, count), windows_per_draw=8
    )
    ((windows,), _) = fill_all(text, 0, count, 6, count, 2)
    users = {}
    for centre, contexts, noise in windows:
        users.setdefault(tuple(noise), []).append({centre, *contexts})
    served = [len(group) for group in users.values()]
    assert np.median(served) == 8
    for group in users.values():
        words = [word for window_words in group for word in window_words]
        assert len(words) == len(set(words))
    drawn = np.array([word for noise in users for word in noise]) % 20
    assert chisquare(np.bincount(drawn, minlength=20), weights / weights.sum() * len(drawn)).pvalue > 1e-3


KNOWN = 5


def read_all(source, size, max_blocks=1000):
    """The ids read for each block, all centres, and all words that blocks held."""
    block, rng = new_block(2, 1, size), np.array([7, 0], np.uint64)
    rewind(block, source, 0, len(source.ids))
    read, centres, words = [], [], []
    for _ in range(max_blocks):
        read.append(fill_block(block, source, rng))
        first, last = block.cursor[FIRST], block.cursor[LAST]
        if read[-1] == 0 and first == last:
            return read, centres, words
        centres += block.words[first:last].tolist()
        words += block.words[: block.cursor[FILLED]].tolist()
        assert (block.start[first:last] >= 0).all()
        assert (block.stop[first:last] <= block.cursor[FILLED]).all()
        assert (block.start[first:last] <= np.arange(first, last)).all()
        assert (block.stop[first:last] > np.arange(first, last)).all()
    raise AssertionError(f"after {max_blocks} blocks at {block.cursor[POSITION]}, not at the end")


@pytest.mark.parametrize("size", [1, 16, 1000])
@pytest.mark.parametrize("invalid", [-1, -2, -KNOWN, -(2**31), KNOWN, 2**31 - 1])
def test_invalid_ids_are_skipped(size, invalid):
    ids = np.random.default_rng(1).integers(0, KNOWN, 200).astype(np.int32)
    places = np.r_[0, 3:9, 50, 60:100:2, 199]
    ids[places] = invalid
    source = block_source(ids, np.array([0, 70, 200]), KNOWN, window=2, shrink=False)
    read, centres, words = read_all(source, size)
    assert sum(read) == 200
    assert centres == np.delete(ids, places).tolist()
    assert set(words) <= set(range(KNOWN))


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
        [0, 0, 0],
        [5],
        [0, -9, -9, 4],
        [0, 100, 0, 3],
        [0, 199, -3],
    ],
    ids=str,
)
def test_broken_line_bounds_end_nothing_early_and_cause_no_endless_loop(lines, size):
    """The bounds are part of a larger array, whose other numbers are none; what is beyond the last one is one line."""
    ids = np.arange(100, dtype=np.int32) % KNOWN
    source = block_source(ids, within(lines)[0], KNOWN, window=2, shrink=False)
    read, centres, _ = read_all(source, size)
    assert sum(read) == 100
    assert centres == ids.tolist()
