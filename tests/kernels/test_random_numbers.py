"""Random numbers: known values, uniformity, independent keys; tables of noise encode weights, and draws follow them."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_draws import draw_words, random_sequence, uniform_below_each, uniform_uint32_each
from scipy.stats import chisquare

from embeddings.kernels.random_numbers import alias_table, thread_keys

# The first outputs of splitmix64 seeded with 1234567, as published with the reference code.
SPLITMIX = [
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
]
SIGNIFICANCE = 1e-3  # seeds are fixed, so a smaller p-value is a bug, not bad luck


def draw(seed, n):
    return random_sequence(np.uint64(thread_keys(seed, 1)[0]), n)


def test_known_values():
    """Number i of a key is output i of the reference code, which advances its state first."""
    assert random_sequence(np.uint64(1234567), 6)[1:].tolist() == SPLITMIX
    assert [naive.random_bits(1234567, i) for i in range(1, 6)] == SPLITMIX


@given(key=st.integers(0, 2**64 - 1))
def test_numbers_of_any_key_equal_the_twins(key):
    assert random_sequence(np.uint64(key), 4).tolist() == [naive.random_bits(key, i) for i in range(4)]


@pytest.mark.parametrize("n", [1, 2, 3, 100, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_uniform_below_is_uniform(n, seed):
    bits = draw(seed, 100_000)
    out = np.zeros(len(bits), np.int64)
    uniform_below_each(bits, n, out)
    counts = np.bincount(out, minlength=n)
    assert len(counts) == n
    assert n == 1 or chisquare(counts).pvalue > SIGNIFICANCE


def test_uniform_below_reaches_both_ends():
    out = np.zeros(2, np.int64)
    for n in (1, 7, 2**31, 2**32):
        uniform_below_each(np.array([0, 2**64 - 1], np.uint64), n, out)
        assert out.tolist() == [0, n - 1]


def test_the_two_uniform_numbers_of_the_same_bits_are_independent():
    bits, low, high = draw(1, 100_000), np.zeros(100_000, np.int64), np.zeros(100_000, np.int64)
    uniform_uint32_each(bits, low)
    uniform_below_each(bits, 16, high)
    assert low.min() >= 0
    assert low.max() < 2**32
    joint = np.bincount(high * 16 + (low >> 28), minlength=256)
    assert chisquare(joint).pvalue > SIGNIFICANCE


def test_keys_differ_between_seeds_and_threads():
    keys = np.concatenate([thread_keys(seed, 64) for seed in range(64)])
    assert len(set(keys.tolist())) == 64 * 64
    assert thread_keys(2**63 - 1, 3).dtype == np.uint64


def probabilities(table):
    """The probability of each word: up to a threshold the word itself is drawn, above it the alias."""
    n, result = len(table), np.zeros(len(table))
    for i, entry in enumerate(table.tolist()):
        threshold, alias = entry % 2**32, entry >> 32
        own = (threshold + 1) / 2**32
        result[i] += own / n
        result[alias] += (1 - own) / n
    return result


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=50))
def test_table_encodes_any_weights(weights):
    result = probabilities(alias_table(np.array(weights)))
    np.testing.assert_allclose(result, np.array(weights) / sum(weights), rtol=0, atol=1e-9)


def test_draws_equal_the_twins():
    table, bits = alias_table(np.arange(1.0, 50)), random_sequence(np.uint64(3), 2000)
    assert draw_words(table, bits).tolist() == [naive.draw_word(table, int(number)) for number in bits]
