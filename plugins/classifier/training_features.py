"""Prepares the features of labelled texts for training: which rows each text has, and which n-grams have rows.

A text is a list of items. A non-negative item is a row number: first the rows of words, then the rows of n-grams. A
negative item i stands for the corpus type ~i, and so for several rows: the rows of the type's character n-grams and, if
it is in the vocabulary, its own row.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from embeddings.classifier.classifier_settings import ClassifierSettings
from embeddings.classifier.feature_extraction import HIGH_BITS, LINE_END_HASH, SIGN_BIT, WORD_NGRAM_PRIME
from embeddings.compilation.jit import entry_point, inline
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.labelled_texts import IS_SPACE
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import S, SettingError
from embeddings.kernels.integers import smaller
from embeddings.kernels.row_operations import address, prefetch_l2
from embeddings.kernels.separate_arrays import read_only
from embeddings.kernels.subword_rows import hash_words
from embeddings.support.arrow import find_words, pa, string_bytes, to_arrow, to_string_array
from embeddings.support.mapped_files import memory_mapped_zeros
from embeddings.vectors.subwords import LINE_END, bucket_rows, concatenate_bytes, ngram_hashes, to_bytes

NO_ITEM = np.iinfo(np.int32).min  # of a type that has no row
MAX_COUNT = np.iinfo(np.int32).max


class TextSource(NamedTuple):
    """Texts as ids of types.

    Text i is `ids[begins[i]:ends[i]]`; `check_known_words` has refused corpora with unknown words.
    items: int32 (types,), the item of each type, or `NO_ITEM`.
    codes: uint64 (types,), the hashes of types as signed 32-bit numbers; empty without word n-grams.
    line_end: the id of the type `</s>`, which ends a text early; -1 if the corpus has none.
    line_end_item: the item appended to every text.
    word_ngrams: the maximum length of word n-grams. buckets: the number of hash buckets of n-grams.
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


@entry_point
def count_items(source: TextSource, counts: np.ndarray) -> None:
    """Count the items of each text into `counts`, int64 (texts,)."""
    for i in range(counts.shape[0]):
        n_words, n_items = 1, 1  # the end of the text
        for k in range(source.begins[i], source.ends[i]):
            word = source.ids[k]
            if word == source.line_end:
                break
            n_words += 1
            n_items += source.items[word] != NO_ITEM
        # The end of the text is a word of n-grams, as in fastText.
        for length in range(2, smaller(source.word_ngrams, n_words) + 1):
            n_items += n_words - length + 1
        counts[i] = n_items


@entry_point
def write_items(
    source: TextSource, starts: np.ndarray, recent: np.ndarray, first_bucket: int, bucket_counts: np.ndarray,
    items: np.ndarray,
) -> None:  # fmt: skip
    """Write the items of each text: words, then n-grams, each as its bucket plus `first_bucket`.

    Arguments:
        starts: int64 (texts + 1,), where each text begins in `items`.
        recent: uint64 (word_ngrams,), scratch: `recent[j]` is the hash of the n-gram of j + 1 words that ends at the
            current word.
        bucket_counts: int32 (buckets,), increased for each n-gram. The n-grams of a text are counted while the next
            text is written: by then the prefetched counts are in the cache.
    """
    ngrams = 0
    for i in range(starts.shape[0] - 1):
        at, n_words = starts[i], 0
        for k in range(source.begins[i], source.ends[i]):
            word = source.ids[k]
            if word == source.line_end:
                break
            n_words += 1
            if source.items[word] != NO_ITEM:
                items[at] = source.items[word]
                at += 1
        items[at] = source.line_end_item
        at += 1
        count_buckets(items, ngrams, starts[i], first_bucket, bucket_counts)
        ngrams = at
        if source.word_ngrams > 1:
            for k in range(n_words + 1):
                # fastText's hashes are int32, which widen to 64 bits with their sign.
                code = LINE_END_HASH | HIGH_BITS  # as a signed number
                if k < n_words:
                    code = source.codes[source.ids[source.begins[i] + k]]
                # From the longest n-gram down: each is made from the next shorter one that ended at the word before.
                for back in range(smaller(k, source.word_ngrams - 1), 0, -1):
                    recent[back] = recent[back - 1] * WORD_NGRAM_PRIME + code
                    bucket: int = np.int64(recent[back] % np.uint64(source.buckets))  # type: ignore[assignment]
                    prefetch_l2(address(bucket_counts, bucket), 1)
                    items[at] = first_bucket + bucket
                    at += 1
                recent[0] = code
    count_buckets(items, ngrams, starts[starts.shape[0] - 1], first_bucket, bucket_counts)


