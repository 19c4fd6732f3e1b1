"""Extraction of features from texts for a classifier: words and n-grams as rows of its input matrix.

The word `</s>` ends every text; what follows it in the text is ignored. Words are processed in batches of 256, so that
hash slots and rows are prefetched.
"""

from typing import Any, NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point, inline, noinline
from embeddings.errors import FormatError
from embeddings.kernels.integers import smaller
from embeddings.kernels.matrix_rows import Rows
from embeddings.kernels.row_operations import CACHE_LINE, address, prefetch_l2
from embeddings.kernels.row_sums import add_rows
from embeddings.kernels.subword_rows import FNV_BASIS, fnv1a, is_continuation_byte
from embeddings.kernels.word_bytes import (
    HALF,
    ONE,
    WORD_BYTES,
    equal_bytes,
    is_space,
    slot_number,
    word_end,
    word_key,
)

BITS = 64
MAX_PROBES = 1000  # slots read to place an entry: by chance, ten million entries need 300; a hostile file, any number
TOO_MANY_PROBES = -2
ENTRY_BITS = np.uint64(0xFFFFFFFF)


class Features(NamedTuple):
    """How texts become rows.

    text, starts: the bytes of all entries, words then labels, and where each begins, int64 (entries + 1,).
    slots: uint64 (slots, 2), a hash table of the entries with linear probing; the number of slots is a power of 2.
        `slots[s]` is (key, hash << 32 | entry + 1) with the key of `word_bytes` and fastText's hash; a second column of
        0 marks a free slot.
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


def index_entries(text: np.ndarray, starts: np.ndarray, name: str = "the classifier") -> tuple[np.ndarray, int]:
    """The hash table of entries, and the number of the first one that occurs twice, -1 if none does."""
    entries = len(starts) - 1
    slots, duplicate = np.zeros((1 << (3 * entries // 2).bit_length(), 2), np.uint64), np.full(1, -1, np.int64)
    fill_slots(text, starts, slots, duplicate)
    if duplicate[0] == TOO_MANY_PROBES:
        raise FormatError(f"{name} is broken: inserting one of its words takes over {MAX_PROBES:,} probes")
    return slots, int(duplicate[0])


class Word(NamedTuple):
    """A word of a text, `text[first:last]`, and its key; see `word_bytes`."""

    text: np.ndarray
    first: int
    last: int
    key: np.uint64


@entry_point
def fill_slots(text: np.ndarray, starts: np.ndarray, slots: np.ndarray, duplicate: np.ndarray) -> None:
    """Build the hash table of entries; an entry that occurs again is left out.

    Arguments:
        slots: zeros, and more of them than entries.
        duplicate: int64 (1,), -1; set to the number of the first entry that occurs again, or to TOO_MANY_PROBES.
    """
    for entry in range(starts.shape[0] - 1):
        first, last = starts[entry], starts[entry + 1]
        word = Word(text, first, last, word_key(text, first, last))
        slot, probes = slot_number(word.key, slots.shape[0]), 0
        while slots[slot, 1] != 0 and not is_entry(text, starts, slots, slot, word):
            slot = (slot + 1) & (slots.shape[0] - 1)
            probes += 1
            # A file may contain words chosen to collide, with which building the table would take quadratic time.
            if probes > MAX_PROBES:
                duplicate[0] = TOO_MANY_PROBES
                return
        if slots[slot, 1] == 0:
            slots[slot, 0] = word.key
            slots[slot, 1] = (hash_word(word) << HALF) | np.uint64(entry + 1)
        elif duplicate[0] < 0:
            duplicate[0] = entry


def index_features(
    text: np.ndarray, starts: np.ndarray, slots: np.ndarray, bucket_rows: np.ndarray, **settings: Any
) -> Features:
    """The features of a model whose entries are indexed already; arguments as the fields of `Features`."""
    size = len(bucket_rows)
    buckets = np.full((1 << (2 * size).bit_length() if size else 0, 2), -1, np.int32)
    bits = np.zeros(1 << (8 * size // BITS).bit_length() if size else 0, np.uint64)
    if not fill_bucket_slots(bucket_rows, buckets, bits):
        raise FormatError(f"the classifier is broken: inserting one of its buckets takes over {MAX_PROBES:,} probes")
    return Features(text=text, starts=starts, slots=slots, bucket_slots=buckets, bucket_filter=bits, **settings)


@entry_point
def fill_bucket_slots(pairs: np.ndarray, slots: np.ndarray, bits: np.ndarray) -> bool:
    """Build the hash table of buckets and rows, and its filter; returns False if a bucket takes too many probes.

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
        bits[filter_word(bits, bucket)] |= ONE << np.uint64(bucket % BITS)
    return True


