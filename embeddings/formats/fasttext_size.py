"""The size of a quantised classifier as a file of fastText, and the number of rows that fit a given size."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embeddings.formats.fasttext_header import MAX_HEADER_BYTES
from embeddings.formats.fasttext_quantised import PARTS, PRUNED_ENTRY, SIZES
from embeddings.formats.fasttext_reader import ENTRY, SHAPE
from embeddings.kernels.matrix_rows import CENTROIDS
from embeddings.models.compression import dense_table, line_end_row
from embeddings.models.quantisation import row_norms

if TYPE_CHECKING:
    from embeddings.models.classifier import Classifier

FLAG, FLOAT = 1, 4  # bytes


def cutoff_for_size(
    classifier: "Classifier", size: int, *, dsub: int = 2, qnorm: bool = False, qout: bool = False
) -> int:
    """The largest cutoff with which the quantised classifier fits a file of `size` bytes; 0 if none does.

    Other arguments are those of `Classifier.quantize`.
    """
    norms = row_norms(dense_table(classifier))
    line_end = line_end_row(classifier)
    if line_end >= 0:
        norms[line_end] = np.inf
    order = np.argsort(-norms, kind="stable")
    sizes = fixed_size(classifier, dsub, qnorm, qout) + np.cumsum(row_sizes(classifier, dsub, qnorm)[order])
    return int(np.searchsorted(sizes, size, side="right"))


def row_sizes(classifier: "Classifier", dsub: int, qnorm: bool) -> NDArray[np.int64]:
    """The bytes of each row with its word or bucket, int64 (rows,)."""
    rows, dim = dense_table(classifier).shape
    words = classifier.features.words
    sizes = np.full(rows, -(-dim // dsub) + qnorm, np.int64)
    sizes[:words] += entry_sizes(classifier)[:words]
    sizes[words:] += 2 * PRUNED_ENTRY.itemsize
    return sizes


def fixed_size(classifier: "Classifier", dsub: int, qnorm: bool, qout: bool) -> int:
    """The bytes of a quantised file without rows of words and n-grams."""
    labels, dim = classifier.output.shape
    entries = int(entry_sizes(classifier)[classifier.features.words :].sum())
    output: int = FLAG + SHAPE.size + FLOAT * labels * dim
    if qout:
        output = quantised_size(dim, qnorm) + labels * (-(-dim // min(2, dim)) + qnorm)
    return MAX_HEADER_BYTES + entries + quantised_size(dim, qnorm) + output


def entry_sizes(classifier: "Classifier") -> NDArray[np.int64]:
    """The bytes of each word and label in the dictionary, int64 (entries,)."""
    sizes: NDArray[np.int64] = np.diff(classifier.features.starts).astype(np.int64) + 1 + ENTRY.size
    return sizes


def quantised_size(dim: int, qnorm: bool) -> int:
    """The bytes of a quantised matrix without rows."""
    centroids = PARTS.size + CENTROIDS * dim * FLOAT
    norms = PARTS.size + CENTROIDS * FLOAT
    return 2 * FLAG + SIZES.size + centroids + norms * qnorm
