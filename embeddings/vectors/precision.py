"""Reduced precision: float16, or int8 with one scale per vector, and the rounding errors.

An int8 vector is stored as integers from -127 to 127 times its scale, max |component| / 127, so the error of a
component is at most half the scale, 0.4 % of the largest component.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from embeddings.errors import FormatError, S, SettingError
from embeddings.support.cosine import normalize, row_blocks

if TYPE_CHECKING:
    from embeddings.vectors.vectors import Vectors

DTYPES = ("float32", "float16", "int8")
INT8_MAX = 127


class RoundingError(NamedTuple):
    """The largest error of a component, and the lowest cosine between a non-zero vector and its rounded version."""

    max_error: float
    min_cosine: float


def cast_matrix(vectors: "Vectors", dtype: str) -> np.ndarray:
    """The matrix as float32 or float16; refuses other dtypes, and overflow, naming the word."""
    if dtype not in ("float32", "float16"):
        raise SettingError(f"{S.dtype} must be float32 or float16, got {dtype!r}")
    if dtype == "float32":
        return np.ascontiguousarray(vectors.matrix)
    with np.errstate(over="ignore"):
        narrow = vectors.matrix.astype(np.float16)
    is_finite = np.isfinite(narrow).all(axis=1)
    if not is_finite.all():
        word = vectors.words[int(is_finite.argmin())]
        raise FormatError(f"nothing is written: the vector of {word!r} exceeds 65504, the maximum of float16")
    return narrow


def encode_matrix(vectors: "Vectors", dtype: str) -> tuple[np.ndarray, np.ndarray | None]:
    """The matrix as one of `DTYPES`, and for int8 the scales (words,) float32, else None."""
    if dtype not in DTYPES:
        raise SettingError(f"{S.dtype} must be {', '.join(DTYPES[:-1])} or {DTYPES[-1]}, got {dtype!r}")
    if dtype != "int8":
        return cast_matrix(vectors, dtype), None
    return quantise(vectors.matrix)


def quantise(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows as int8 of the same shape, and their scales (rows,) float32; their product approximates the rows."""
    rows, scales = np.empty(matrix.shape, np.int8), np.empty(len(matrix), np.float32)
    for part in row_blocks(*matrix.shape, itemsize=8):
        block = matrix[part]
        scales[part] = np.abs(block).max(axis=1, initial=0) / np.float32(INT8_MAX)
        steps = np.where(scales[part] > 0, scales[part], np.float32(1))
        rows[part] = np.clip(np.rint(block / steps[:, None]), -INT8_MAX, INT8_MAX)
    return rows, scales


def dequantise(rows: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """The float32 vectors of int8 rows and their scales; a non-finite scale gives a non-finite row."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.multiply(rows, scales[:, None], dtype=np.float32))


def rounding_error(vectors: "Vectors", dtype: str) -> RoundingError:
    """The effect of storing vectors as float16 or int8, computed without reading the file back."""
    error, cosine = 0.0, 1.0
    for part in row_blocks(*vectors.matrix.shape, itemsize=24):
        block = np.asarray(vectors.matrix[part])
        approx = block.astype(dtype).astype(np.float32) if dtype != "int8" else dequantise(*quantise(block))
        error = max(error, float(np.abs(block.astype(np.float64) - approx).max(initial=0)))
        nonzero = block.any(axis=1)
        cosine = min(cosine, float((normalize(block[nonzero]) * normalize(approx[nonzero])).sum(axis=1).min(initial=1)))
    return RoundingError(error, cosine)
