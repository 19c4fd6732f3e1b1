"""Input rows composed from a word's own row and the rows of its n-grams, once per block for each distinct word.

A model trains composed rows like any others. The change of a composed row is then added to every row it is composed of,
not divided by the number of rows, as in fastText.
"""

from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point, inline
from embeddings.kernels.block import FILLED, Block
from embeddings.kernels.integers import larger, smaller
from embeddings.kernels.row_operations import address, copy_row, prefetch, scatter_add, sum_rows
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.step_buffers import StepBuffers, replace_frozen, sink_of

FNV_BASIS, FNV_PRIME, MASK = np.uint64(2166136261), np.uint64(16777619), np.uint64(0xFFFFFFFF)
NEGATIVE, SIGN = np.uint64(0x80), np.uint64(0xFFFFFF00)


@inline
def fnv1a(code: np.uint64, byte: np.uint8) -> np.uint64:
    """The hash after one more byte, sign-extended to 32 bits."""
    wide = np.uint64(byte)
    # fastText hashes `int8_t`: bytes above 127 are negative and fill the upper bits. Its saved models depend on it.
    if wide >= NEGATIVE:
        wide |= SIGN
    return ((code ^ wide) * FNV_PRIME) & MASK


@inline
def is_continuation_byte(byte: np.uint8) -> bool:
    """Whether a byte continues a UTF-8 character."""
    return bool((byte & 0xC0) == 0x80)


@entry_point
def hash_words(text: np.ndarray, starts: np.ndarray, codes: np.ndarray) -> None:
    """Hash each `text[starts[i]:starts[i + 1]]` into `codes`."""
    for i in range(codes.shape[0]):
        code = FNV_BASIS
        for j in range(starts[i], starts[i + 1]):
            code = fnv1a(code, text[j])
        codes[i] = code


@entry_point
def ngram_offsets(text: np.ndarray, starts: np.ndarray, min_n: int, max_n: int, offsets: np.ndarray) -> None:
    """Where the n-grams of each word begin, (words + 1,).

    Words include their boundary characters, which alone are not n-grams; an empty text has no n-grams.
    """
    offsets[0] = 0
    for i in range(offsets.shape[0] - 1):
        letters = 0
        for j in range(starts[i], starts[i + 1]):
            letters += not is_continuation_byte(text[j])
        # The boundary characters < and > alone are no n-grams.
        total = -2 if letters > 0 and min_n <= 1 <= max_n else 0
        for n in range(larger(min_n, 1), smaller(max_n, letters) + 1):
            total += letters - n + 1
        offsets[i + 1] = offsets[i] + total


@entry_point
def hash_ngrams(
    text: np.ndarray, starts: np.ndarray, min_n: int, max_n: int, offsets: np.ndarray, codes: np.ndarray
) -> None:
    """The hashes of all n-grams, in fastText's order: by start, then by length."""
    for i in range(offsets.shape[0] - 1):
        first, last, at = starts[i], starts[i + 1], offsets[i]
        for begin in range(first, last):
            if is_continuation_byte(text[begin]):
                continue
            code, n, j = FNV_BASIS, 0, begin
            while j < last and n < max_n:
                code = fnv1a(code, text[j])
                j += 1
                while j < last and is_continuation_byte(text[j]):
                    code = fnv1a(code, text[j])
                    j += 1
                n += 1
                if n >= min_n and not (n == 1 and (begin == first or j == last)):
                    codes[at] = code
                    at += 1


@entry_point
def add_ngram_rows(output: np.ndarray, table: np.ndarray, offsets: np.ndarray, rows: np.ndarray) -> None:
    """Add to each row i of `output` (words, dim) the rows `rows[offsets[i]:offsets[i + 1]]` of `table`, in order."""
    for i in range(output.shape[0]):
        for k in range(offsets[i], offsets[i + 1]):
            source = table[rows[k]]
            for d in range(output.shape[1]):
                output[i, d] += source[d]


class SubwordTables(NamedTuple):
    """Rows of words (vocabulary, padded dim) and of n-grams (buckets, padded dim).

    Word i is composed of `words[i]` and `ngrams[buckets[offsets[i]:offsets[i + 1]]]`; `offsets` is (vocabulary + 1,).
    """

    words: np.ndarray
    ngrams: np.ndarray
    offsets: np.ndarray
    buckets: np.ndarray