@inline
def count_buckets(items: np.ndarray, start: int, stop: int, first_bucket: int, counts: np.ndarray) -> None:
    """Count the buckets `items[start:stop] - first_bucket`."""
    for k in range(start, stop):
        bucket = items[k] - first_bucket
        # Saturating, without a branch.
        counts[bucket] += counts[bucket] < MAX_COUNT


@entry_point
def replace_buckets(items: np.ndarray, first_bucket: int, rows: np.ndarray) -> None:
    """Replace each bucket item by its row, `rows` int32 (buckets,); both are offset by the `first_bucket` word rows."""
    for k in range(items.shape[0]):
        if items[k] >= first_bucket:
            items[k] = first_bucket + rows[items[k] - first_bucket]


MAX_MEMORY_BYTES = 1 << 28  # of the items of all texts; more are mapped from a file
LINE_END_WORD = LINE_END.decode()
NO_BUCKETS = np.empty(0, np.int32)


@dataclass(frozen=True)
class TextFeatures:
    """The features of texts; see `Features` for items.

    vocabulary: the words that have rows, with `</s>`, which ends every text.
    items: int32; text i is `items[starts[i]:starts[i + 1]]`, `starts` int64 (texts + 1,).
    subword_starts, subword_rows: int64 (types + 1,) and int32, the rows of each type of the corpus with character
        n-grams; empty without.
    ngram_buckets: int32 (n-grams,), the hash bucket of each n-gram row, most frequent first.
    """

    vocabulary: Vocabulary
    items: np.ndarray
    starts: np.ndarray
    subword_starts: np.ndarray
    subword_rows: np.ndarray
    ngram_buckets: np.ndarray


def text_features(
    settings: ClassifierSettings, encoded: EncodedCorpus, words: Vocabulary, texts: np.ndarray, *, line_ends: int,
    known_buckets: np.ndarray = NO_BUCKETS,
) -> TextFeatures:  # fmt: skip
    """The features of some texts of a corpus.

    Buckets are computed as in fastText; n-grams that do not occur in the corpus get no row. Rows of frequent n-grams
    are next to each other, so that caches hold them.

    Arguments:
        words: the words that get rows.
        texts: int64, the numbers of documents.
        line_ends: the count of `</s>`, which ends every text.
        known_buckets: int32, hash buckets that get a row though they may not occur.
    """
    types = encoded.vocabulary
    vocabulary = add_line_end(words, line_ends)
    rows = find_words(types.column, vocabulary.column, NO_ITEM)
    rows = np.where(rows == vocabulary.index(LINE_END_WORD), np.int32(NO_ITEM), rows)
    buckets = settings.bucket_count
    counts = np.zeros(buckets, np.int32)
    offsets, subwords = np.zeros(1, np.int64), np.empty(0, np.int32)
    items = rows
    if settings.max_n:
        offsets, hashes = ngram_hashes(types.words, settings.min_n, settings.max_n)
        subwords = bucket_rows(hashes, buckets)
        weights = np.repeat(types.counts, np.diff(offsets))
        counts[:] = np.minimum(np.bincount(subwords, weights, buckets), MAX_COUNT)
        items = np.where(np.diff(offsets) > 0, ~np.arange(len(types), dtype=np.int32), rows)
    source = text_source(settings, encoded, vocabulary, items, texts)
    starts = np.zeros(len(texts) + 1, np.int64)
    count_items(source, starts[1:])
    np.cumsum(starts, out=starts)
    count = int(starts[-1])
    written: np.ndarray
    if 4 * count <= MAX_MEMORY_BYTES:
        written = np.empty(count, np.int32)
    else:
        written = memory_mapped_zeros(count, 1, np.int32, "items of texts")[:, 0]
    write_items(source, starts, np.zeros(settings.word_ngrams, np.uint64), len(vocabulary), counts, written)
    counts[known_buckets] = np.maximum(counts[known_buckets], 1)
    used = np.flatnonzero(counts)  # sorted roughly by frequency, as numpy sorts 16-bit keys by radix sort
    keys = (65535 - np.minimum(counts[used], 65535)).astype(np.uint16)
    ngram_buckets = used[np.argsort(keys, kind="stable")].astype(np.int32)
    row_of_bucket = np.full(buckets, -1, np.int32)
    row_of_bucket[ngram_buckets] = np.arange(len(ngram_buckets), dtype=np.int32)
    replace_buckets(written, len(vocabulary), row_of_bucket)
    if settings.max_n:  # the rows of each type, with its own row first if it has one
        known, subwords = rows != NO_ITEM, len(vocabulary) + row_of_bucket[subwords]
        subwords = np.insert(subwords, offsets[:-1][known], rows[known]).astype(np.int32)
        offsets = offsets + np.append(0, np.cumsum(known))
    arrays = map(read_only, (written, starts, offsets, subwords, ngram_buckets))
    return TextFeatures(vocabulary, *arrays)


