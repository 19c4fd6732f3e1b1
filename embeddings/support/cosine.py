"""Unit vectors, and rows in blocks of bounded memory."""

from collections.abc import Iterator
from math import sqrt

import numpy as np

BLOCK_BYTES = 1 << 26
CACHED_BYTES = 1 << 20  # of a block that several passes find in the cache of a core


def normalize_rows(matrix: np.ndarray) -> np.ndarray:
    """Scale rows to unit length, float32 and of the same shape; zero rows stay zero.

    Norms are computed in float64, so that no float32 row overflows or underflows. A row with NaN or infinity
    becomes NaN.
    """
    rows = np.empty(matrix.shape, dtype=np.float32)
    for part in row_blocks(*matrix.shape, itemsize=8, size=CACHED_BYTES):
        rows[part] = normalize(matrix[part])
    return rows


def normalize(rows: np.ndarray) -> np.ndarray:
    """Scale to unit length along the last axis, in float64; zeros stay zero."""
    with np.errstate(invalid="ignore"):  # of NaN, some kinds of which numpy reports when they are converted
        # the squares of float32 numbers above 1e19 are infinite, and those below 1e-23 are zero
        wide = np.asarray(rows, dtype=np.float64)
        norms = np.sqrt((wide * wide).sum(axis=-1, keepdims=True))
        wide = wide / np.where(norms == 0, 1, norms)
    return wide


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """The cosine of two vectors (dim,), in float64; 0 where one is zero."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    norms = sqrt((a @ a) * (b @ b))
    return min(max(float(a @ b) / norms, -1.0), 1.0) if norms else 0.0


def row_blocks(rows: int, width: int, *, itemsize: int = 4, size: int | None = None) -> Iterator[slice]:
    """Yield slices that cover `rows` of `width` items, each of at most about `size` bytes, by default 64 MiB."""
    step = max(1, (size or BLOCK_BYTES) // max(1, width * itemsize))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))
