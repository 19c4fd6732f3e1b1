"""The features of texts: words, their character n-grams, and word n-grams, as rows of the input matrix. Compiled.

A text is a list of items. An item that is not negative is a row: of a word, or behind these of an n-gram. The
complement of an item that is negative is the number of a type of the corpus, which stands for several rows: those of
its character n-grams and, if it is in the vocabulary, its own.
"""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.integers import smaller
from embeddings.kernels.jit import entry_point, inline
from embeddings.kernels.row_operations import address, prefetch_l2
from embeddings.kernels.text_features import HIGH_BITS, LINE_END_HASH, SIGN_BIT, WORD_NGRAM_PRIME

NO_ITEM = np.iinfo(np.int32).min  # of a type that has no row
MAX_COUNT = np.iinfo(np.int32).max


class TextSource(NamedTuple):
    """Texts as ids of types.

    Text i is `ids[begins[i]:ends[i]]`; an id that is not below the number of types stands for an unknown word.
    items: int32 (types,), the item of each type, or `NO_ITEM`.
    codes: uint64 (types,), their hashes as signed 32-bit numbers; empty without word n-grams.
    line_end, line_end_item: the type `</s>`, at which a text ends, -1 if there is none; and the item of the one that
        ends every text.
    word_ngrams: the maximum length of word n-grams. buckets: their number of hash buckets.
    """

    ids: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    items: np.ndarray
    codes: np.ndarray
    line_end: int
    line_end_item: int
    word_ngrams: int
    buckets: int


@inline
def signed_code(code: np.uint64) -> np.uint64:
    """A 32-bit hash, sign-extended to 64 bits."""
    return code | HIGH_BITS if code & SIGN_BIT else code


@entry_point
def count_items(source: TextSource, counts: np.ndarray) -> None:
    """Count the items of each text into `counts`, int64 (texts,)."""
    for i in range(counts.shape[0]):
        words, items = 1, 1  # the end of the text
        for k in range(source.begins[i], source.ends[i]):
            word = source.ids[k]
            if word == source.line_end:
                break
            words += 1
            items += word < source.items.shape[0] and source.items[word] != NO_ITEM
        for length in range(2, smaller(source.word_ngrams, words) + 1):
            items += words - length + 1
        counts[i] = items


@entry_point
def write_items(
    source: TextSource, starts: np.ndarray, recent: np.ndarray, first_bucket: int, counts: np.ndarray, items: np.ndarray
) -> None:
    """Write the items of each text: words, then n-grams, each as its bucket plus `first_bucket`.

    Arguments:
        starts: int64 (texts + 1,), where each text begins in `items`.
        recent: uint64 (word_ngrams,), scratch: the hashes of n-grams that start 0, 1, ... words before the last word.
        counts: int32 (buckets,), increased for each n-gram, a text later, when the prefetched counts are in cache.
    """
    ngrams = 0
    for i in range(starts.shape[0] - 1):
        at, words = starts[i], 0
        for k in range(source.begins[i], source.ends[i]):
            word = source.ids[k]
            if word == source.line_end:
                break
            words += 1
            if word < source.items.shape[0] and source.items[word] != NO_ITEM:
                items[at] = source.items[word]
                at += 1
        items[at] = source.line_end_item
        at += 1
        count_buckets(items, ngrams, starts[i], first_bucket, counts)
        ngrams = at
        if source.word_ngrams > 1:
            for k in range(words + 1):
                code = signed_code(LINE_END_HASH)
                if k < words:
                    code = source.codes[source.ids[source.begins[i] + k]]
                for back in range(smaller(k, source.word_ngrams - 1), 0, -1):
                    recent[back] = recent[back - 1] * WORD_NGRAM_PRIME + code
                    bucket: int = np.int64(recent[back] % np.uint64(source.buckets))  # type: ignore[assignment]
                    prefetch_l2(address(counts, bucket), 1)
                    items[at] = first_bucket + bucket
                    at += 1
                recent[0] = code
    count_buckets(items, ngrams, starts[starts.shape[0] - 1], first_bucket, counts)


@inline
def count_buckets(items: np.ndarray, start: int, stop: int, first_bucket: int, counts: np.ndarray) -> None:
    """Count the buckets `items[start:stop] - first_bucket`."""
    for k in range(start, stop):
        bucket = items[k] - first_bucket
        counts[bucket] += counts[bucket] < MAX_COUNT


@entry_point
def count_subwords(offsets: np.ndarray, buckets: np.ndarray, word_counts: np.ndarray, counts: np.ndarray) -> None:
    """Add the count of each word to the counts of its buckets, `buckets[offsets[i]:offsets[i + 1]]`."""
    for i in range(word_counts.shape[0]):
        for k in range(offsets[i], offsets[i + 1]):
            bucket = buckets[k]
            counts[bucket] = smaller(np.int64(counts[bucket]) + word_counts[i], MAX_COUNT)


@entry_point
def replace_buckets(items: np.ndarray, first_bucket: int, rows: np.ndarray) -> None:
    """Replace each bucket by its row, int32 (buckets,); both come behind `first_bucket` rows of words."""
    for k in range(items.shape[0]):
        if items[k] >= first_bucket:
            items[k] = first_bucket + rows[items[k] - first_bucket]
