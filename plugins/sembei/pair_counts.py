"""Compiled counting of n-grams: each is a pair of n-grams one shorter, its prefix and its suffix.

Hash tables use open addressing with linear probing; the key of a pair is prefix << 32 | suffix.
"""

from typing import Any, NamedTuple

import numpy as np

from embeddings.kernels.jit import allocating_entry_point, inline
from embeddings.kernels.random_numbers import random_bits

# numpy types in plain Python, machine types when compiled
Array = Any
Int = Any

EMPTY = np.uint64(2**64 - 1)
SUFFIX = np.uint64(32)
LOW = np.uint64(2**32 - 1)
N_PASS_KEYS = 2**32  # each pair has a pass key below this; a pass counts the pairs of a range of keys
POSITION, LINE = range(2)


class Pairs(NamedTuple):
    """A hash table from pairs to numbers, both (slots,), a power of two; `used` (1,) counts the occupied slots."""

    keys: np.ndarray
    values: np.ndarray
    used: np.ndarray


def new_pairs(bits: int) -> Pairs:
    """An empty table of 2 ** bits slots."""
    return Pairs(np.full(1 << bits, EMPTY), np.zeros(1 << bits, np.int64), np.zeros(1, np.int64))


@inline
def find_slot(pairs: Pairs, key: Int, hashed: Int) -> Int:
    """The slot of a pair, or the empty one where it belongs."""
    last = pairs.keys.shape[0] - 1
    slot = np.int64(hashed >> SUFFIX) & last
    while pairs.keys[slot] != key and pairs.keys[slot] != EMPTY:
        slot = (slot + 1) & last
    return slot


@inline
def hash_pair(key: Int) -> Int:
    """The hash of a pair: its upper half selects the slot, its lower half is the pass key."""
    return random_bits(key, np.uint64(0))


@allocating_entry_point
def insert_pairs(pairs: Pairs, keys: Array, values: Array, low: Int, high: Int) -> None:
    """Insert new pairs whose pass keys are in [low, high)."""
    for i in range(keys.shape[0]):
        hashed = hash_pair(keys[i])
        if keys[i] != EMPTY and low <= np.int64(hashed & LOW) < high:
            slot = find_slot(pairs, keys[i], hashed)
            pairs.keys[slot] = keys[i]
            pairs.values[slot] = values[i]
            pairs.used[0] += 1


@allocating_entry_point
def read_chunk(ids: Array, lines: Array, allowed: Array, chunk: Array, cursor: Array, n: Int) -> Int:
    """Fill `chunk` with the next tokens of the corpus; returns how many it holds.

    -1 separates lines and replaces tokens that are not `allowed` (vocabulary,). Where a line continues beyond the
    chunk, its last n - 1 tokens are read again next time. `cursor` (2,) is the position to continue from.
    """
    position, line, size, filled = cursor[POSITION], cursor[LINE], chunk.shape[0], 0
    while line + 1 < lines.shape[0] and filled + 1 < size:
        border = max(position, min(lines[line + 1], ids.shape[0]))
        while position < border and filled + 1 < size:
            token = ids[position]
            is_allowed = np.uint32(token) < allowed.shape[0] and allowed[token]
            chunk[filled] = token if is_allowed else -1
            filled += 1
            position += 1
        if position < border:
            position = max(position - (n - 1), lines[line])
            break
        chunk[filled] = -1
        filled += 1
        line += 1
    cursor[POSITION], cursor[LINE] = position, line
    return filled


@allocating_entry_point
def lengthen_ngrams(chunk: Array, frequent: Pairs) -> None:
    """Replace the n-gram that starts at each position by the one that is one token longer, or -1."""
    last = chunk.shape[0] - 1
    for i in range(last):
        prefix, suffix = chunk[i], chunk[i + 1]
        chunk[i] = -1
        if prefix >= 0 and suffix >= 0:
            key = np.uint64(prefix) << SUFFIX | np.uint64(suffix)
            slot = find_slot(frequent, key, hash_pair(key))
            if frequent.keys[slot] == key:
                chunk[i] = frequent.values[slot]
    chunk[last] = -1


@allocating_entry_point
def count_pairs(chunk: Array, start: Int, counts: Pairs, max_pairs: Int, low: Int, high: Int) -> Int:
    """Count the pairs of neighbours in `chunk`, from `start` on, whose pass keys are in [low, high).

    Returns where it stopped: at the last position, or before a new pair when the table holds `max_pairs`.
    """
    for i in range(start, chunk.shape[0] - 1):
        prefix, suffix = chunk[i], chunk[i + 1]
        if prefix < 0 or suffix < 0:
            continue
        key = np.uint64(prefix) << SUFFIX | np.uint64(suffix)
        hashed = hash_pair(key)
        if not low <= np.int64(hashed & LOW) < high:
            continue
        slot = find_slot(counts, key, hashed)
        if counts.keys[slot] == EMPTY:
            if counts.used[0] >= max_pairs:
                return i
            counts.keys[slot] = key
            counts.used[0] += 1
        counts.values[slot] += 1
    return chunk.shape[0] - 1
