"""Product quantisation of matrices (Jégou et al. 2011), as in fastText (Joulin et al. 2016), and its inverse."""

import numpy as np

from embeddings.errors import SettingError
from embeddings.kernels.matrix_rows import CENTROIDS, DenseRows, QuantisedRows
from embeddings.kernels.row_sums import decode_rows
from embeddings.support.cosine import row_blocks

ITERATIONS = 25  # of k-means, as in fastText


def quantise(matrix: np.ndarray, part_size: int = 2, *, has_norms: bool = False, seed: int = 1) -> QuantisedRows:
    """Compress a matrix: each part of a row is replaced by the nearest of 256 centroids, found by k-means.

    Arguments:
        matrix: float32 (rows, dim), finite.
        part_size: the number of components of a part.
        has_norms: whether norms are quantised apart from directions, which costs a byte for each row.
        seed: of the samples that k-means starts from.

    Raises:
        SettingError: `part_size` is not in [1, dim], or the matrix contains NaN or infinity.
    """
    rows, dim = matrix.shape
    if not 1 <= part_size <= dim:
        raise SettingError(f"the size of a part must be in [1, {dim}], the number of components, got {part_size}")
    if not all(np.isfinite(matrix[block]).all() for block in row_blocks(rows, dim)):
        raise SettingError("a matrix that contains NaN or infinity cannot be quantised")
    values, norms = np.ascontiguousarray(matrix, np.float32), np.ones(CENTROIDS, np.float32)
    norm_codes = np.empty(0, np.uint8)
    if has_norms:
        lengths = np.linalg.norm(values.astype(np.float64), axis=1)[:, None].astype(np.float32)
        values = np.divide(values, np.where(lengths > 0, lengths, np.float32(1)), dtype=np.float32)
        norm_codes, norms = encode_parts(lengths, 1, seed)
        norm_codes = norm_codes[:, 0]
    codes, centroids = encode_parts(values, part_size, seed)
    return QuantisedRows(codes, centroids, part_size, dim, norm_codes, norms)


def encode_parts(values: np.ndarray, part_size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The codes of rows, uint8 (rows, parts), and the centroids in the layout of `QuantisedRows`."""
    import faiss

    rows, dim = values.shape
    parts = -(-dim // part_size)
    padded = np.zeros((max(rows, 1), parts * part_size), np.float32)  # a shorter last part is filled with zeros
    padded[:rows, :dim] = values
    quantiser = faiss.ProductQuantizer(parts * part_size, parts, 8)
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
    decode_rows(matrix, values)
    values.flags.writeable = False
    return DenseRows(values)


def decoded_size(matrix: QuantisedRows) -> int:
    """The size of a decoded matrix in bytes."""
    return 4 * len(matrix.table) * matrix.dim
