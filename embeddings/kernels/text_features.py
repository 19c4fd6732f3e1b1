"""The rows of texts in a classifier, as in fastText: words, their character n-grams and word n-grams, hashed. Compiled.

White space separates words: space, tab, line feed, vertical tab, form feed, carriage return and NUL. The word `</s>`
ends every text; what follows it in the text is ignored.
"""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.feature_slots import Features, bucket_slot, find_entry
from embeddings.kernels.integers import smaller
from embeddings.kernels.jit import entry_point, inline, noinline
from embeddings.kernels.matrix_rows import Rows
from embeddings.kernels.row_operations import CACHE_LINE, address, prefetch_l2
from embeddings.kernels.row_sums import add_row
from embeddings.kernels.subword_ngrams import FNV_BASIS, fnv1a, is_continuation_byte

WORD_NGRAM_PRIME = np.uint64(116049371)
SIGN_BIT, HIGH_BITS = np.uint64(0x80000000), np.uint64(0xFFFFFFFF00000000)
LESS_THAN, GREATER_THAN = np.uint8(ord("<")), np.uint8(ord(">"))
LINE_END = np.frombuffer(b"</s>", np.uint8)
LINE_END_HASH = np.uint64(3617362777)
PENDING, COUNT, WORDS = 0, 1, 2  # in `Scratch.state`
KEY_LENGTH, KEY_USES, KEY_WORD, KEY_BYTES = 0, 1, 2, 32  # in `Scratch.keys`
MAX_USES, MAX_PENDING, CACHE_BYTES = 15, 4096, 1 << 24


class Scratch(NamedTuple):
    """A thread's working memory.

    state: int64 (3,), the number of pending rows; of rows of the current text that are added; and of its words.
    rows: int64, pending rows, so that memory is read ahead; complements of buckets, whose rows are still to be found.
    recent: uint64 (word_ngrams + 1,), the hashes of word n-grams that start 0, 1, ... words before the last word.
    keys, sums: uint8 (slots, 32) and float32 (slots, dim + 1), a cache of the sums of words' rows, and their number as
        the last component. A word has one possible slot, by its hash. A key is the length of the word, 0 if the slot is
        free; a number that grows with its uses, and falls when another word would take its slot; and its bytes.
    """

    state: np.ndarray
    rows: np.ndarray
    recent: np.ndarray
    keys: np.ndarray
    sums: np.ndarray


