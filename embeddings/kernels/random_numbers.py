"""Random numbers as a function of a key and a counter (splitmix64, Steele, Lea and Flood 2014).

Number i of a key is a mix of key + i, so drawing many has no chain to wait for, and what was drawn where can be
repeated from the key alone. Uniform numbers are exact to 2^-32.
"""

import numpy as np

from embeddings.kernels.jit import kernel, piece

GAMMA = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
MOST = 2**32 - 1  # the largest coin: a threshold that none is above
LOW = np.uint64(MOST)


@piece
def random(key: np.uint64, counter: np.uint64) -> np.uint64:
    """64 random bits."""
    z = key + counter * GAMMA
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return z ^ (z >> np.uint64(31))


@piece
def below(bits: np.uint64, n: int) -> np.int64:
    """A whole number from 0 to n - 1, for n up to 2^32, from the upper half of 64 random bits."""
    return np.int64(((bits >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@piece
def coin(bits: np.uint64) -> np.int64:
    """A whole number from 0 to 2^32 - 1, from the lower half of 64 random bits."""
    return np.int64(bits & LOW)


@kernel
def bits(key: np.uint64, n: int) -> np.ndarray:
    """The first n random numbers of a key, uint64 (n,)."""
    drawn = np.empty(n, np.uint64)
    for i in range(n):
        drawn[i] = random(key, np.uint64(i))
    return drawn


def keys(seed: int, n: int) -> np.ndarray:
    """A key for each of n threads, uint64 (n,): far apart for every seed."""
    found: np.ndarray = np.random.SeedSequence(seed).generate_state(n, np.uint64)
    return found
