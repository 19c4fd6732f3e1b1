"""Counter-based random numbers: splitmix64 (Steele, Lea and Flood 2014).

The i-th number of a key is a hash of key + i: draws do not depend on each other, and any of them can be repeated from
the key. Uniform numbers are exact to 2^-32.
"""

from typing import Any

import numpy as np

from embeddings.compilation.jit import inline

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
    return np.int64(((bits >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@inline
def uniform_uint32(bits: np.uint64) -> np.int64:
    """A uniform integer in [0, 2^32), from the lower half of 64 random bits."""
    return np.int64(bits & LOW_MASK)


def thread_keys(seed: int, threads: int) -> np.ndarray:
    """An independent key for each thread, uint64 (threads,)."""
    keys: np.ndarray = np.random.SeedSequence(seed).generate_state(threads, np.uint64)
    return keys
