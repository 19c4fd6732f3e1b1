"""Product quantisation of a matrix (Jégou et al. 2011; Joulin et al. 2016): parts of rows become codes of one byte."""

import numpy as np

from embeddings.errors import SettingError
from embeddings.kernels.matrix_rows import CENTROIDS, DenseRows, QuantisedRows
from embeddings.kernels.row_sums import decode_rows
from embeddings.settings import check_value
from embeddings.support.cosine import row_blocks
from embeddings.support.imports import import_library

ITERATIONS = 25  # of k-means, as in fastText
BINS = 1 << 14  # of the histogram of norms


def quantise(matrix: np.ndarray, part_size: int = 2, *, has_norms: bool = False, seed: int = 1) -> QuantisedRows:
    """Compress a matrix: each part of a row is replaced by the nearest of 256 centroids, found by k-means.

    Arguments:
        matrix: float32 (rows, dim), finite.
        part_size: the number of components of a part.
        has_norms: whether norms are quantised apart from directions, which costs a byte for each row.
        seed: of the samples that k-means starts from.

    Raises:
        SettingError: `part_size` is not in [1, dim], or the matrix contains NaN, infinity or too large numbers.
    """
    dim = matrix.shape[1]
    check_value("part_size", part_size, int, {"ge": 1, "le": dim})
    lengths = row_norms(matrix)
    values, norms = np.ascontiguousarray(matrix, np.float32), np.ones(CENTROIDS, np.float32)
    norm_codes = np.empty(0, np.uint8)
    if has_norms:
        values = np.divide(values, np.where(lengths > 0, lengths, np.float32(1))[:, None], dtype=np.float32)
        norm_codes, norms = encode_numbers(lengths)
    codes, centroids = encode_parts(values, part_size, seed)
    return QuantisedRows(codes, centroids, part_size, dim, norm_codes, norms)


def row_norms(matrix: np.ndarray) -> np.ndarray:
    """The norm of each row, float32; refuses numbers that are not finite or too large."""
    norms = np.empty(len(matrix), np.float32)
    with np.errstate(over="ignore"):
        for rows in row_blocks(*matrix.shape):
            norms[rows] = np.linalg.norm(matrix[rows], axis=1)
    if not np.isfinite(norms).all():
        raise SettingError("a matrix that contains NaN, infinity or too large numbers cannot be quantised")
    return norms


def encode_numbers(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The codes of numbers, uint8, and their centroids, float32 (256,), ascending: k-means of all numbers.

    A few rows, the most important ones, have norms far above the others. k-means that starts from random rows leaves
    them few centroids. It starts here from the density of centroids that is optimal if they are many: the cube root of
    the density of the numbers (Bennett 1948).
    """
    ordered = np.sort(numbers).astype(np.float64)
    if not len(ordered):
        return np.empty(0, np.uint8), np.zeros(CENTROIDS, np.float32)
    counts, edges = np.histogram(ordered, BINS)
    density = np.append(0, np.cumsum(np.cbrt(counts)))
    centroids = np.interp((np.arange(CENTROIDS) + 0.5) / CENTROIDS * density[-1], density, edges)
    sums = np.append(0, np.cumsum(ordered))
    for _ in range(ITERATIONS):
        borders = np.searchsorted(ordered, (centroids[1:] + centroids[:-1]) / 2)
        borders = np.concatenate([[0], borders, [len(ordered)]])
        sizes = np.diff(borders)
        centroids = np.where(sizes > 0, np.diff(sums[borders]) / np.maximum(sizes, 1), centroids)
    norms = centroids.astype("<f4")
    return np.searchsorted((norms[1:] + norms[:-1]) / 2, numbers).astype(np.uint8), norms


def encode_parts(values: np.ndarray, part_size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The codes of rows, uint8 (rows, parts), and the centroids in the layout of `QuantisedRows`."""
    faiss = import_library("faiss")

    rows, dim = values.shape
    parts = -(-dim // part_size)
    padded = np.zeros((max(rows, 1), parts * part_size), np.float32)  # a shorter last part is filled with zeros
    padded[:rows, :dim] = values
    quantiser = faiss.ProductQuantizer(parts * part_size, parts, 8)
    # FAISS cannot train with fewer rows than centroids.
    if rows <= CENTROIDS:  # every row is its own centroid
        centroids = np.zeros((parts, CENTROIDS, part_size), np.float32)
        centroids[:, :rows] = padded[:rows].reshape(rows, parts, part_size).swapaxes(0, 1)
        codes = np.repeat(np.arange(rows, dtype=np.uint8)[:, None], parts, axis=1)
    else:
        quantiser.cp.niter, quantiser.cp.seed, quantiser.cp.min_points_per_centroid = ITERATIONS, seed, 1
        quantiser.train(padded)
        centroids = faiss.vector_to_array(quantiser.centroids).reshape(parts, CENTROIDS, part_size)
        codes = quantiser.compute_codes(padded)
    last = dim - (parts - 1) * part_size
    flat = np.concatenate([centroids[:-1].ravel(), centroids[-1, :, :last].ravel()])
    return codes, flat.astype("<f4")


def decode(matrix: QuantisedRows) -> DenseRows:
    """A quantised matrix as a dense one, read-only."""
    values = np.zeros((len(matrix.table), matrix.dim), np.float32)
    decode_rows(matrix, np.arange(len(values)), values)
    values.flags.writeable = False
    return DenseRows(values)


def decoded_size(matrix: QuantisedRows) -> int:
    """The size of a decoded matrix in bytes."""
    return 4 * len(matrix.table) * matrix.dim
