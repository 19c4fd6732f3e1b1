"""Counter-based random numbers, splitmix64 (Steele, Lea and Flood 2014), and samples from the noise distribution.

The i-th number of a key is a hash of key + i: draws do not depend on each other, and any of them can be repeated from
the key. Uniform numbers are exact to 2^-32.
"""

from typing import Any

import numpy as np

from embeddings.compilation.jit import entry_point, inline

GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
UINT32_MAX = 2**32 - 1
LOW_MASK = np.uint64(UINT32_MAX)


@inline
def random_bits(key: np.uint64, counter: np.uint64) -> np.uint64:
    """64 random bits."""
    z = key + counter * GAMMA
    z = (z ^ (z >> np.uint64(30))) * MIX_1
    z = (z ^ (z >> np.uint64(27))) * MIX_2
    return z ^ (z >> np.uint64(31))


@inline
def uniform_below(bits: np.uint64, n: int) -> Any:
    """A uniform integer in [0, n), n up to 2^32, from the upper half of 64 random bits."""
    # The upper half times n, shifted: no division, and a bias below n / 2^32.
    return np.int64(((bits >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@inline
def uniform_uint32(bits: np.uint64) -> np.int64:
    """A uniform integer in [0, 2^32), from the lower half of 64 random bits."""
    return np.int64(bits & LOW_MASK)


def thread_keys(seed: int, threads: int) -> np.ndarray:
    """An independent key for each thread, uint64 (threads,)."""
    keys: np.ndarray = np.random.SeedSequence(seed).generate_state(threads, np.uint64)
    return keys


def alias_table(weights: np.ndarray) -> np.ndarray:
    """The table that `draw_word` samples from, uint64 (vocabulary,): a threshold and, in the upper half, an alias.

    Above the threshold the alias is drawn. One load gets both, which makes draws twice as fast. Word i is drawn with
    probability weights[i] / sum(weights), exact to 2^-32.
    """
    heights = np.asarray(weights, np.float64) * (len(weights) / np.sum(weights))
    columns = np.empty((len(heights), 2), np.uint32)
    fill_alias_table(heights, columns, np.empty(len(heights), np.int64), np.empty(len(heights), np.int64))
    table: np.ndarray = columns[:, 0] | columns[:, 1].astype(np.uint64) << np.uint64(32)
    return table


@entry_point
def fill_alias_table(heights: np.ndarray, table: np.ndarray, small: np.ndarray, large: np.ndarray) -> None:
    """Fill each column of height 1 with the rest of one word and the surplus of another; overwrites all but `table`."""
    n = heights.shape[0]
    n_small, n_large = 0, 0
    for i in range(n):
        table[i, 0], table[i, 1] = UINT32_MAX, i
        if heights[i] < 1:
            small[n_small] = i
            n_small += 1
        else:
            large[n_large] = i
            n_large += 1
    # Vose's method. What rounding leaves over keeps its full column, which was set above.
    while n_small > 0 and n_large > 0:
        n_small -= 1
        i, j = small[n_small], large[n_large - 1]
        table[i, 0], table[i, 1] = np.int64(heights[i] * UINT32_MAX + 0.5), j
        heights[j] -= 1 - heights[i]
        if heights[j] < 1:
            n_large -= 1
            small[n_small] = j
            n_small += 1


@inline
def draw_word(table: np.ndarray, bits: np.uint64) -> Any:
    """A word from 64 random bits, chosen without a branch, which would wait for the table and often be mispredicted."""
    # Column from the upper half of the bits, threshold from the lower: one random number serves both.
    i = uniform_below(bits, table.shape[0])
    threshold, alias = np.int64(table[i] & LOW_MASK), np.int64(table[i] >> np.uint64(32))
    is_alias = (threshold - uniform_uint32(bits)) >> 63  # -1 or 0; a comparison would be compiled as a branch
    return i ^ ((i ^ alias) & is_alias)


def shared_noise_count(negatives: int) -> int:
    """The number of negative samples to draw if each is weighted to count for up to two."""
    return (negatives + 1) // 2
