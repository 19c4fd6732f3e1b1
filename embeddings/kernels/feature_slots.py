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
    counts_missing: whether buckets without a row count as rows of zeros.
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
    counts_missing: bool = False


def new_slots(text: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, int]:
    """The hash table of entries, and the number of the first one that occurs twice, or -1."""
    slots, duplicate = np.full(1 << (2 * len(starts) - 2).bit_length(), -1, np.int32), np.full(1, -1, np.int64)
    fill_slots(text, starts, slots, duplicate)
    return slots, int(duplicate[0])


@entry_point
def fill_slots(text: np.ndarray, starts: np.ndarray, slots: np.ndarray, duplicate: np.ndarray) -> None:
    """Build the hash table of entries; stops at one that occurs twice.

    Arguments:
        slots: filled with -1, and larger than the number of entries.
        duplicate: int64 (1,), set to the number of an entry that occurs twice.
    """
    mask = np.uint64(slots.shape[0] - 1)
    for entry in range(starts.shape[0] - 1):
        first, last = starts[entry], starts[entry + 1]
        slot = hash_bytes(text, first, last) & mask
        while slots[slot] >= 0:
            if is_entry(text, starts, slots[slot], text, first, last):
                duplicate[0] = entry
                return
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
        if is_entry(features.text, features.starts, entry, text, first, last):
            return entry
        slot = (slot + np.uint64(1)) & mask
    return -1


@inline
def is_entry(entries: np.ndarray, starts: np.ndarray, entry: int, text: np.ndarray, first: int, last: int) -> bool:
    """Whether an entry has these bytes."""
    start, i = starts[entry], 0
    if starts[entry + 1] - start != last - first:
        return False
    while i < last - first and entries[start + i] == text[first + i]:
        i += 1
    return bool(i == last - first)


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
