"""Quantised matrices in fastText's files (.ftz), and the buckets that pruning has left.

A matrix: one byte, whether norms are quantised too; int64 rows and dim; int32 number of codes; the codes; its
centroids; then, if norms are quantised, one code per row and their centroids. Centroids: int32 dim, parts, size of a
part and of the last part; then 256 float32 for each component.
"""

import struct
from typing import TYPE_CHECKING

import numpy as np

from embeddings.errors import FormatError
from embeddings.kernels.matrix_rows import CENTROIDS, QuantisedRows

if TYPE_CHECKING:
    from embeddings.formats.fasttext_reader import PartReader

SIZES = struct.Struct("<2qi")
PARTS = struct.Struct("<4i")
PRUNED_ENTRY = np.dtype("<i4")


def read_quantised(parts: "PartReader", what: str, rows: int, dim: int) -> QuantisedRows:
    """The next quantised matrix after its flag, (rows, dim); refuses other shapes, and NaN and infinity."""
    has_norms = read_flag(parts)
    sizes = SIZES.unpack(parts.read(SIZES.size))
    if sizes[:2] != (rows, dim):
        raise FormatError(f"{parts.path} is broken: its {what} matrix is {sizes[:2]}, not {(rows, dim)}")
    codes = read_codes(parts, sizes[2], what)
    part_size, centroids = read_centroids(parts, dim)
    if len(codes) != rows * -(-dim // part_size):
        raise FormatError(f"{parts.path} is broken: its {what} matrix has {len(codes)} codes, not one for each part")
    norm_codes = read_codes(parts, rows if has_norms else 0, what)
    norms = read_centroids(parts, 1)[1] if has_norms else np.ones(CENTROIDS, np.float32)
    return QuantisedRows(codes.reshape(rows, -(-dim // part_size)), centroids, part_size, dim, norm_codes, norms)


def read_codes(parts: "PartReader", size: int, what: str) -> np.ndarray:
    """The next codes, uint8 (size,)."""
    parts.check_size(size, f"the codes of the {what} matrix")
    return np.frombuffer(parts.read(size), np.uint8)


def read_centroids(parts: "PartReader", dim: int) -> tuple[int, np.ndarray]:
    """The number of components of a part, and the next centroids, float32 (256 * dim,)."""
    header = PARTS.unpack(parts.read(PARTS.size))
    part_size = header[2]
    if not 1 <= part_size <= dim or header != expected_parts(dim, part_size):
        raise FormatError(
            f"{parts.path} is broken: {header} cannot be the sizes of a quantised matrix of {dim} columns"
        )
    size = CENTROIDS * dim * 4
    parts.check_size(size, "the centroids of a matrix")
    centroids = np.frombuffer(parts.read(size), "<f4")
    if not np.isfinite(centroids).all():
        raise FormatError(f"{parts.path} is broken: its centroids contain NaN or infinity")
    return part_size, centroids


def expected_parts(dim: int, part_size: int) -> tuple[int, int, int, int]:
    """The header of centroids."""
    number = -(-dim // part_size)
    return dim, number, part_size, dim - (number - 1) * part_size


def read_flag(parts: "PartReader") -> bool:
    """The next byte, which must be 0 or 1."""
    flag = parts.read(1)[0]
    if flag > 1:
        raise FormatError(f"{parts.path} is broken: a flag is {flag}, not 0 or 1")
    return flag == 1


def read_bucket_rows(parts: "PartReader", buckets: int, left: int) -> np.ndarray:
    """The buckets that pruning has left, and the row of each, int32 (left, 2); none if it is -1."""
    if left <= 0:
        return np.empty((0, 2), np.int32)
    size = 2 * left * PRUNED_ENTRY.itemsize
    parts.check_size(size, f"{left} buckets")
    pairs = np.frombuffer(parts.read(size), PRUNED_ENTRY).reshape(left, 2)
    if pairs.min() < 0 or pairs[:, 0].max() >= buckets or pairs[:, 1].max() >= left:
        raise FormatError(f"{parts.path} is broken: a bucket or its row is out of range")
    return pairs
