"""The best few of what was looked at, in order: compiled pieces that index kernels share.

A list is two rows, ids and similarities: a heap with the worst first, until it is put in order. A tie goes to the
lower id.
"""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.jit import aside, piece
from embeddings.kernels.row_operations import address, prefetch

AHEAD = 8  # rows asked for before they are needed


class Lists(NamedTuple):
    """A list for each query, as `protocol.Found` describes them."""

    ids: np.ndarray
    similarities: np.ndarray
    looked: np.ndarray


def new_lists(queries: int, top: int) -> Lists:
    """Room for what so many searches find."""
    shape = (queries, top)
    return Lists(np.empty(shape, np.int64), np.empty(shape), np.empty(queries, np.int64))


def part_of(lists: Lists, part: slice) -> Lists:
    """The lists of some of the queries, to be written on."""
    return Lists(*(array[part] for array in lists))


@piece
def clear(ids: np.ndarray, similarities: np.ndarray) -> None:
    """Start a list: nothing found."""
    for i in range(ids.shape[0]):
        ids[i] = -1
        similarities[i] = -np.inf


@piece
def insert(ids: np.ndarray, similarities: np.ndarray, row: int, similarity: float) -> None:
    """Put a row in the place of the worst, if it is better."""
    if better(similarity, row, similarities[0], ids[0]):
        sift(ids, similarities, ids.shape[0], row, similarity)


@piece
def sift(ids: np.ndarray, similarities: np.ndarray, size: int, row: int, similarity: float) -> None:
    """Put a row into the first `size` places of a heap, of which the first is free."""
    at, child = 0, 1
    while child < size:
        if child + 1 < size and better(similarities[child], ids[child], similarities[child + 1], ids[child + 1]):
            child += 1
        if better(similarities[child], ids[child], similarity, row):
            break
        ids[at], similarities[at] = ids[child], similarities[child]
        at, child = child, 2 * child + 1
    ids[at], similarities[at] = row, similarity


@piece
def finish(ids: np.ndarray, similarities: np.ndarray) -> None:
    """Put a list in order, the best first: the worst of those left goes to the last free place."""
    for size in range(ids.shape[0] - 1, 0, -1):
        row, similarity = ids[size], similarities[size]
        ids[size], similarities[size] = ids[0], similarities[0]
        sift(ids, similarities, size, row, similarity)


@piece
def better(similarity: float, row: int, other: float, its_row: int) -> bool:
    """Whether a row goes before another."""
    return similarity > other or (similarity == other and (row < its_row or its_row < 0))


@piece
def cosine(row: np.ndarray, query: np.ndarray) -> float:
    """The cosine of two unit rows, in float64."""
    total = 0.0
    for d in range(row.shape[0]):
        total += np.float64(row[d]) * query[d]
    return min(1.0, max(-1.0, total))


@aside
def rank_exactly(
    units: np.ndarray, query: np.ndarray, rows: np.ndarray, ids: np.ndarray, similarities: np.ndarray
) -> None:
    """The best of `rows` by their cosines with a query (dim,) float64."""
    clear(ids, similarities)
    for i in range(rows.shape[0]):
        if i + AHEAD < rows.shape[0]:  # rows lie anywhere, and memory is slow to answer
            prefetch(address(units, np.int64(rows[i + AHEAD])), 4 * query.shape[0])
        insert(ids, similarities, rows[i], cosine(units[rows[i]], query))
    finish(ids, similarities)
