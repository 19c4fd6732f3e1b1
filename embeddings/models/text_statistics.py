"""Frequencies of words in texts, and the texts from which statistics are learned."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from embeddings.corpora.reading.text_stream import TextBatch
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.models.text_encoder import EncodedTexts
from embeddings.vectors.vectors import Vectors

MAX_TEXTS, MAX_BYTES = 1 << 15, 1 << 25  # of texts from which statistics are learned


@dataclass(frozen=True)
class TextFrequencies:
    """The occurrences of each word, the number of texts with it, and the number of texts."""

    words: Vocabulary
    texts_of_words: Vocabulary
    texts: int


def count_words(texts: list[EncodedTexts], vectors: Vectors) -> TextFrequencies:
    """Count the words that have vectors, in texts that one encoder has encoded."""
    size = len(vectors) + max((len(one.composed) for one in texts), default=0)
    occurrences, in_texts = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for one in texts:
        ids, counts = one.rows.ids, one.rows.counts
        occurrences += np.bincount(ids, minlength=size)
        pairs = np.unique(np.repeat(np.arange(len(counts)), counts) * size + ids)
        in_texts += np.bincount(pairs % size, minlength=size)
    used = np.flatnonzero(occurrences).tolist()
    composed = texts[-1].composed_words if texts else []
    words = [vectors.words[row] if row < len(vectors) else composed[row - len(vectors)] for row in used]
    total = int(sum(one.n_words.sum() for one in texts))
    return TextFrequencies(
        merged_vocabulary(words, occurrences[used].tolist(), total),
        merged_vocabulary(words, in_texts[used].tolist()),
        sum(len(one.rows) for one in texts),
    )


def merged_vocabulary(words: list[str], counts: list[int], total: int | None = None) -> Vocabulary:
    """The vocabulary of words, of which composed ones may occur twice."""
    merged: dict[str, int] = {}
    for word, count in zip(words, counts, strict=True):
        merged[word] = merged.get(word, 0) + count
    return Vocabulary.from_counts(merged, total=total)


def first_texts(batches: Iterator[TextBatch]) -> tuple[list[TextBatch], list[TextBatch]]:
    """The first 32,768 texts of batches, or the first texts up to 32 MiB, and the batches that were read for that."""
    sample: list[TextBatch] = []
    read: list[TextBatch] = []
    texts = size = 0
    for batch in batches:
        read.append(batch)
        fitting = int(np.searchsorted(np.cumsum(batch.sizes) + size, MAX_BYTES, side="right"))
        if not sample:
            fitting = max(fitting, 1)
        part = batch.first(min(fitting, MAX_TEXTS - texts, len(batch)))
        sample.append(part)
        texts, size = texts + len(part), size + int(part.sizes.sum())
        if len(part) < len(batch) or texts == MAX_TEXTS:
            break
    return sample, read
