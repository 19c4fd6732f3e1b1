"""How a classifier's texts become rows, and its hash tables: of words and labels, and of buckets. Compiled."""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.jit import entry_point, inline
from embeddings.kernels.subword_ngrams import FNV_BASIS, fnv1a
from embeddings.kernels.word_bytes import HALF, ONE, WORD_BYTES, equal_bytes, slot_number, word_key

BITS = 64
MAX_PROBES = 1000  # slots read to place an entry: by chance, ten million entries need 300; a hostile file, any number
CROWDED = -2
ENTRY_BITS = np.uint64(0xFFFFFFFF)


class Features(NamedTuple):
    """How texts become rows.

    text, starts: the bytes of all entries, words then labels, and where each begins, int64 (entries + 1,).
    slots: uint64 (slots, 2), a hash table of the entries with linear probing; the number of slots is a power of 2. Of
        each entry it has the key (see `word_bytes`), and, in the higher half, fastText's hash, in the lower half, the
        number of the entry plus 1; 0 is free.
    words: the number of words; entries from there on are labels.
    label_prefix: unknown words that start with these bytes are labels and have no rows.
    min_n, max_n: the lengths of character n-grams; `max_n` 0 for none.
    word_ngrams: the maximum length of word n-grams; 1 for none.
    buckets: the rows of n-grams.
    bucket_slots: int32 (slots, 2), a hash table of the buckets that pruning has left, with linear probing: bucket and
        row, -1 if free; its number of slots is a power of 2. Empty if none is pruned.
    bucket_filter: uint64, a bit for each residue of a bucket modulo the number of bits, a power of 2: 0 if no such
        bucket is left. Most n-grams of a pruned model have no row, and these bits stay in a fast cache.
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
    bucket_filter: np.ndarray
    counts_missing: bool = False


def new_slots(text: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, int]:
    """The hash table of entries, and the number of the first one that occurs twice, -1 if none does.

    The number is CROWDED if too many entries have the same hash, which never happens by chance.
    """
    entries = len(starts) - 1
    slots, duplicate = np.zeros((1 << (3 * entries // 2).bit_length(), 2), np.uint64), np.full(1, -1, np.int64)
    fill_slots(text, starts, slots, duplicate)
    return slots, int(duplicate[0])


@entry_point
def fill_slots(text: np.ndarray, starts: np.ndarray, slots: np.ndarray, duplicate: np.ndarray) -> None:
    """Build the hash table of entries; those that occur again are left out.

    Arguments:
        slots: zeros, and more of them than entries.
        duplicate: int64 (1,), -1; set to the number of the first entry that occurs again, or to CROWDED.
    """
    for entry in range(starts.shape[0] - 1):
        first, last = starts[entry], starts[entry + 1]
        key = word_key(text, first, last)
        slot, probes = slot_number(key, slots.shape[0]), 0
        while slots[slot, 1] != 0 and not is_entry(text, starts, slots, slot, text, first, last, key):
            slot = (slot + 1) & (slots.shape[0] - 1)
            probes += 1
            if probes > MAX_PROBES:
                duplicate[0] = CROWDED
                return
        if slots[slot, 1] == 0:
            slots[slot, 0] = key
            slots[slot, 1] = (hash_bytes(text, first, last) << HALF) | np.uint64(entry + 1)
        elif duplicate[0] < 0:
            duplicate[0] = entry


def new_bucket_slots(pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The hash table of buckets and their rows, int32 (buckets, 2), and its filter; empty if there are none.

    None if too many buckets have the same hash, which never happens by chance.
    """
    size = len(pairs)
    slots = np.full((1 << (2 * size).bit_length() if size else 0, 2), -1, np.int32)
    bits = np.zeros(1 << (8 * size // BITS).bit_length() if size else 0, np.uint64)
    return (slots, bits) if fill_bucket_slots(pairs, slots, bits) else None


@entry_point
def fill_bucket_slots(pairs: np.ndarray, slots: np.ndarray, bits: np.ndarray) -> bool:
    """Build the hash table of buckets and rows, and its filter; returns False if too many have the same hash.

    Arguments:
        slots: filled with -1, and larger than the number of pairs.
        bits: zeros.
    """
    for i in range(pairs.shape[0]):
        bucket: int = np.int64(pairs[i, 0])  # type: ignore[assignment]
        slot = bucket_slot(slots, bucket)
        if (slot - bucket) & (slots.shape[0] - 1) > MAX_PROBES:
            return False
        slots[slot, 0], slots[slot, 1] = bucket, pairs[i, 1]
        bits[filter_word(bits, bucket)] |= filter_bit(bucket)
    return True


@inline
def may_have_row(features: Features, bucket: int) -> int:
    """1 if a bucket can have a row, by the filter, else 0."""
    bits = features.bucket_filter
    bit: int = np.int64((bits[filter_word(bits, bucket)] >> np.uint64(bucket % BITS)) & ONE)  # type: ignore[assignment]
    return bit


@inline
def filter_word(bits: np.ndarray, bucket: int) -> int:
    """The number of the bits of a bucket in the filter."""
    word: int = bucket // BITS & (bits.shape[0] - 1)
    return word


@inline
def filter_bit(bucket: int) -> np.uint64:
    """The bit of a bucket."""
    return ONE << np.uint64(bucket % BITS)


@inline
def find_entry(features: Features, text: np.ndarray, first: int, last: int, key: np.uint64) -> np.uint64:
    """The second number in the slot of the entry with these bytes and this key; 0 if there is none."""
    slots = features.slots
    slot = slot_number(key, slots.shape[0])
    while slots[slot, 1] != 0 and not is_entry(features.text, features.starts, slots, slot, text, first, last, key):
        slot = (slot + 1) & (slots.shape[0] - 1)
    found: np.uint64 = slots[slot, 1]
    return found


@inline
def entry_number(found: np.uint64) -> int:
    """The entry that `find_entry` has found; -1 if none."""
    entry: int = np.int64(found & ENTRY_BITS) - 1  # type: ignore[assignment]
    return entry


@inline
def is_entry(
    entries: np.ndarray, starts: np.ndarray, slots: np.ndarray, slot: int, text: np.ndarray, first: int, last: int,
    key: np.uint64,
) -> bool:  # fmt: skip
    """Whether the entry in a slot has these bytes."""
    if slots[slot, 0] != key:
        return False
    if last - first <= WORD_BYTES:
        return True
    entry = entry_number(slots[slot, 1])
    length = starts[entry + 1] - starts[entry]
    return length == last - first and equal_bytes(entries, starts[entry], text, first, length)


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
