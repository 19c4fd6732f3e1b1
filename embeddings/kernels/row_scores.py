"""The scores of labels for each row of a dense or quantised matrix. Compiled."""

import numpy as np

from embeddings.kernels.jit import entry_point
from embeddings.kernels.matrix_rows import CENTROIDS, DenseRows, QuantisedRows
from embeddings.kernels.row_sums import row_norm


@entry_point
def score_dense_rows(matrix: DenseRows, output: np.ndarray, start: int, stop: int, scores: np.ndarray) -> None:
    """Set `scores[start:stop]`, float32 (rows, labels), to products of rows with those of `output`, (labels, dim)."""
    for row in range(start, stop):
        for label in range(output.shape[0]):
            total = np.float32(0)
            for d in range(output.shape[1]):
                total += matrix.table[row, d] * output[label, d]
            scores[row, label] = total


@entry_point
def score_quantised_rows(
    matrix: QuantisedRows, centroid_scores: np.ndarray, start: int, stop: int, scores: np.ndarray
) -> None:
    """Likewise for quantised rows, given the scores of all centroids of all parts, float32 (labels, 256 * parts)."""
    for row in range(start, stop):
        norm = row_norm(matrix, row)
        for label in range(centroid_scores.shape[0]):
            total = np.float32(0)
            for part in range(matrix.table.shape[1]):
                total += centroid_scores[label, CENTROIDS * part + np.int64(matrix.table[row, part])]
            scores[row, label] = total * norm