def new_scratch(features: Features, dim: int) -> Scratch:
    """Working memory for rows of this dimension; without character n-grams, the sums of words are not cached."""
    slots = 1 << max(1, CACHE_BYTES // (4 * dim + KEY_BYTES)).bit_length() - 1 if features.max_n else 1
    keys, sums = np.zeros((slots, KEY_BYTES), np.uint8), np.zeros((slots, dim + 1), np.float32)
    recent = np.zeros(features.word_ngrams + 1, np.uint64)
    return Scratch(np.zeros(3, np.int64), np.zeros(MAX_PENDING, np.int64), recent, keys, sums)


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
        counts[i] = sum_text(features, matrix, text, starts[i], starts[i + 1], scratch, sums[i])


@inline
def sum_text(
    features: Features, matrix: Rows, text: np.ndarray, start: int, stop: int, scratch: Scratch, total: np.ndarray
) -> int:
    """Add the rows of one text to `total`; returns their number."""
    scratch.state[PENDING], scratch.state[COUNT], scratch.state[WORDS] = 0, 0, 0
    first = start
    while first < stop:
        if is_space(text[first]):
            first += 1
            continue
        last, code = first, FNV_BASIS
        while last < stop and not is_space(text[last]):
            code = fnv1a(code, text[last])
            last += 1
        if code == LINE_END_HASH and is_line_end(text, first, last):
            break
        add_word(features, matrix, text, first, last, code, scratch, total)
        first = last
    entry = find_entry(features, LINE_END, 0, LINE_END.shape[0], LINE_END_HASH)
    if entry < features.words:
        if entry >= 0:
            push_row(features, matrix, entry, scratch, total)
        push_word_ngrams(features, matrix, LINE_END_HASH, scratch, total)
    add_pending(features, matrix, 0, scratch, total)
    count: int = scratch.state[COUNT]
    return count


@inline
def add_word(
    features: Features,
    matrix: Rows,
    text: np.ndarray,
    first: int,
    last: int,
    code: np.uint64,
    scratch: Scratch,
    total: np.ndarray,
) -> None:
    """Add the rows of a word and of the word n-grams that end with it, unless it is a label."""
    if features.max_n == 0 or not add_cached_word(text, first, last, code, scratch, total):
        entry = find_entry(features, text, first, last, code)
        if entry >= features.words or (entry < 0 and has_prefix(text, first, last, features.label_prefix)):
            return
        if features.max_n > 0:
            add_new_word(features, matrix, text, first, last, code, entry, scratch, total)
        elif entry >= 0:
            push_row(features, matrix, entry, scratch, total)
    push_word_ngrams(features, matrix, code, scratch, total)


@inline
def add_cached_word(
    text: np.ndarray, first: int, last: int, code: np.uint64, scratch: Scratch, total: np.ndarray
) -> bool:
    """Add the rows of a word if their sum is cached; returns whether it is."""
    slot = cache_slot(scratch, code)
    key, sums = scratch.keys[slot], scratch.sums[slot]
    if key[KEY_LENGTH] != last - first:
        return False
    for i in range(last - first):
        if key[KEY_WORD + i] != text[first + i]:
            return False
    for d in range(total.shape[0]):
        total[d] += sums[d]
    scratch.state[COUNT] += np.int64(sums[total.shape[0]])
    if key[KEY_USES] < MAX_USES:
        key[KEY_USES] += 1
    return True


@inline
def add_new_word(
    features: Features,
    matrix: Rows,
    text: np.ndarray,
    first: int,
    last: int,
    code: np.uint64,
    entry: int,
    scratch: Scratch,
    total: np.ndarray,
) -> None:
    """Add the rows of a word, or push them; their sum is cached if the word is short and its slot is available."""
    slot, length, dim = cache_slot(scratch, code), last - first, total.shape[0]
    key = scratch.keys[slot]
    if length > KEY_BYTES - KEY_WORD or key[KEY_USES] > 0:
        key[KEY_USES] -= key[KEY_USES] > 0
        push_word(features, matrix, text, first, last, entry, scratch, total)
        return
    if scratch.state[PENDING] > MAX_PENDING // 2:
        add_pending(features, matrix, 0, scratch, total)
    start, before = scratch.state[PENDING], scratch.state[COUNT]
    push_word(features, matrix, text, first, last, entry, scratch, total)
    sums = scratch.sums[slot]
    for d in range(dim):
        sums[d] = 0
    add_pending(features, matrix, start, scratch, sums[:dim])
    sums[dim] = scratch.state[COUNT] - before
    for d in range(dim):
        total[d] += sums[d]
    key[KEY_LENGTH] = length
    for i in range(length):
        key[KEY_WORD + i] = text[first + i]


@noinline
def push_word(
    features: Features,
    matrix: Rows,
    text: np.ndarray,
    first: int,
    last: int,
    entry: int,
    scratch: Scratch,
    total: np.ndarray,
) -> None:
    """Push the row of a word, if it is known, and the rows of its character n-grams."""
    if entry >= 0:
        push_row(features, matrix, entry, scratch, total)
    for begin in range(first - 1, last + 1):
        if first <= begin < last and is_continuation_byte(text[begin]):
            continue
        code, n, j = FNV_BASIS, 0, begin
        while j <= last and n < features.max_n:
            code = fnv1a(code, enclosed_byte(text, first, last, j))
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
def push_bucket(features: Features, matrix: Rows, code: np.uint64, scratch: Scratch, total: np.ndarray) -> None:
    """Push the row of an n-gram with this hash; if buckets have been pruned, push the complement of the bucket."""
    bucket: int = np.int64(code % np.uint64(features.buckets))  # type: ignore[assignment]
    slots = features.bucket_slots.shape[0]
    if slots == 0:
        push_row(features, matrix, features.words + bucket, scratch, total)
        return
    prefetch_l2(address(features.bucket_slots, bucket & (slots - 1)), 1)
    push(features, matrix, ~bucket, scratch, total)


@inline
def push_row(features: Features, matrix: Rows, row: int, scratch: Scratch, total: np.ndarray) -> None:
    """Push a row, and prefetch it."""
    prefetch_row(matrix, row)
    push(features, matrix, row, scratch, total)


@inline
def push(features: Features, matrix: Rows, row: int, scratch: Scratch, total: np.ndarray) -> None:
    """Add a row, or the complement of a bucket, to the pending ones; if they are too many, they are added first."""
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
    if features.bucket_slots.shape[0] > 0:
        stop = find_rows(features, matrix, start, scratch)
    for i in range(start, stop):
        add_row(matrix, scratch.rows[i], total)
    scratch.state[COUNT] += stop - start
    scratch.state[PENDING] = start


@inline
def find_rows(features: Features, matrix: Rows, start: int, scratch: Scratch) -> int:
    """Replace pending buckets by their rows, without those that have been pruned; returns the end of the rows."""
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
    return stop


@inline
def cache_slot(scratch: Scratch, code: np.uint64) -> int:
    """The slot of a word in the cache."""
    slot: int = np.int64(code & np.uint64(scratch.keys.shape[0] - 1))  # type: ignore[assignment]
    return slot


@inline
def enclosed_byte(text: np.ndarray, first: int, last: int, i: int) -> np.uint8:
    """A byte of a word, or of the characters < and > that enclose it."""
    return LESS_THAN if i < first else GREATER_THAN if i == last else text[i]


@inline
def is_space(byte: np.uint8) -> bool:
    """Whether a byte separates words."""
    return bool(byte <= 32 and (byte == 32 or 9 <= byte <= 13 or byte == 0))


@inline
def is_line_end(text: np.ndarray, first: int, last: int) -> bool:
    """Whether a word is `</s>`."""
    return last - first == LINE_END.shape[0] and has_prefix(text, first, last, LINE_END)


@inline
def has_prefix(text: np.ndarray, first: int, last: int, prefix: np.ndarray) -> bool:
    """Whether a word starts with these bytes."""
    if last - first < prefix.shape[0]:
        return False
    i = 0
    while i < prefix.shape[0] and text[first + i] == prefix[i]:
        i += 1
    return bool(i == prefix.shape[0])
