"""The rows of texts in a classifier, as in fastText: words, their character n-grams and word n-grams, hashed. Compiled.

The word `</s>` ends every text; what follows it in the text is ignored. Words are split, looked up and added in turns
of many words, so that memory is read ahead.
"""

import numpy as np

from embeddings.kernels.feature_slots import Features, entry_number, find_entry, hash_bytes
from embeddings.kernels.integers import smaller
from embeddings.kernels.jit import entry_point, inline, noinline
from embeddings.kernels.matrix_rows import Rows
from embeddings.kernels.pending_rows import (
    COUNT,
    MAX_PENDING,
    PENDING,
    SPLIT,
    WORDS,
    Scratch,
    add_pending,
    push_bucket,
    push_row,
)
from embeddings.kernels.row_operations import address, prefetch_l2
from embeddings.kernels.subword_ngrams import FNV_BASIS, fnv1a, is_continuation_byte
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
        counts[i] = sum_text(features, matrix, text, starts[i], starts[i + 1], scratch, sums[i])


@inline
def sum_text(
    features: Features, matrix: Rows, text: np.ndarray, start: int, stop: int, scratch: Scratch, total: np.ndarray
) -> int:
    """Add the rows of one text to `total`; returns their number."""
    scratch.state[PENDING], scratch.state[COUNT], scratch.state[WORDS] = 0, 0, 0
    at = start
    while at < stop:
        at = split_words(features, text, at, stop, scratch)
        for i in range(scratch.state[SPLIT]):
            add_word(features, matrix, text, scratch.spans[i, 0], scratch.spans[i, 1], scratch.words[i], scratch, total)
    entry = entry_number(find_entry(features, LINE_END, 0, LINE_END.shape[0], LINE_END_KEY))
    if entry < features.words:
        if entry >= 0:
            push_row(features, matrix, entry, scratch, total)
        push_word_ngrams(features, matrix, LINE_END_HASH, scratch, total)
    add_pending(features, matrix, 0, scratch, total)
    count: int = scratch.state[COUNT]
    return count


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
def add_word(
    features: Features,
    matrix: Rows,
    text: np.ndarray,
    first: int,
    last: int,
    key: np.uint64,
    scratch: Scratch,
    total: np.ndarray,
) -> None:
    """Add the rows of a word and of the word n-grams that end with it, unless it is a label."""
    if features.max_n > 0 and add_cached_word(text, first, last, key, scratch, total):
        code = scratch.keys[slot_number(key, scratch.keys.shape[0]), KEY_CODE]
    else:
        found = find_entry(features, text, first, last, key)
        entry = entry_number(found)
        if entry >= features.words or (entry < 0 and has_prefix(text, first, last, features.label_prefix)):
            return
        code = found >> HALF
        if entry < 0 and features.word_ngrams > 1:
            code = unknown_code(text, first, last, key, scratch)
        if features.max_n > 0:
            add_new_word(features, matrix, text, first, last, key, code, entry, scratch, total)
        elif entry >= 0:
            push_row(features, matrix, entry, scratch, total)
    push_word_ngrams(features, matrix, code, scratch, total)


@inline
def unknown_code(text: np.ndarray, first: int, last: int, key: np.uint64, scratch: Scratch) -> np.uint64:
    """The hash of a word that is not in the dictionary, such as a frequent one that pruning has removed."""
    codes = scratch.codes[slot_number(key, scratch.codes.shape[0])]
    if last - first > WORD_BYTES:
        return hash_bytes(text, first, last)
    if codes[0] != key:
        codes[0], codes[1] = key, hash_bytes(text, first, last)
    return np.uint64(codes[1])


@inline
def add_cached_word(
    text: np.ndarray, first: int, last: int, key: np.uint64, scratch: Scratch, total: np.ndarray
) -> bool:
    """Add the rows of a word if their sum is cached; returns whether it is."""
    slot, length = slot_number(key, scratch.keys.shape[0]), last - first
    keys, sums = scratch.keys[slot], scratch.sums[slot]
    if keys[KEY_WORD] != key or keys[KEY_LENGTH] != np.uint64(length):
        return False
    if length > WORD_BYTES and not equal_bytes(scratch.texts[slot], 0, text, first, length):
        return False
    for d in range(total.shape[0]):
        total[d] += sums[d]
    scratch.state[COUNT] += np.int64(sums[total.shape[0]])
    if keys[KEY_USES] < MAX_USES:
        keys[KEY_USES] += ONE
    return True


@noinline
def add_new_word(
    features: Features,
    matrix: Rows,
    text: np.ndarray,
    first: int,
    last: int,
    key: np.uint64,
    code: np.uint64,
    entry: int,
    scratch: Scratch,
    total: np.ndarray,
) -> None:
    """Add the rows of a word, or push them; their sum is cached if the word is short and its slot is available."""
    slot, length, dim = slot_number(key, scratch.keys.shape[0]), last - first, total.shape[0]
    keys = scratch.keys[slot]
    if length > MAX_CACHED or keys[KEY_USES] > 0:
        if keys[KEY_USES] > 0:
            keys[KEY_USES] -= ONE
        push_word(features, matrix, text, first, last, entry, scratch, total)
        return
    if scratch.state[PENDING] > MAX_PENDING // 2:
        add_pending(features, matrix, 0, scratch, total)
    start, before = scratch.state[PENDING], scratch.state[COUNT]
    keys[KEY_LENGTH] = np.uint64(0)  # until the sum is complete
    push_word(features, matrix, text, first, last, entry, scratch, total)
    sums = scratch.sums[slot]
    for d in range(dim):
        sums[d] = 0
    add_pending(features, matrix, start, scratch, sums[:dim])
    sums[dim] = scratch.state[COUNT] - before
    for d in range(dim):
        total[d] += sums[d]
    keys[KEY_WORD], keys[KEY_LENGTH], keys[KEY_CODE] = key, np.uint64(length), code
    for i in range(length):
        scratch.texts[slot, i] = text[first + i]


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
def enclosed_byte(text: np.ndarray, first: int, last: int, i: int) -> np.uint8:
    """A byte of a word, or of the characters < and > that enclose it."""
    return LESS_THAN if i < first else GREATER_THAN if i == last else text[i]


@inline
def has_prefix(text: np.ndarray, first: int, last: int, prefix: np.ndarray) -> bool:
    """Whether a word starts with these bytes."""
    if last - first < prefix.shape[0]:
        return False
    i = 0
    while i < prefix.shape[0] and text[first + i] == prefix[i]:
        i += 1
    return bool(i == prefix.shape[0])
