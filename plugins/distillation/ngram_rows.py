"""Rows of character n-grams, learned so that their means reproduce the directions of given word vectors. Compiled."""

import numpy as np
from numpy.typing import NDArray

from embeddings.compilation.jit import entry_point
from embeddings.kernels.row_operations import padded

EPOCHS = 5
RATE = 0.5


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
    given = np.flatnonzero(norms)
    norm = np.float32(np.median(norms[given[len(given) // 2 :]]))
    targets = np.zeros((len(vectors), padded(dim)), np.float32)
    np.divide(vectors * norm, norms[:, None], out=targets[:, :dim], where=norms[:, None] > 0)
    ngrams, error = np.zeros((rows, targets.shape[1]), np.float32), np.zeros(targets.shape[1], np.float32)
    random = np.random.default_rng(seed)
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS)
        learn_ngram_rows(targets, random.permutation(given), offsets, buckets, ngrams, error, rate)
    return np.ascontiguousarray(ngrams[:, :dim])
