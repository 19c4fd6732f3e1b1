"""Which of many scores are the highest, without sorting them: compiled.

Scores are looked through in chunks. The k-th largest of the chunks' own largest is not above the k-th largest of
all, so what lies above it is a short list that holds the k best, and only the chunks that reach it are read again.
"""

import numpy as np

from embeddings.kernels.jit import hot

CHUNK = 64


def shortlist(scores: np.ndarray, top: int, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """For each row of `scores` (queries, n) the columns that may be among its `top` highest, ascending.

    A column may be if a true score within `margin` of its own would do. Gives how many there are, (queries,), and
    the columns of all queries one after another.
    """
    queries, n = scores.shape
    chunk = max(1, min(CHUNK, n // (4 * top)))
    highest = np.empty((queries, -(-n // chunk)), np.float32)
    chunk_maxima(scores, highest, chunk)
    last = np.partition(highest, highest.shape[1] - top, axis=1)[:, highest.shape[1] - top]
    least = last - np.float32(margin)
    counts = np.empty(queries, np.int64)
    count_above(scores, highest, least, chunk, counts)
    columns = np.empty(int(counts.sum()), np.int64)
    list_above(scores, highest, least, chunk, columns)
    return counts, columns


@hot
def chunk_maxima(scores: np.ndarray, highest: np.ndarray, chunk: int) -> None:
    """The highest score of each chunk."""
    for q in range(scores.shape[0]):
        for c in range(highest.shape[1]):
            part = scores[q, c * chunk : (c + 1) * chunk]
            most = part[0]
            for i in range(part.shape[0]):
                most = max(most, part[i])
            highest[q, c] = most


@hot
def count_above(scores: np.ndarray, highest: np.ndarray, least: np.ndarray, chunk: int, counts: np.ndarray) -> None:
    """How many scores of each row are not below its `least`."""
    for q in range(scores.shape[0]):
        counts[q] = 0
        for c in range(highest.shape[1]):
            if highest[q, c] >= least[q]:
                part = scores[q, c * chunk : (c + 1) * chunk]
                for i in range(part.shape[0]):
                    counts[q] += part[i] >= least[q]


@hot
def list_above(scores: np.ndarray, highest: np.ndarray, least: np.ndarray, chunk: int, columns: np.ndarray) -> None:
    """Their columns, ascending, row after row."""
    at = 0
    for q in range(scores.shape[0]):
        for c in range(highest.shape[1]):
            if highest[q, c] >= least[q]:
                part = scores[q, c * chunk : (c + 1) * chunk]
                for i in range(part.shape[0]):
                    if part[i] >= least[q]:
                        columns[at] = c * chunk + i
                        at += 1
