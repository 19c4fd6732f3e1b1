"""Looks words up by a 32-bit hash in an open-addressing table, and adds the new ones. Compiled.

The bytes of all words are in one array, the arena. Words are read from it eight bytes at a time, so that there must be
`SLACK` bytes after the last one.
"""

from typing import Any

import numpy as np

from embeddings.corpora.scan_state import ARENA_END, N_RAW, N_TYPES, SEED, SHIFT
from embeddings.kernels.jit import entry_point, inline
from embeddings.kernels.word_bytes import ALL_BITS, EIGHT, FULL, HALF, ONE, WORD_BYTES, load_bytes

Array = Any
Int = Any  # a numpy integer in plain Python, a machine integer when compiled

# columns of a word's record: hash | raw id << 32, start in the arena, occurrences
HASH_AND_RAW, START, COUNT = range(3)
RAW_SHIFT = 32
LOW_32 = 0xFFFFFFFF
SLACK = WORD_BYTES - 1


@inline
def load_part(arena: Array, start: Int, length: Int) -> Int:
    """Load the first bytes of a word, at most 8 and at least 1; zeros follow."""
    word = load_bytes(arena, start)
    if length < WORD_BYTES:
        word &= ALL_BITS >> (FULL - EIGHT * np.uint64(length))
    return word


@inline
def hash_word(arena: Array, start: Int, length: Int, seed: Int) -> Int:
    """Return a 32-bit hash, the upper half of products with a random odd number (Dietzfelbinger et al. 1997)."""
    multiplier = np.uint64(seed) | ONE
    key = np.uint64(0)
    for at in range(0, length, WORD_BYTES):
        key = (key ^ load_part(arena, start + at, length - at)) * multiplier
        key ^= key >> HALF
    return np.int64(key >> HALF)


@inline
def equal_words(arena: Array, one: Int, other: Int, length: Int) -> bool:
    """Whether two words in the arena of this length are equal."""
    for at in range(0, length, WORD_BYTES):
        if load_part(arena, one + at, length - at) != load_part(arena, other + at, length - at):
            return False
    return True


@inline
def intern(table: Any, state: Array, start: Int, length: Int) -> Int:
    """Count the word of `length` bytes at `start`, in the free part of the arena, and return its raw id.

    A new word moves to the end of the arena.
    """
    slots, records, arena = table
    hash_code = hash_word(arena, start, length, state[SEED])
    last = slots.shape[0] - 1
    slot = hash_code >> state[SHIFT]
    word = slots[slot]
    while word >= 0:
        record = records[word]
        if (
            record[HASH_AND_RAW] & LOW_32 == hash_code
            and records[word + 1, START] - record[START] == length
            and equal_words(arena, record[START], start, length)
        ):
            record[COUNT] += 1
            return record[HASH_AND_RAW] >> RAW_SHIFT
        slot = (slot + 1) & last
        word = slots[slot]
    slots[slot] = state[N_TYPES]
    return add_word(records, arena, state, (start, length), hash_code)


@inline
def add_word(records: Array, arena: Array, state: Array, place: tuple[Int, Int], hash_code: Int) -> Int:
    """Move a new word to the end of the arena and return its raw id."""
    start, length = place
    word, raw, end = state[N_TYPES], state[N_RAW], state[ARENA_END]
    if start > end:
        for k in range(length):
            arena[end + k] = arena[start + k]
    records[word, HASH_AND_RAW] = hash_code | raw << RAW_SHIFT
    records[word, COUNT] = 1
    records[word + 1, START] = end + length
    state[N_TYPES] = word + 1
    state[N_RAW] = raw + 1
    state[ARENA_END] = end + length
    return raw
