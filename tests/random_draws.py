"""Many random numbers and draws at a time, by compiled entry points."""

import numpy as np

from embeddings.compilation.jit import allocating_entry_point
from embeddings.kernels.random_numbers import draw_word, random_bits, uniform_below, uniform_uint32


@allocating_entry_point
def random_sequence(key, n):
    """The first n random numbers of a key, uint64 (n,)."""
    drawn = np.empty(n, np.uint64)
    for i in range(n):
        drawn[i] = random_bits(key, np.uint64(i))
    return drawn


@allocating_entry_point
def draw_words(table, bits):
    """A word for each of `bits`, int64, same shape."""
    drawn = np.empty(bits.shape[0], np.int64)
    for i in range(bits.shape[0]):
        drawn[i] = draw_word(table, bits[i])
    return drawn


@allocating_entry_point
def uniform_below_each(bits, n, out):
    for i in range(bits.shape[0]):
        out[i] = uniform_below(bits[i], n)


@allocating_entry_point
def uniform_uint32_each(bits, out):
    for i in range(bits.shape[0]):
        out[i] = uniform_uint32(bits[i])
