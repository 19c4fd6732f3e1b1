"""The best rows of a search, kept in a heap with the worst first and sorted at the end. Compiled.

A result is two rows, ids and similarities. A tie goes to the lower id.
"""

import numpy as np

from embeddings.compilation.jit import inline, noinline
from embeddings.kernels.row_operations import address, prefetch

PREFETCH_DISTANCE = 8  # rows


@inline
def clear(ids: np.ndarray, similarities: np.ndarray) -> None:
    """Start with an empty result."""
    for i in range(ids.shape[0]):
        ids[i] = -1
        similarities[i] = -np.inf


@inline
def insert(ids: np.ndarray, similarities: np.ndarray, row: int, similarity: float) -> None:
    """Replace the worst row by this one, if it is better."""
    if is_better(similarity, row, similarities[0], ids[0]):
        sift_down(ids, similarities, ids.shape[0], row, similarity)


@inline
def sift_down(ids: np.ndarray, similarities: np.ndarray, size: int, row: int, similarity: float) -> None:
    """Put a row into the first `size` slots of a heap whose first slot is free."""
    slot, child = 0, 1
    while child < size:
        if child + 1 < size and is_better(similarities[child], ids[child], similarities[child + 1], ids[child + 1]):
            child += 1
        if is_better(similarities[child], ids[child], similarity, row):
            break
        ids[slot], similarities[slot] = ids[child], similarities[child]
        slot, child = child, 2 * child + 1
    ids[slot], similarities[slot] = row, similarity


@inline
def sort(ids: np.ndarray, similarities: np.ndarray) -> None:
    """Sort a heap, best first: the worst of the rest goes to the last free slot."""
    for size in range(ids.shape[0] - 1, 0, -1):
        row, similarity = ids[size], similarities[size]
        ids[size], similarities[size] = ids[0], similarities[0]
        sift_down(ids, similarities, size, row, similarity)


@inline
def is_better(similarity: float, row: int, other_similarity: float, other_row: int) -> bool:
    """Whether a row ranks before another."""
    return similarity > other_similarity or (similarity == other_similarity and (row < other_row or other_row < 0))


@inline
def cosine(row: np.ndarray, query: np.ndarray) -> float:
    """The cosine of two unit rows, in float64."""
    total = 0.0
    for d in range(row.shape[0]):
        total += np.float64(row[d]) * query[d]
    return min(1.0, max(-1.0, total))


@noinline
def rank_exactly(
    units: np.ndarray, query: np.ndarray, rows: np.ndarray, ids: np.ndarray, similarities: np.ndarray
) -> None:
    """The best of `rows` by their cosines with a query (dim,) float64."""
    clear(ids, similarities)
    for i in range(rows.shape[0]):
        if i + PREFETCH_DISTANCE < rows.shape[0]:  # rows are scattered in memory
            prefetch(address(units, np.int64(rows[i + PREFETCH_DISTANCE])), 4 * query.shape[0])
        insert(ids, similarities, rows[i], cosine(units[rows[i]], query))
    sort(ids, similarities)
