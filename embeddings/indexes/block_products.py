"""Products of all rows with queries: a matrix product for many of them, row by row for a few."""

import os

import numpy as np

from embeddings.kernels.jit import hot
from embeddings.support.system import available_threads

FEW = 8  # queries for which BLAS, which copies all rows into another order first, is slower than one by one
LIMITS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


def products(units: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The products (queries, rows) of unit rows with `queries` (queries, dim), both float32."""
    if len(queries) > FEW:
        return np.asarray(queries @ units.T)
    scores = np.empty((len(queries), len(units)), np.float32)
    for query, goal in zip(queries, scores, strict=True):
        if one_thread():
            multiply(units, query, goal)
        else:
            np.matmul(units, query, out=goal)
    return scores


def one_thread() -> bool:
    """Whether BLAS has one thread only: its matrix-vector product is then slower than the kernel below."""
    return available_threads() == 1 or any(os.environ.get(name) == "1" for name in LIMITS)


@hot
def multiply(units: np.ndarray, query: np.ndarray, scores: np.ndarray) -> None:
    """The product of each row with one query."""
    for i in range(scores.shape[0]):
        row, total = units[i], np.float32(0)
        for d in range(row.shape[0]):
            total += row[d] * query[d]
        scores[i] = total
