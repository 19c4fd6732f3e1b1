"""Adds rows of dense and of quantised matrices. Compiled."""

import numpy as np

from embeddings.kernels.integers import smaller
from embeddings.kernels.jit import dispatched, entry_point, implements, inline
from embeddings.kernels.matrix_rows import CENTROIDS, DenseRows, QuantisedRows, Rows
from embeddings.kernels.row_operations import add_table_rows

TILE = 128  # quantised rows at a time, so that their codes stay in the first cache


@dispatched
def add_rows(matrix: Rows, rows: np.ndarray, start: int, stop: int, total: np.ndarray) -> None:
    """Add the rows `rows[start:stop]`, int64, to `total`, float32 (dim,)."""


@implements(DenseRows)
@inline
def add_dense_rows(matrix: DenseRows, rows: np.ndarray, start: int, stop: int, total: np.ndarray) -> None:
    """Add rows of a dense matrix."""
    add_table_rows(matrix.table, total, rows, start, stop, matrix.table.strides[0], total.shape[0])


@implements(QuantisedRows)
@inline
def add_quantised_rows(matrix: QuantisedRows, rows: np.ndarray, start: int, stop: int, total: np.ndarray) -> None:
    """Add rows of a quantised matrix, part by part for a few rows at a time: the centroids of a part stay in cache."""
    for first in range(start, stop, TILE):
        last, component = smaller(first + TILE, stop), 0
        for part in range(matrix.table.shape[1]):
            width = smaller(matrix.part_size, matrix.dim - component)
            if width == 2:
                add_pairs(matrix, rows, first, last, part, component, total)
            else:
                add_part(matrix, rows, first, last, part, component, width, total)
            component += width


@inline
def row_norm(matrix: QuantisedRows, row: int) -> np.float32:
    """By what a row is multiplied."""
    return matrix.norms[matrix.norm_codes[row]] if matrix.norm_codes.shape[0] > 0 else np.float32(1)


@inline
def add_pairs(
    matrix: QuantisedRows, rows: np.ndarray, first: int, last: int, part: int, component: int, total: np.ndarray
) -> None:
    """Add a part of two components, of two rows at a time, whose sums do not wait for each other."""
    start, values = CENTROIDS * component, matrix.centroids
    left, right, other_left, other_right = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for i in range(first, last - 1, 2):
        row, other = rows[i], rows[i + 1]
        norm, other_norm = row_norm(matrix, row), row_norm(matrix, other)
        place, other_place = (
            start + 2 * np.int64(matrix.table[row, part]),
            start + 2 * np.int64(matrix.table[other, part]),
        )
        left += norm * values[place]
        right += norm * values[place + 1]
        other_left += other_norm * values[other_place]
        other_right += other_norm * values[other_place + 1]
    if (last - first) % 2 == 1:
        row = rows[last - 1]
        norm, place = row_norm(matrix, row), start + 2 * np.int64(matrix.table[row, part])
        left += norm * values[place]
        right += norm * values[place + 1]
    total[component] += left + other_left
    total[component + 1] += right + other_right


@inline
def add_part(
    matrix: QuantisedRows, rows: np.ndarray, first: int, last: int, part: int, component: int, width: int,
    total: np.ndarray,
) -> None:  # fmt: skip
    """Add a part of any number of components."""
    for i in range(first, last):
        row = rows[i]
        norm, place = row_norm(matrix, row), CENTROIDS * component + np.int64(matrix.table[row, part]) * width
        for d in range(width):
            total[component + d] += norm * matrix.centroids[place + d]


@entry_point
def decode_rows(matrix: QuantisedRows, numbers: np.ndarray, output: np.ndarray) -> None:
    """Add all rows of a quantised matrix, whose `numbers` are 0, 1, ..., int64, to `output`, float32 (rows, dim)."""
    for row in range(output.shape[0]):
        add_rows(matrix, numbers, row, row + 1, output[row])
