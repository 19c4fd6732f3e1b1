"""The highest of many scores without sorting them. Compiled.

Scores are grouped in chunks. The k-th largest chunk maximum is not above the k-th largest score, so the scores above it
form a short list that holds the k best, and only chunks whose maximum reaches it are read again.
"""

import numpy as np

from embeddings.kernels.jit import entry_point

CHUNK = 64


def shortlist(scores: np.ndarray, top: int, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """For each row of `scores` (queries, n) the columns that may be among its `top` highest, ascending.

    `margin` is the largest error of a difference of scores. Returns how many columns each query has, (queries,), and
    the columns of all queries, concatenated.
    """
    queries, n = scores.shape
    chunk = max(1, min(CHUNK, n // (4 * top)))
    maxima = np.empty((queries, -(-n // chunk)), np.float32)
    chunk_maxima(scores, maxima, chunk)
    last = np.partition(maxima, maxima.shape[1] - top, axis=1)[:, maxima.shape[1] - top]
    thresholds = last - np.float32(margin)
    counts = np.empty(queries, np.int64)
    count_above(scores, maxima, thresholds, chunk, counts)
    columns = np.empty(int(counts.sum()), np.int64)
    list_above(scores, maxima, thresholds, chunk, columns)
    return counts, columns


@entry_point
def chunk_maxima(scores: np.ndarray, maxima: np.ndarray, chunk: int) -> None:
    """The highest score of each chunk."""
    for q in range(scores.shape[0]):
        for c in range(maxima.shape[1]):
            part = scores[q, c * chunk : (c + 1) * chunk]
            highest = part[0]
            for i in range(part.shape[0]):
                highest = max(highest, part[i])
            maxima[q, c] = highest


@entry_point
def count_above(scores: np.ndarray, maxima: np.ndarray, thresholds: np.ndarray, chunk: int, counts: np.ndarray) -> None:
    """How many scores of each row reach its threshold."""
    for q in range(scores.shape[0]):
        counts[q] = 0
        for c in range(maxima.shape[1]):
            if maxima[q, c] >= thresholds[q]:
                part = scores[q, c * chunk : (c + 1) * chunk]
                for i in range(part.shape[0]):
                    counts[q] += part[i] >= thresholds[q]


@entry_point
def list_above(scores: np.ndarray, maxima: np.ndarray, thresholds: np.ndarray, chunk: int, columns: np.ndarray) -> None:
    """List the columns of the scores that reach the threshold of their row, ascending, row by row."""
    n = 0
    for q in range(scores.shape[0]):
        for c in range(maxima.shape[1]):
            if maxima[q, c] >= thresholds[q]:
                part = scores[q, c * chunk : (c + 1) * chunk]
                for i in range(part.shape[0]):
                    if part[i] >= thresholds[q]:
                        columns[n] = c * chunk + i
                        n += 1
