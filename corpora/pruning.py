"""Compiled maintenance of the word table: rebuilding the hash slots, and dropping words."""

from typing import Any

import numpy as np

from embeddings.corpora.scan_state import ARENA_END, N_TYPES, SHIFT
from embeddings.corpora.word_lookup import COUNT, HASH_AND_RAW, LOW_32, PREFIX, START, Array
from embeddings.kernels.jit import entry_point


@entry_point
def fill_slots(table: Any, state: Array) -> None:
    """Enter every word in an empty array of slots."""
    slots, records, _ = table
    last = slots.shape[0] - 1
    for word in range(state[N_TYPES]):
        slot = (records[word, HASH_AND_RAW] & LOW_32) >> state[SHIFT]
        while slots[slot] >= 0:
            slot = (slot + 1) & last
        slots[slot] = word


@entry_point
def compact(keep: Array, table: Any, state: Array) -> None:
    """Drop the words whose entry in `keep` (types,) is false, preserving order; the slots are not updated."""
    _, records, arena = table
    word, end = 0, np.int64(0)
    for old in range(state[N_TYPES]):
        start, stop = records[old, START], records[old + 1, START]
        if keep[old]:
            for k in range(start, stop):
                arena[end + k - start] = arena[k]
            for column in (HASH_AND_RAW, COUNT, PREFIX):
                records[word, column] = records[old, column]
            records[word, START] = end
            end += stop - start
            word += 1
    records[word, START] = end
    state[N_TYPES], state[ARENA_END] = word, end
