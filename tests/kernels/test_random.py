"""Random numbers: known values, uniformity, keys that are apart."""

import naive
import numpy as np
import pytest
from compiled import below_each, coin_each
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from embeddings.kernels.random_numbers import random_sequence, thread_keys

# The first outputs of splitmix64 seeded with 1234567, as published with the generator's reference code.
SPLITMIX = [
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
]
CHANCE = 1e-3  # the seeds are fixed: a test below it is wrong, not unlucky


def drawn(seed, n):
    return random_sequence(np.uint64(thread_keys(seed, 1)[0]), n)


def test_known_values():
    """Number i of a key is output i of the reference, which moves its state before it mixes."""
    assert random_sequence(np.uint64(1234567), 6)[1:].tolist() == SPLITMIX
    assert [naive.random(1234567, i) for i in range(1, 6)] == SPLITMIX


@given(key=st.integers(0, 2**64 - 1))
def test_same_as_the_twin_for_any_key(key):
    assert random_sequence(np.uint64(key), 4).tolist() == [naive.random(key, i) for i in range(4)]


@pytest.mark.parametrize("n", [1, 2, 3, 100, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_below_is_uniform(n, seed):
    random = drawn(seed, 100_000)
    out = np.zeros(len(random), np.int64)
    below_each(random, n, out)
    counts = np.bincount(out, minlength=n)
    assert len(counts) == n
    assert n == 1 or chisquare(counts).pvalue > CHANCE


def test_below_reaches_both_ends():
    out = np.zeros(2, np.int64)
    for n in (1, 7, 2**31, 2**32):
        below_each(np.array([0, 2**64 - 1], np.uint64), n, out)
        assert out.tolist() == [0, n - 1]


def test_coin_and_below_come_from_different_halves():
    random, coins, sides = drawn(1, 100_000), np.zeros(100_000, np.int64), np.zeros(100_000, np.int64)
    coin_each(random, coins)
    below_each(random, 16, sides)
    assert coins.min() >= 0
    assert coins.max() < 2**32
    both = np.bincount(sides * 16 + (coins >> 28), minlength=256)
    assert chisquare(both).pvalue > CHANCE


def test_keys_differ_between_seeds_and_threads():
    found = np.concatenate([thread_keys(seed, 64) for seed in range(64)])
    assert len(set(found.tolist())) == 64 * 64
    assert thread_keys(2**63 - 1, 3).dtype == np.uint64


def test_keys_are_those_of_the_seed_again():
    np.testing.assert_array_equal(thread_keys(5, 4), thread_keys(5, 4))


def test_streams_of_two_keys_share_nothing():
    first, second = thread_keys(1, 2)
    assert not set(random_sequence(first, 10_000).tolist()) & set(random_sequence(second, 10_000).tolist())
