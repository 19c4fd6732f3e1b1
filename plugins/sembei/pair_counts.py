"""The compiled pass that counts n-grams: each is a pair of n-grams one shorter, its prefix and its suffix.

Tables are open-addressing ones with linear probing, keyed by a pair: prefix << 32 | suffix.
"""

from typing import Any, NamedTuple

import numpy as np

from embeddings.kernels.jit import kernel, piece
from embeddings.kernels.random_numbers import random

# numpy's in plain Python, machine ones when compiled
Array = Any
Int = Any

EMPTY = np.uint64(2**64 - 1)
SUFFIX = np.uint64(32)
LOW = np.uint64(2**32 - 1)
PARTS = 2**32  # pairs are told apart by a number below this, so that some can be counted in a pass of their own
POSITION, LINE = range(2)


class Pairs(NamedTuple):
    """Pairs and a number for each, (slots,) both, a power of two; `used` (1,) says how many slots are taken."""

    keys: np.ndarray
    values: np.ndarray
    used: np.ndarray


def new_pairs(bits: int) -> Pairs:
    """A table of 2 ** bits free slots."""
    return Pairs(np.full(1 << bits, EMPTY), np.zeros(1 << bits, np.int64), np.zeros(1, np.int64))


@piece
def find(pairs: Pairs, key: Int, mixed: Int) -> Int:
    """The slot of a pair, or the free one where it belongs."""
    last = pairs.keys.shape[0] - 1
    slot = np.int64(mixed >> SUFFIX) & last
    while pairs.keys[slot] != key and pairs.keys[slot] != EMPTY:
        slot = (slot + 1) & last
    return slot


@piece
def mix(key: Int) -> Int:
    """A hash of a pair: its upper half chooses the slot, its lower half the pass."""
    return random(key, np.uint64(0))


@kernel
def fill_pairs(pairs: Pairs, keys: Array, values: Array, low: Int, high: Int) -> None:
    """Enter pairs that are not there yet; those that do not belong to the pass `low` to `high` are left out."""
    for i in range(keys.shape[0]):
        mixed = mix(keys[i])
        if keys[i] != EMPTY and low <= np.int64(mixed & LOW) < high:
            slot = find(pairs, keys[i], mixed)
            pairs.keys[slot] = keys[i]
            pairs.values[slot] = values[i]
            pairs.used[0] += 1


@kernel
def read_text(ids: Array, lines: Array, known: Array, text: Array, place: Array, n: Int) -> Int:
    """Read on into `text` until it is full or the corpus ends; gives how many places of it are taken.

    -1 stands between lines, and for tokens that no n-gram may hold. Where a line goes on beyond `text`, its last
    n - 1 tokens are read again the next time. `place` (2,) is where to go on.
    """
    position, line, size, filled = place[POSITION], place[LINE], text.shape[0], 0
    while line + 1 < lines.shape[0] and filled + 1 < size:
        border = max(position, min(lines[line + 1], ids.shape[0]))
        while position < border and filled + 1 < size:
            token = ids[position]
            inside = np.uint32(token) < known.shape[0] and known[token]
            text[filled] = token if inside else -1
            filled += 1
            position += 1
        if position < border:
            position = max(position - (n - 1), lines[line])
            break
        text[filled] = -1
        filled += 1
        line += 1
    place[POSITION], place[LINE] = position, line
    return filled


@kernel
def advance(text: Array, held: Pairs) -> None:
    """From the n-grams that start at each place, -1 where there is none, to those that are longer by one."""
    last = text.shape[0] - 1
    for i in range(last):
        prefix, suffix = text[i], text[i + 1]
        text[i] = -1
        if prefix >= 0 and suffix >= 0:
            key = np.uint64(prefix) << SUFFIX | np.uint64(suffix)
            slot = find(held, key, mix(key))
            if held.keys[slot] == key:
                text[i] = held.values[slot]
    text[last] = -1


@kernel
def count_pairs(text: Array, start: Int, counts: Pairs, most: Int, low: Int, high: Int) -> Int:
    """Count the pairs of neighbours in `text` that belong to the pass `low` to `high`, from the one at `start` on.

    Gives where it stopped: at the last place, or before a new pair for which there is no room among `most`.
    """
    for i in range(start, text.shape[0] - 1):
        prefix, suffix = text[i], text[i + 1]
        if prefix < 0 or suffix < 0:
            continue
        key = np.uint64(prefix) << SUFFIX | np.uint64(suffix)
        mixed = mix(key)
        if not low <= np.int64(mixed & LOW) < high:
            continue
        slot = find(counts, key, mixed)
        if counts.keys[slot] == EMPTY:
            if counts.used[0] >= most:
                return i
            counts.keys[slot] = key
            counts.used[0] += 1
        counts.values[slot] += 1
    return text.shape[0] - 1
