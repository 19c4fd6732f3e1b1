"""Adds rows of dense and of quantised matrices. Compiled."""

import numpy as np

from embeddings.kernels.jit import dispatched, entry_point, implements, inline
from embeddings.kernels.matrix_rows import CENTROIDS, DenseRows, QuantisedRows, Rows


@dispatched
def add_row(matrix: Rows, row: int, total: np.ndarray) -> None:
    """Add a row to `total`, float32 (dim,)."""


@implements(DenseRows)
@inline
def add_dense_row(matrix: DenseRows, row: int, total: np.ndarray) -> None:
    """Add a row of a dense matrix."""
    for d in range(total.shape[0]):
        total[d] += matrix.table[row, d]


@implements(QuantisedRows)
@inline
def add_quantised_row(matrix: QuantisedRows, row: int, total: np.ndarray) -> None:
    """Add a row of a quantised matrix."""
    norm = np.float32(1)
    if matrix.norm_codes.shape[0] > 0:
        norm = matrix.norms[matrix.norm_codes[row]]
    start = 0
    for part in range(matrix.table.shape[1]):
        width = matrix.part_size
        if start + width > matrix.dim:
            width = matrix.dim - start
        first = CENTROIDS * start + np.int64(matrix.table[row, part]) * width
        for d in range(width):
            total[start + d] += norm * matrix.centroids[first + d]
        start += width


@entry_point
def decode_rows(matrix: QuantisedRows, output: np.ndarray) -> None:
    """Add all rows of a quantised matrix to `output`, float32 (rows, dim)."""
    for row in range(output.shape[0]):
        add_row(matrix, row, output[row])
