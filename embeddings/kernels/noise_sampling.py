"""Noise words drawn in proportion to weights by the alias method (Walker 1977; Vose 1991): one look-up a draw."""

import numpy as np

from embeddings.kernels.jit import kernel, piece
from embeddings.kernels.random_numbers import MOST, below, coin


def alias_table(weights: np.ndarray) -> np.ndarray:
    """The table that `pick` draws from, uint32 (vocabulary, 2): a threshold, and the word taken above it.

    Word i is drawn with probability weights[i] / sum, exact to 2^-32.
    """
    share = np.asarray(weights, np.float64) * (len(weights) / np.sum(weights))
    table = np.empty((len(share), 2), np.uint32)
    pair_up(share, table)
    return table


@kernel
def pair_up(share: np.ndarray, table: np.ndarray) -> None:
    """Give each column of height 1 what is left of one word and the surplus of another; `share` is used up."""
    n = share.shape[0]
    small, large = np.empty(n, np.int64), np.empty(n, np.int64)
    less, more = 0, 0
    for i in range(n):
        table[i, 0], table[i, 1] = MOST, i
        if share[i] < 1:
            small[less] = i
            less += 1
        else:
            large[more] = i
            more += 1
    while less > 0 and more > 0:
        less -= 1
        i, j = small[less], large[more - 1]
        table[i, 0], table[i, 1] = np.int64(share[i] * MOST + 0.5), j
        share[j] -= 1 - share[i]
        if share[j] < 1:
            more -= 1
            small[less] = j
            less += 1


@piece
def pick(table: np.ndarray, bits: np.uint64) -> np.int64:
    """A word from 64 random bits."""
    i = below(bits, table.shape[0])
    return i if coin(bits) <= table[i, 0] else np.int64(table[i, 1])


@kernel
def picks(table: np.ndarray, bits: np.ndarray) -> np.ndarray:
    """A word for each 64 random bits, int64, as `bits`."""
    drawn = np.empty(bits.shape[0], np.int64)
    for i in range(bits.shape[0]):
        drawn[i] = pick(table, bits[i])
    return drawn


def noise_words(negatives: int) -> int:
    """Noise words that are drawn for each positive where one stands for two at most; they weigh the more."""
    return (negatives + 1) // 2
