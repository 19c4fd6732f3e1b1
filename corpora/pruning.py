"""The compiled upkeep of the table of words: entering them all anew, and leaving only some."""

from typing import Any

import numpy as np

from embeddings.corpora.scanner import COUNT, END, HASHED, LENGTH, LOW, MIX, SHIFT, START, TYPES, Array
from embeddings.kernels.jit import kernel


@kernel
def place_all(table: Any, state: Array) -> None:
    """Enter every word in a new, empty array of slots."""
    slots, records, _ = table
    last = slots.shape[0] - 1
    for word in range(state[TYPES]):
        slot = ((records[word, HASHED] & LOW) * MIX & LOW) >> state[SHIFT]
        while slots[slot] >= 0:
            slot = (slot + 1) & last
        slots[slot] = word


@kernel
def compact(keep: Array, table: Any, state: Array) -> None:
    """Leave only the words whose place in `keep` (types,) is true, in the order they have; the slots are not changed.

    The token that is not ended yet moves along with the arena's end.
    """
    _, records, arena = table
    word, at = 0, np.int64(0)
    for old in range(state[TYPES]):
        start, stop = records[old, START], records[old + 1, START]
        if keep[old]:
            for k in range(start, stop):
                arena[at + k - start] = arena[k]
            records[word, HASHED], records[word, COUNT] = records[old, HASHED], records[old, COUNT]
            records[word, START] = at
            at += stop - start
            word += 1
    for k in range(state[LENGTH]):
        arena[at + k] = arena[state[END] + k]
    records[word, START] = at
    state[TYPES], state[END] = word, at
