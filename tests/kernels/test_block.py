"""Blocks: every kept word is a centre once, with all of its window and nothing across a line."""

from itertools import pairwise

import naive
import numpy as np
import pytest
from compiled import choices, filled, lines_of, source
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from embeddings.kernels.block import LAST, POSITION, BLOCK_SIZE, fill_block, keep_thresholds, new_block, rewind

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
    end, found, line_begin = len(words) if end is None else end, [], 0
    for length in lengths:
        line = [i for i in range(line_begin, line_begin + length) if begin <= i < end]
        line_begin += length
        found += [(words[i], [words[j] for j in line if j != i and abs(i - j) <= window]) for i in line]
    return found


@pytest.mark.parametrize("window", [1, 2, 3, 8])
@pytest.mark.parametrize("size", [1, 14, 15, 16, 33, 1000])
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_every_word_is_a_centre_once_with_all_its_contexts(lengths, size, window):
    """Words are all different here, so that a word says where it stands."""
    count = sum(lengths)
    words = np.random.default_rng(count).permutation(count)
    text = source(words, lines_of(*lengths), count, window=window, shrink=False)
    blocks, read = filled(text, 0, count, 1, size, 2)
    found = [(centre, contexts) for block in blocks for centre, contexts, _ in block]
    assert found == expected_windows(words.tolist(), lengths, window)
    assert read == count


