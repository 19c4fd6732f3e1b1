"""Adds rows of dense and of quantised matrices. Compiled."""

import numpy as np

from embeddings.kernels.jit import dispatched, entry_point, implements, inline
from embeddings.kernels.matrix_rows import CENTROIDS, DenseRows, QuantisedRows, Rows
from embeddings.kernels.row_operations import add_table_rows


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
    """Add rows of a quantised matrix."""
    for i in range(start, stop):
        row, first, norm = rows[i], 0, np.float32(1)
        if matrix.norm_codes.shape[0] > 0:
            norm = matrix.norms[matrix.norm_codes[row]]
        for part in range(matrix.table.shape[1]):
            width = matrix.part_size
            if first + width > matrix.dim:
                width = matrix.dim - first
            centroid = CENTROIDS * first + np.int64(matrix.table[row, part]) * width
            for d in range(width):
                total[first + d] += norm * matrix.centroids[centroid + d]
            first += width


@entry_point
def decode_rows(matrix: QuantisedRows, numbers: np.ndarray, output: np.ndarray) -> None:
    """Add all rows of a quantised matrix, whose `numbers` are 0, 1, ..., int64, to `output`, float32 (rows, dim)."""
    for row in range(output.shape[0]):
        add_rows(matrix, numbers, row, row + 1, output[row])
