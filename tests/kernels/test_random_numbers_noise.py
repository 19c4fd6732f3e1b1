"""The alias table encodes the weights exactly, and draws follow them."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_draws import draw_words, random_sequence
from scipy.stats import chisquare

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.kernels.random_numbers import alias_table, thread_keys


def probabilities(table):
    """The probability of each word: up to a threshold the word itself is drawn, above it the alias."""
    n, result = len(table), np.zeros(len(table))
    for i, entry in enumerate(table.tolist()):
        threshold, alias = entry % 2**32, entry >> 32
        own = (threshold + 1) / 2**32
        result[i] += own / n
        result[alias] += (1 - own) / n
    return result


WEIGHTS = {
    "one word": [3.0],
    "equal": [1.0] * 7,
    "zipf": 1 / np.arange(1, 5000),
    "extreme": [1e12, 1, 1e-12, 5, 1e6],
    "one dominates": [1e300, *[1e-300] * 50],
    "with zeros": [0.0, 1, 0, 3],
    "rising": np.arange(1.0, 100),
}


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=50))
def test_table_encodes_any_weights(weights):
    result = probabilities(alias_table(np.array(weights)))
    np.testing.assert_allclose(result, np.array(weights) / sum(weights), rtol=0, atol=1e-9)


def test_noise_weights_are_powers_of_counts():
    words = Vocabulary.from_counts({"a": 10000, "b": 81, "c": 16, "d": 1})
    expected = np.array([1000, 27, 8, 1]) / 1036
    np.testing.assert_allclose(words.noise_weights(0.75), expected, rtol=1e-14)
    np.testing.assert_allclose(probabilities(alias_table(words.noise_weights(0.75))), expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_draws_follow_the_weights(seed):
    counts = np.round(1e6 / np.arange(1, 301)).astype(np.int64)
    weights = Vocabulary([str(i) for i in range(300)], counts).noise_weights(0.75)
    drawn = draw_words(alias_table(weights), random_sequence(thread_keys(seed, 1)[0], 100_000))
    assert chisquare(np.bincount(drawn, minlength=300), weights * 100_000).pvalue > 1e-3


def test_draws_equal_the_twins():
    table, bits = alias_table(np.arange(1.0, 50)), random_sequence(np.uint64(3), 2000)
    assert draw_words(table, bits).tolist() == [naive.draw_word(table, int(number)) for number in bits]