def add_line_end(words: Vocabulary, texts: int) -> Vocabulary:
    """The words with `</s>`, which occurs once in each text."""
    old_row = words.word_list.find(LINE_END_WORD)
    keep = np.delete(np.arange(len(words)), [] if old_row is None else [old_row])
    counts = words.counts[keep]
    row = int(np.searchsorted(-counts, -texts))
    column = to_string_array(words.column).take(to_arrow(keep))
    parts = [column[:row], to_string_array([LINE_END_WORD]), column[row:]]
    total = words.total + texts - (0 if old_row is None else int(words.counts[old_row]))
    return Vocabulary(pa.concat_arrays(parts), np.insert(counts, row, texts), total=total)


def text_source(
    settings: ClassifierSettings, encoded: EncodedCorpus, vocabulary: Vocabulary, items: np.ndarray, texts: np.ndarray
) -> TextSource:
    """These texts of a corpus, with the item of each type."""
    types, borders = encoded.vocabulary, np.asarray(encoded.sentences)[np.asarray(encoded.documents)]
    line_end = types.word_list.find(LINE_END_WORD)
    codes = np.empty(0, np.uint64)
    if settings.word_ngrams > 1:
        codes = np.empty(len(types), np.uint64)
        hash_words(*concatenate_bytes(list(map(to_bytes, types.words))), codes)
        codes[(codes & SIGN_BIT) > 0] |= HIGH_BITS
    return TextSource(
        ids=np.asarray(encoded.ids),
        begins=borders[texts],
        ends=borders[texts + 1],
        items=items,
        codes=codes,
        line_end=-1 if line_end is None else line_end,
        line_end_item=vocabulary.index(LINE_END_WORD),
        word_ngrams=settings.word_ngrams,
        buckets=max(settings.bucket_count, 1),
    )


def check_known_words(encoded: EncodedCorpus) -> None:
    """Refuse a corpus that lacks the spelling of words, or whose words could not be found again in joined text."""
    text, starts = string_bytes(encoded.vocabulary.column)
    spaces = np.flatnonzero(IS_SPACE[text])
    requirement = ""
    if len(spaces):
        word = encoded.vocabulary.words[int(np.searchsorted(starts, spaces[0], side="right")) - 1]
        requirement = f"words without white space and NUL, got {word!r:.80}: use another tokenizer"
    elif encoded.meta["fixed_vocabulary"] or encoded.max_undercount:
        requirement = f"all words of the text: remove {S.vocabulary} and {S.max_types}"
    elif encoded.phrases is not None:
        requirement = f"words in place of phrases: remove these, and use {S.word_ngrams}"
    if requirement:
        raise SettingError(f"the classifier requires {requirement}")
