"""Products of all rows with queries: a matrix product for many queries, row by row for a few."""

import os

import numpy as np

from embeddings.kernels.jit import entry_point
from embeddings.support.system import available_threads

FEW_QUERIES = 8  # up to this number a product per query is faster: BLAS first copies all rows into another layout
THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


def products(units: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The products (queries, rows) of unit rows with `queries` (queries, dim), both float32."""
    if len(queries) > FEW_QUERIES:
        return np.asarray(queries @ units.T)
    scores = np.empty((len(queries), len(units)), np.float32)
    for query, row in zip(queries, scores, strict=True):
        if is_single_threaded():
            multiply(units, query, row)
        else:
            np.matmul(units, query, out=row)
    return scores


def is_single_threaded() -> bool:
    """Whether BLAS has only one thread: its matrix-vector product is then slower than the kernel below."""
    return available_threads() == 1 or any(os.environ.get(name) == "1" for name in THREAD_VARIABLES)


@entry_point
def multiply(units: np.ndarray, query: np.ndarray, scores: np.ndarray) -> None:
    """The product of each row with one query."""
    for i in range(scores.shape[0]):
        row, total = units[i], np.float32(0)
        for d in range(row.shape[0]):
            total += row[d] * query[d]
        scores[i] = total