class SubwordCache(NamedTuple):
    """A thread's composed rows of the words in a block.

    rows, before: (size, padded dim) the composed rows, and their values before learning.
    words: (size,) the word of each row; row: (vocabulary,) the row of each word, or -1.
    inputs: (size,) the row of each word of the block.
    parts: addresses of the rows that one word is composed of.
    frozen, sink: (size,) which composed rows are constant, and what absorbs their updates; see `StepBuffers`.
    """

    rows: np.ndarray
    before: np.ndarray
    words: np.ndarray
    row: np.ndarray
    inputs: np.ndarray
    parts: np.ndarray
    frozen: np.ndarray
    sink: np.ndarray


def new_subword_cache(size: int, vocabulary: int, max_parts: int, width: int, dtype: type = np.float32) -> SubwordCache:
    """A cache for blocks of `size` words, each composed of at most `max_parts` rows."""
    rows, before = separate_zeros((size, width), dtype), separate_zeros((size, width), dtype)
    words = np.zeros(size, np.int32)
    row = np.full(vocabulary, -1, np.int32)
    parts, frozen = separate_zeros(max_parts, np.int64), separate_zeros(size, np.bool_)
    return SubwordCache(rows, before, words, row, words.copy(), parts, frozen, sink_of(rows))


@inline
def compose_block(cache: SubwordCache, block: Block, tables: SubwordTables, buffers: StepBuffers) -> int:
    """Compose the rows of a block's words, x = (p_1 + ... + p_m) / m; returns the number of distinct words."""
    count, width = 0, tables.words.shape[1]
    for i in range(block.cursor[FILLED]):
        word = block.words[i]
        # Each distinct word is composed once for the block, and its steps act on that one row.
        if cache.row[word] < 0:
            cache.row[word] = count
            cache.words[count] = word
            count += 1
        cache.inputs[i] = cache.row[word]
    for k in range(count):
        if k + 1 < count:
            prefetch_subwords(cache.words[k + 1], tables)
        m = gather_subwords(cache, cache.words[k], tables)
        cache.rows[k] = 0
        # A word is the mean of its parts (its own row and its n-grams), as in fastText.
        buffers.factor[0] = 1 / m
        sum_rows(buffers.factor, address(cache.rows, k), cache.parts, m, width)
        # To find out at the end of the block by how much the row has changed.
        copy_row(cache.rows, address(cache.before, k), address(cache.rows, k), width)
    return count


@inline
def composed_buffers(cache: SubwordCache, count: int, buffers: StepBuffers) -> StepBuffers:
    """Buffers for steps on composed rows; the rows of frozen words are constant."""
    if buffers.frozen.shape[0] == 0:
        return buffers
    for k in range(count):
        cache.frozen[k] = buffers.frozen[cache.words[k]]
    return replace_frozen(buffers, cache.frozen[:count], cache.sink)


@inline
def backprop_to_subwords(cache: SubwordCache, count: int, tables: SubwordTables, buffers: StepBuffers) -> None:
    """Add the change of each composed row to its parts, p_i += x - x before, and empty the cache."""
    width = tables.words.shape[1]
    for k in range(count):
        if k + 1 < count:
            prefetch_subwords(cache.words[k + 1], tables)
        # Emptied word by word: clearing the whole vocabulary would cost more than the block.
        cache.row[cache.words[k]] = -1
        cache.parts[0] = address(cache.before, k)
        buffers.factor[0] = -1
        sum_rows(buffers.factor, address(cache.rows, k), cache.parts, 1, width)
        m = gather_subwords(cache, cache.words[k], tables)
        buffers.factor[0] = 1
        # Every part gets the whole change. The gradient of a mean would be divided by m; fastText does not divide, and
        # its learning rate is made for that.
        scatter_add(buffers.factor, address(cache.rows, k), cache.parts, m, width)


@inline
def gather_subwords(cache: SubwordCache, word: int, tables: SubwordTables) -> int:
    """Write the addresses of a word's rows into `parts`; returns how many there are."""
    cache.parts[0] = address(tables.words, word)
    begin, end = tables.offsets[word], tables.offsets[word + 1]
    for at in range(begin, end):
        cache.parts[1 + at - begin] = address(tables.ngrams, tables.buckets[at])
    count: int = 1 + end - begin
    return count


@inline
def prefetch_subwords(word: int, tables: SubwordTables) -> None:
    """Prefetch the rows that a word is composed of."""
    size = tables.words.shape[1] * tables.words.itemsize
    prefetch(address(tables.words, word), size)
    for at in range(tables.offsets[word], tables.offsets[word + 1]):
        prefetch(address(tables.ngrams, tables.buckets[at]), size)
