"""Compiled table of the 128-bit hashes of texts, which tells repeated texts."""

from typing import Any

import numpy as np

from embeddings.compilation.jit import entry_point, inline

Array = Any
Int = Any

# indices of `state`
N_HASHES, N_DUPLICATES, N_FORGOTTEN = range(3)  # texts in the table; repeated texts; new texts that were not stored


@inline
def mix(value: Int, word: Int, multiplier: Int) -> Int:
    """Mix eight bytes into a hash; for each word a bijection of the hash."""
    value = (value ^ word) * multiplier
    return value ^ (value >> np.uint64(29))


@inline
def hash_text(text: Array, start: Int, stop: Int, multiplier: Int) -> Int:
    """Return a 64-bit hash of bytes."""
    size, place = np.uint64(stop - start), start
    value = size
    while place < stop:
        word, end = np.uint64(0), min(place + 8, stop)
        for i in range(place, end):
            word = (word << np.uint64(8)) | np.uint64(text[i])
        value, place = mix(value, word, multiplier), end
    return mix(mix(value, size, multiplier), np.uint64(1), multiplier)


@inline
def slot_of(table: Array, first: Int, second: Int) -> Int:
    """Return the slot of a hash, or the free one where it belongs; a free slot is zero."""
    mask = table.shape[0] - 1
    slot = np.int64(first >> np.uint64(1)) & mask
    while (table[slot, 0] != first or table[slot, 1] != second) and (table[slot, 0] or table[slot, 1]):
        slot = (slot + 1) & mask
    return slot


@entry_point
def find_new(
    text: Array, ends: Array, begin: Int, table: Array, limit: Int, state: Array, is_new: Array, multipliers: Array
) -> int:
    """Mark the texts that are not in the table, and add them; returns the first one that was not examined.

    Text i ends at `ends[i]`, where the next one begins. limit >= 0: stop once the table has `limit` hashes, so that the
    caller can enlarge it. limit < 0: never stop; once the table has `-limit` hashes, new texts are only counted.
    `multipliers` (2,) uint64 are odd numbers that nobody can know, so that no text can be made to collide.
    """
    start = ends[begin - 1] if begin else 0
    for i in range(begin, ends.shape[0]):
        if 0 <= limit <= state[N_HASHES]:
            return i
        stop = ends[i]
        size = stop
        while size > start and (text[size - 1] == 10 or text[size - 1] == 13):  # a line end
            size -= 1
        is_new[i] = True
        if size > start:
            first = hash_text(text, start, size, multipliers[0]) | np.uint64(1)  # never zero
            second = hash_text(text, start, size, multipliers[1])
            slot = slot_of(table, first, second)
            if table[slot, 0] == first:
                is_new[i] = False
                state[N_DUPLICATES] += 1
            elif limit < 0 and state[N_HASHES] >= -limit:
                state[N_FORGOTTEN] += 1
            else:
                table[slot, 0], table[slot, 1] = first, second
                state[N_HASHES] += 1
        start = stop
    return int(ends.shape[0])


@entry_point
def move_hashes(old: Array, new: Array) -> None:
    """Copy all hashes to a larger table."""
    for i in range(old.shape[0]):
        if old[i, 0]:
            slot = slot_of(new, old[i, 0], old[i, 1])
            new[slot, 0], new[slot, 1] = old[i, 0], old[i, 1]