@inline
def filter_word(bits: np.ndarray, bucket: int) -> int:
    """The index of the 64-bit filter word of a bucket."""
    word: int = bucket // BITS & (bits.shape[0] - 1)
    return word


@inline
def find_entry(features: Features, word: Word) -> np.uint64:
    """The hash and entry number of a word, as in `Features.slots`; 0 if the word is not in the table."""
    slots = features.slots
    slot = slot_number(word.key, slots.shape[0])
    while slots[slot, 1] != 0 and not is_entry(features.text, features.starts, slots, slot, word):
        slot = (slot + 1) & (slots.shape[0] - 1)
    found: np.uint64 = slots[slot, 1]
    return found


@inline
def entry_number(found: np.uint64) -> int:
    """The entry that `find_entry` has found; -1 if none."""
    entry: int = np.int64(found & ENTRY_BITS) - 1  # type: ignore[assignment]
    return entry


@inline
def is_entry(entries: np.ndarray, starts: np.ndarray, slots: np.ndarray, slot: int, word: Word) -> bool:
    """Whether the entry in a slot has the bytes of a word."""
    if slots[slot, 0] != word.key:
        return False
    if word.last - word.first <= WORD_BYTES:
        return True
    entry = entry_number(slots[slot, 1])
    length = starts[entry + 1] - starts[entry]
    return length == word.last - word.first and equal_bytes(entries, starts[entry], word.text, word.first, length)


@inline
def bucket_slot(slots: np.ndarray, bucket: int) -> int:
    """The slot of a bucket, or the free one where it would be."""
    mask = slots.shape[0] - 1
    slot: int = bucket & mask
    while slots[slot, 0] >= 0 and slots[slot, 0] != bucket:
        slot = (slot + 1) & mask
    return slot


@inline
def hash_word(word: Word) -> np.uint64:
    """The hash of a word."""
    code = FNV_BASIS
    for i in range(word.first, word.last):
        code = fnv1a(code, word.text[i])
    return code


PENDING, COUNT, WORDS, SPLIT = 0, 1, 2, 3  # in `Scratch.state`
MAX_PENDING = 4096


class Scratch(NamedTuple):
    """A thread's working memory.

    state: int64 (4,), counters: PENDING rows not yet summed, COUNT rows summed, WORDS of the text so far, SPLIT words
        in this batch.
    rows: int64, pending rows, so that memory is read ahead; ~bucket for a bucket whose row is not yet looked up.
    recent: uint64 (word_ngrams + 1,), the hashes of word n-grams that start 0, 1, ... words before the last word.
    codes: uint64 (slots, 2), the keys and hashes of some unknown words of up to 8 bytes.
    spans, words: int64 (words, 2) and uint64 (words,), where split words begin and end, and their keys.
    keys, texts, sums: uint64 (slots, 4), uint8 (slots, 32) and float32 (slots, dim + 1), a cache of the sums of words'
        rows, and their number as the last component. The key of a word selects its only possible slot. `keys[s]` is
        the key, the length of the word (0: free), a use counter (decremented by a colliding word, which takes the slot
        at 0), and the hash. `texts` has the bytes of the word.
    """

    state: np.ndarray
    rows: np.ndarray
    recent: np.ndarray
    codes: np.ndarray
    spans: np.ndarray
    words: np.ndarray
    keys: np.ndarray
    texts: np.ndarray
    sums: np.ndarray