@pytest.mark.parametrize("shares", [2, 3, 7])
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_shares_together_are_the_corpus(lengths, shares):
    """A share that begins or ends within a line cuts its windows there and loses no centre."""
    count = sum(lengths)
    words = np.arange(count)
    text = source(words, lines_of(*lengths), count, window=3, shrink=False)
    found, expected = [], []
    for begin, end in pairwise([count * k // shares for k in range(shares + 1)]):
        if begin < end:
            blocks, _ = filled(text, begin, end, 1, 14, 2)
            found += [(centre, contexts) for block in blocks for centre, contexts, _ in block]
            expected += expected_windows(words.tolist(), lengths, 3, begin, end)
    assert found == expected
    assert [centre for centre, _ in found] == list(range(count))


@settings(deadline=None)
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
def test_blocks_are_those_of_the_twin(lengths, window, size, key, shrink, keep, cut, windows_per_draw):
    """The same coins, windows and noise, block for block; some words are out of the vocabulary."""
    count = sum(lengths)
    ids = np.random.default_rng(count).integers(0, 12, count)
    chances = np.where(np.arange(9) == 0, 1.0, keep)
    more = {"keep": chances, "window": window, "shrink": shrink, "weights": np.arange(1.0, 10), "windows_per_draw": windows_per_draw}
    text = source(ids, lines_of(*lengths), 9, **more)
    begin = int(cut * count)
    found, read = filled(text, begin, count, key, size, 3)
    assert found == list(naive.blocks(text, begin, count, key, max(size, 4 * window + 2), 3))
    assert read == count - begin


def test_words_out_of_the_vocabulary_are_as_if_not_there():
    """Windows reach over them, as in word2vec."""
    text = source([0, 5, 1, 9, 9, 2, 5, 3], lines_of(8), 4, window=1, shrink=False)
    blocks, read = filled(text, 0, 8, 1, 14, 1)
    assert [pair[:2] for pair in blocks[0]] == [(0, [1]), (1, [0, 2]), (2, [1, 3]), (3, [2])]
    assert read == 8


def test_a_share_with_no_known_word_is_read_to_its_end():
    text = source([7] * 50, lines_of(20, 30), 4)
    blocks, read = filled(text, 0, 50, 1, 14, 1)
    assert [pair for block in blocks for pair in block] == []
    assert read == 50


def test_a_new_share_begins_with_nothing_held():
    text = source(range(100), lines_of(100), 100, window=3, shrink=False)
    block, rng = new_block(3, 1, 14), np.array([1, 0], np.uint64)
    rewind(block, text, 0, 100)
    fill_block(block, text, rng)
    rewind(block, text, 50, 60)
    fill_block(block, text, rng)
    assert choices(block)[0][:2] == (50, [51, 52, 53])
    assert block.cursor[POSITION] == 60
    assert block.cursor[LAST] == 10


@pytest.mark.parametrize("window", [1, 5, 3000, 10_000])
def test_a_block_holds_two_windows_at_least(window):
    size = len(new_block(window, 5).words)
    assert size >= BLOCK_SIZE
    assert size > 4 * window


def test_keep_thresholds_are_exact():
    """A coin stays if it is at most the threshold, so a word stays with chance (threshold + 1) / 2^32."""
    chances = np.array([1, 0.5, 0.25, 1e-9, 0])
    found = keep_thresholds(chances)
    assert found.dtype == np.uint32
    assert found[0] == 2**32 - 1
    np.testing.assert_allclose((found + 1.0) / 2**32, chances, rtol=0, atol=2**-32)


def test_keep_rates_follow_the_chances():
    """And a word whose chance is 1 is never dropped."""
    chances, times = np.array([1, 0.6, 0.1, 0.01, 0.001]), 40_000
    text = source(np.tile(np.arange(5), times), lines_of(5 * times), 5, keep=chances)
    blocks, _ = filled(text, 0, 5 * times, 3, 0, 1)
    kept = np.bincount([centre for block in blocks for centre, _, _ in block], minlength=5)
    assert kept[0] == times
    spread = np.sqrt(times * chances * (1 - chances))
    assert (abs(kept - times * chances) <= 4 * spread).all()


@pytest.mark.parametrize("window", [2, 5, 10])
def test_reach_is_uniform_and_the_same_on_both_sides(window):
    count = 30_000
    text = source(np.arange(count), lines_of(count), count, window=window)
    blocks, _ = filled(text, 0, count, 5, 500, 1)
    reaches = []
    for centre, contexts, _ in (found for block in blocks for found in block):
        if window <= centre < count - window:
            reach = len(contexts) // 2
            assert contexts == [i for i in range(centre - reach, centre + reach + 1) if i != centre]
            reaches.append(reach)
    counts = np.bincount(reaches, minlength=window + 1)
    assert counts[0] == 0
    assert len(counts) == window + 1
    assert chisquare(counts[1:]).pvalue > 1e-3


def test_noise_of_blocks_follows_the_weights():
    count, weights = 20_000, np.arange(1.0, 21)
    text = source(np.zeros(count), lines_of(count), 20, weights=weights)
    blocks, _ = filled(text, 0, count, 6, 500, 5)
    noise = np.bincount([word for block in blocks for *_, words in block for word in words], minlength=20)
    assert noise.sum() == 5 * count
    assert chisquare(noise, weights / weights.sum() * noise.sum()).pvalue > 1e-3


@pytest.mark.parametrize("window", [1, 5])
def test_shared_noise_is_met_by_no_word_twice(window):
    """Windows with the same draw lie apart; each draw serves 8 of them, and draws follow the weights."""
    count, weights = 40_000, np.arange(1.0, 21)
    ids = np.arange(count)
    text = source(ids, lines_of(count), count, window=window, weights=np.resize(weights, count), windows_per_draw=8)
    ((found,), _) = filled(text, 0, count, 6, count, 2)
    users = {}
    for centre, contexts, noise in found:
        users.setdefault(tuple(noise), []).append({centre, *contexts})
    served = [len(windows) for windows in users.values()]
    assert np.median(served) == 8
    for windows in users.values():
        words = [word for one in windows for word in one]
        assert len(words) == len(set(words))
    drawn = np.array([word for noise in users for word in noise]) % 20
    assert chisquare(np.bincount(drawn, minlength=20), weights / weights.sum() * len(drawn)).pvalue > 1e-3
