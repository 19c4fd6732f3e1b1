"""The minimum and maximum of integers, and their one bits."""

import numpy as np
import pytest

from embeddings.compilation.jit import entry_point
from embeddings.kernels.integers import larger, popcount, smaller


@entry_point
def both(a, b):
    return smaller(a, b), larger(a, b)


@entry_point
def count_ones(word):
    return popcount(word)


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_they_are_those_of_python(dtype):
    limits = np.iinfo(dtype)
    for a, b in [(1, 2), (2, 1), (-1, 1), (3, 3), (int(limits.min), int(limits.max))]:
        assert both(dtype(a), b) == (min(a, b), max(a, b))


def test_one_bits_are_counted():
    for word in (0, 1, 2**63, 2**64 - 1, 0b1011):
        assert count_ones(np.uint64(word)) == word.bit_count()