@inline
def push_bucket(features: Features, matrix: Rows, code: np.uint64, scratch: Scratch, total: np.ndarray) -> None:
    """Push the row of an n-gram with this hash; if buckets have been pruned, push the complement of the bucket."""
    bucket: int = np.int64(code % np.uint64(features.buckets))  # type: ignore[assignment]
    slots = features.bucket_slots.shape[0]
    if slots == 0:
        push_row(features, matrix, features.words + bucket, scratch, total)
        return
    prefetch_l2(address(features.bucket_slots, bucket & (slots - 1)), 1)
    push(features, matrix, ~bucket, scratch, total)
    bits = features.bucket_filter
    may_have_row: int = np.int64((bits[filter_word(bits, bucket)] >> np.uint64(bucket % BITS)) & ONE)  # type: ignore[assignment]
    is_missing = 1 - may_have_row  # without a branch, which could not be predicted
    scratch.state[PENDING] -= is_missing
    scratch.state[COUNT] += is_missing * features.counts_missing


@inline
def push_row(features: Features, matrix: Rows, row: int, scratch: Scratch, total: np.ndarray) -> None:
    """Push a row, and prefetch it."""
    prefetch_row(matrix, row)
    push(features, matrix, row, scratch, total)


@inline
def push(features: Features, matrix: Rows, row: int, scratch: Scratch, total: np.ndarray) -> None:
    """Append a row or ~bucket to the pending rows; if they are full, they are summed first."""
    if scratch.state[PENDING] == MAX_PENDING:
        add_pending(features, matrix, 0, scratch, total)
    scratch.rows[scratch.state[PENDING]] = row
    scratch.state[PENDING] += 1


@inline
def prefetch_row(matrix: Rows, row: int) -> None:
    """Prefetch a row, which need not begin with a cache line."""
    place = address(matrix.table, row)
    offset = place % CACHE_LINE
    prefetch_l2(place - offset, offset + matrix.table.shape[1] * matrix.table.itemsize)


@noinline
def add_pending(features: Features, matrix: Rows, start: int, scratch: Scratch, total: np.ndarray) -> None:
    """Add the pending rows from number `start` on to `total`."""
    stop: int = scratch.state[PENDING]
    if features.bucket_slots.shape[0] > 0:  # buckets are replaced by their rows, pruned ones are dropped
        stop = start
        for i in range(start, scratch.state[PENDING]):
            row = scratch.rows[i]
            if row < 0:
                slot = bucket_slot(features.bucket_slots, ~row)
                if features.bucket_slots[slot, 1] < 0:
                    scratch.state[COUNT] += features.counts_missing
                    continue
                row = features.words + features.bucket_slots[slot, 1]
                prefetch_row(matrix, row)
            scratch.rows[stop] = row
            stop += 1
    add_rows(matrix, scratch.rows, start, stop, total)
    scratch.state[COUNT] += stop - start
    scratch.state[PENDING] = start


WORD_NGRAM_PRIME = np.uint64(116049371)
SIGN_BIT, HIGH_BITS = np.uint64(0x80000000), np.uint64(0xFFFFFFFF00000000)
LESS_THAN, GREATER_THAN = np.uint8(ord("<")), np.uint8(ord(">"))
LINE_END = np.frombuffer(b"</s>", np.uint8)
LINE_END_HASH = np.uint64(3617362777)
LINE_END_KEY = np.uint64(int.from_bytes(b"</s>", "little"))
KEY_WORD, KEY_LENGTH, KEY_USES, KEY_CODE = 0, 1, 2, 3  # in `Scratch.keys`
MAX_CACHED, KEY_BYTES, UNKNOWN_CODES = 32, 64, 1024
MAX_USES, MAX_SPLIT, CACHE_BYTES = np.uint64(15), 256, 1 << 24


