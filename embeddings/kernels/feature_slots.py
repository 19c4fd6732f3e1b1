"""How a classifier's texts become rows, and its hash tables: of words and labels, and of buckets. Compiled."""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.jit import entry_point, inline
from embeddings.kernels.subword_ngrams import FNV_BASIS, fnv1a


class Features(NamedTuple):
    """How texts become rows.

    text, starts: the bytes of all entries, words then labels, and where each begins, int64 (entries + 1,).
    slots: int32, a hash table of the entries with linear probing; its size is a power of 2, and -1 is free.
    words: the number of words; entries from there on are labels.
    label_prefix: unknown words that start with these bytes are labels and have no rows.
    min_n, max_n: the lengths of character n-grams; `max_n` 0 for none.
    word_ngrams: the maximum length of word n-grams; 1 for none.
    buckets: the rows of n-grams.
    bucket_slots: int32 (slots, 2), a hash table of the buckets that pruning has left, with linear probing: bucket and
        row, -1 if free; its number of slots is a power of 2. Empty if none is pruned.
    """

    text: np.ndarray
    starts: np.ndarray
    slots: np.ndarray
    words: int
    label_prefix: np.ndarray
    min_n: int
    max_n: int
    word_ngrams: int
    buckets: int
    bucket_slots: np.ndarray


@entry_point
def fill_slots(text: np.ndarray, starts: np.ndarray, slots: np.ndarray) -> None:
    """Build the hash table of distinct entries; `slots` is filled with -1 and larger than the number of entries."""
    mask = np.uint64(slots.shape[0] - 1)
    for entry in range(starts.shape[0] - 1):
        slot = hash_bytes(text, starts[entry], starts[entry + 1]) & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = entry


@entry_point
def fill_bucket_slots(pairs: np.ndarray, slots: np.ndarray) -> None:
    """Build the hash table of buckets and rows; `slots` is filled with -1 and larger than the number of pairs."""
    for i in range(pairs.shape[0]):
        slot = bucket_slot(slots, pairs[i, 0])
        slots[slot, 0], slots[slot, 1] = pairs[i, 0], pairs[i, 1]


@inline
def find_entry(features: Features, text: np.ndarray, first: int, last: int, code: np.uint64) -> int:
    """The entry with these bytes and this hash, or -1."""
    mask = np.uint64(features.slots.shape[0] - 1)
    slot = code & mask
    while features.slots[slot] >= 0:
        entry: int = np.int64(features.slots[slot])  # type: ignore[assignment]
        start = features.starts[entry]
        if features.starts[entry + 1] - start == last - first:
            i = 0
            while i < last - first and features.text[start + i] == text[first + i]:
                i += 1
            if i == last - first:
                return entry
        slot = (slot + np.uint64(1)) & mask
    return -1


@inline
def bucket_slot(slots: np.ndarray, bucket: int) -> int:
    """The slot of a bucket, or the free one where it would be."""
    mask = slots.shape[0] - 1
    slot: int = bucket & mask
    while slots[slot, 0] >= 0 and slots[slot, 0] != bucket:
        slot = (slot + 1) & mask
    return slot


@inline
def hash_bytes(text: np.ndarray, first: int, last: int) -> np.uint64:
    """The hash of a word."""
    code = FNV_BASIS
    for i in range(first, last):
        code = fnv1a(code, text[i])
    return code
