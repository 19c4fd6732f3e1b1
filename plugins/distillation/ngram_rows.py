"""Rows of character n-grams, learned so that their means reproduce the directions of given word vectors. Compiled."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embeddings.compilation.jit import entry_point
from embeddings.kernels.row_operations import padded
from embeddings.models.model import Model
from embeddings.models.subwords import SubwordVectors, Word, composer

EPOCHS = 5
RATE = 0.5
NGRAMS = "character_ngrams"
WEIGHT = 1.25  # of unknown words: their norm, divided by that of rare words


@entry_point
def learn_ngram_rows(
    targets: np.ndarray, order: np.ndarray, offsets: np.ndarray, buckets: np.ndarray, ngrams: np.ndarray,
    error: np.ndarray, rate: float,
) -> None:  # fmt: skip
    """For each word move its n-gram rows by rate (v - m): v is its target, m the mean of its n-gram rows (Kaczmarz)."""
    for word in order:
        begin, end = offsets[word], offsets[word + 1]
        if begin == end:
            continue
        share, target = error.dtype.type(1) / error.dtype.type(end - begin), targets[word]
        for d in range(error.shape[0]):
            error[d] = 0
        for at in range(begin, end):
            row = ngrams[buckets[at]]
            for d in range(error.shape[0]):
                error[d] += row[d]
        step = error.dtype.type(rate)
        for d in range(error.shape[0]):
            error[d] = step * (target[d] - share * error[d])
        for at in range(begin, end):
            row = ngrams[buckets[at]]
            for d in range(error.shape[0]):
                row[d] += error[d]


def fit_ngram_rows(
    vectors: NDArray[np.float32], offsets: NDArray[np.int64], buckets: NDArray[np.int32], rows: int, seed: int
) -> NDArray[np.float32]:
    """N-gram rows, (rows, dim), whose means have about the directions of the vectors of words; zeros are left out.

    All words have the same norm, the median norm of the rarer half: an unknown word weighs as much as a rare one.

    Arguments:
        vectors: (words, dim), most frequent first. offsets, buckets: as those of `embeddings.models.subwords.subwords`.
    """
    norms, dim = np.linalg.norm(vectors, axis=1), vectors.shape[1]
    given, norm = np.flatnonzero(norms), rare_norm(norms)
    targets = np.zeros((len(vectors), padded(dim)), np.float32)
    np.divide(vectors * norm, norms[:, None], out=targets[:, :dim], where=norms[:, None] > 0)
    ngrams, error = np.zeros((rows, targets.shape[1]), np.float32), np.zeros(targets.shape[1], np.float32)
    random = np.random.default_rng(seed)
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS)
        learn_ngram_rows(targets, random.permutation(given), offsets, buckets, ngrams, error, rate)
    return np.ascontiguousarray(ngrams[:, :dim])


def rare_norm(norms: NDArray[np.float32]) -> np.float32:
    """The median norm of the rarer half of the words that have vectors, most frequent first."""
    given = norms[norms > 0]
    return np.float32(np.median(given[len(given) // 2 :]))


@dataclass(frozen=True)
class DirectionComposer(SubwordVectors):
    """Composes word vectors of one norm from n-gram rows; the means of rows that are not fitted are too short."""

    norm: np.float32

    def __call__(self, words: Sequence[Word]) -> NDArray[np.float32]:
        """The vectors of words outside the vocabulary, (words, dim) float32; zeros for words without n-grams."""
        vectors = super().__call__(words)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors *= np.divide(self.norm, norms, out=np.zeros_like(norms), where=norms > 0)
        return vectors


def new_composer(model: Model) -> DirectionComposer:
    """The composer of a distilled model."""
    subwords, norms = composer(model, NGRAMS), np.linalg.norm(model.vectors.matrix, axis=1)
    return DirectionComposer(subwords.ngrams, subwords.min_n, subwords.max_n, np.float32(WEIGHT) * rare_norm(norms))