def new_scratch(features: Features, dim: int) -> Scratch:
    """Working memory for rows of this dimension; without character n-grams, the sums of words are not cached."""
    slots = 1 << max(1, CACHE_BYTES // (4 * dim + KEY_BYTES)).bit_length() - 1 if features.max_n else 1
    return Scratch(
        state=np.zeros(4, np.int64),
        rows=np.zeros(MAX_PENDING, np.int64),
        recent=np.zeros(features.word_ngrams + 1, np.uint64),
        codes=np.zeros((UNKNOWN_CODES, 2), np.uint64),
        spans=np.zeros((MAX_SPLIT, 2), np.int64),
        words=np.zeros(MAX_SPLIT, np.uint64),
        keys=np.zeros((slots, 4), np.uint64),
        texts=np.zeros((slots, MAX_CACHED), np.uint8),
        sums=np.zeros((slots, dim + 1), np.float32),
    )


@entry_point
def sum_features(
    features: Features,
    matrix: Rows,
    text: np.ndarray,
    starts: np.ndarray,
    scratch: Scratch,
    sums: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Sum the rows of each text `text[starts[i]:starts[i + 1]]`.

    Arguments:
        scratch: new, or used with the same features and matrix.
        sums: float32 (texts, dim), zeros.
        counts: int64 (texts,), set to the number of rows in each sum.
    """
    for i in range(counts.shape[0]):
        scratch.state[PENDING], scratch.state[COUNT], scratch.state[WORDS] = 0, 0, 0
        at, total = starts[i], sums[i]
        while at < starts[i + 1]:
            at = split_words(features, text, at, starts[i + 1], scratch)
            for k in range(scratch.state[SPLIT]):
                word = Word(text, scratch.spans[k, 0], scratch.spans[k, 1], scratch.words[k])
                add_word(features, matrix, word, scratch, total)
        # fastText appends `</s>` to each line; a file may lack it among its words, or have it as a label.
        entry = entry_number(find_entry(features, Word(LINE_END, 0, LINE_END.shape[0], LINE_END_KEY)))
        if entry < features.words:
            if entry >= 0:
                push_row(features, matrix, entry, scratch, total)
            push_word_ngrams(features, matrix, LINE_END_HASH, scratch, total)
        add_pending(features, matrix, 0, scratch, total)
        counts[i] = scratch.state[COUNT]


@inline
def split_words(features: Features, text: np.ndarray, start: int, stop: int, scratch: Scratch) -> int:
    """Split the next words, and prefetch their slots; returns where the following ones begin."""
    at, split = start, 0
    while at < stop and split < scratch.words.shape[0]:
        if is_space(text[at]):
            at += 1
            continue
        last = word_end(text, at, stop)
        key = word_key(text, at, last)
        if key == LINE_END_KEY:
            at = stop
            break
        if features.max_n > 0:
            prefetch_l2(address(scratch.keys, slot_number(key, scratch.keys.shape[0])), 1)
        else:
            prefetch_l2(address(features.slots, slot_number(key, features.slots.shape[0])), 1)
        scratch.spans[split, 0], scratch.spans[split, 1], scratch.words[split] = at, last, key
        split += 1
        at = last + 1
    scratch.state[SPLIT] = split
    return at


@inline
def add_word(features: Features, matrix: Rows, word: Word, scratch: Scratch, total: np.ndarray) -> None:
    """Add the rows of a word and of the word n-grams that end with it, unless it is a label."""
    if features.max_n > 0 and add_cached_word(word, scratch, total):
        code = scratch.keys[slot_number(word.key, scratch.keys.shape[0]), KEY_CODE]
    else:
        found = find_entry(features, word)
        entry = entry_number(found)
        if entry >= features.words or (entry < 0 and has_prefix(word, features.label_prefix)):
            return
        code = found >> HALF
        if entry < 0 and features.word_ngrams > 1:
            codes = scratch.codes[slot_number(word.key, scratch.codes.shape[0])]
            if word.last - word.first > WORD_BYTES:
                code = hash_word(word)
            else:
                if codes[0] != word.key:
                    codes[0], codes[1] = word.key, hash_word(word)
                code = np.uint64(codes[1])
        if features.max_n > 0:
            add_new_word(features, matrix, word, code, entry, scratch, total)
        elif entry >= 0:
            push_row(features, matrix, entry, scratch, total)
    push_word_ngrams(features, matrix, code, scratch, total)


@inline
def add_cached_word(word: Word, scratch: Scratch, total: np.ndarray) -> bool:
    """Add the rows of a word if their sum is cached; returns whether it is."""
    slot, length = slot_number(word.key, scratch.keys.shape[0]), word.last - word.first
    keys, sums = scratch.keys[slot], scratch.sums[slot]
    if keys[KEY_WORD] != word.key or keys[KEY_LENGTH] != np.uint64(length):
        return False
    # The key of a word of up to 8 bytes is the word itself.
    if length > WORD_BYTES and not equal_bytes(scratch.texts[slot], 0, word.text, word.first, length):
        return False
    for d in range(total.shape[0]):
        total[d] += sums[d]
    scratch.state[COUNT] += np.int64(sums[total.shape[0]])
    if keys[KEY_USES] < MAX_USES:
        keys[KEY_USES] += ONE
    return True


@noinline
def add_new_word(
    features: Features, matrix: Rows, word: Word, code: np.uint64, entry: int, scratch: Scratch, total: np.ndarray
) -> None:
    """Sum the rows of a word into the cache if it is short and the slot is free; otherwise push them."""
    slot, length, dim = slot_number(word.key, scratch.keys.shape[0]), word.last - word.first, total.shape[0]
    keys = scratch.keys[slot]
    if length > MAX_CACHED or keys[KEY_USES] > 0:
        # Each collision costs the owner of the slot a use: a frequent word keeps it, a rare one gives it up.
        if keys[KEY_USES] > 0:
            keys[KEY_USES] -= ONE
        push_word(features, matrix, word, entry, scratch, total)
        return
    if scratch.state[PENDING] > MAX_PENDING // 2:
        add_pending(features, matrix, 0, scratch, total)
    start, before = scratch.state[PENDING], scratch.state[COUNT]
    keys[KEY_LENGTH] = np.uint64(0)  # until the sum is complete
    push_word(features, matrix, word, entry, scratch, total)
    sums = scratch.sums[slot]
    for d in range(dim):
        sums[d] = 0
    add_pending(features, matrix, start, scratch, sums[:dim])
    sums[dim] = scratch.state[COUNT] - before
    for d in range(dim):
        total[d] += sums[d]
    keys[KEY_WORD], keys[KEY_LENGTH], keys[KEY_CODE] = word.key, np.uint64(length), code
    for i in range(length):
        scratch.texts[slot, i] = word.text[word.first + i]


@noinline
def push_word(features: Features, matrix: Rows, word: Word, entry: int, scratch: Scratch, total: np.ndarray) -> None:
    """Push the row of a word, if it is known, and the rows of its character n-grams."""
    text, first, last, _ = word
    if entry >= 0:
        push_row(features, matrix, entry, scratch, total)
    for begin in range(first - 1, last + 1):
        if first <= begin < last and is_continuation_byte(text[begin]):
            continue
        code, n, j = FNV_BASIS, 0, begin
        while j <= last and n < features.max_n:
            code = fnv1a(code, LESS_THAN if j < first else GREATER_THAN if j == last else text[j])
            j += 1
            while j < last and is_continuation_byte(text[j]):
                code = fnv1a(code, text[j])
                j += 1
            n += 1
            if n >= features.min_n and not (n == 1 and (begin < first or j > last)):
                push_bucket(features, matrix, code, scratch, total)


@inline
def push_word_ngrams(features: Features, matrix: Rows, code: np.uint64, scratch: Scratch, total: np.ndarray) -> None:
    """Push the rows of the word n-grams that end with a word, given its hash."""
    if features.word_ngrams < 2:
        return
    if code & SIGN_BIT:  # fastText stores hashes as signed 32-bit numbers
        code |= HIGH_BITS
    recent, before = scratch.recent, smaller(scratch.state[WORDS], features.word_ngrams - 1)
    for back in range(before, 0, -1):
        recent[back] = recent[back - 1] * WORD_NGRAM_PRIME + code
        push_bucket(features, matrix, recent[back], scratch, total)
    recent[0] = code
    scratch.state[WORDS] += 1


@inline
def has_prefix(word: Word, prefix: np.ndarray) -> bool:
    """Whether a word starts with the prefix."""
    if word.last - word.first < prefix.shape[0]:
        return False
    i = 0
    while i < prefix.shape[0] and word.text[word.first + i] == prefix[i]:
        i += 1
    return bool(i == prefix.shape[0])
