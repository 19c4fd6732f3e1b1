"""Vectors in fewer bits: float16, or 8 bits and a scale for each vector; and how far off these are.

As int8 a vector is integers from -127 to 127 times a scale of its own, its largest component over 127, so that no
component is off by more than half the scale, 0.4 % of the largest.
"""

from typing import NamedTuple

import numpy as np

from embeddings.errors import FormatError, SettingError
from embeddings.support.cosine import row_blocks, unit
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_encoding import check_writable

DTYPES = ("float32", "float16", "int8")
MOST = 127


class Rounding(NamedTuple):
    """The largest error of any component, and the lowest cosine of a vector (but zeros) with what became of it."""

    error: float
    cosine: float


def narrowed(vectors: Vectors, dtype: str) -> np.ndarray:
    """The matrix as float32 or float16.

    Raises:
        SettingError: another dtype.
        FormatError: a number is NaN or infinite, or too large for a float16; the word is named.
    """
    if dtype not in ("float32", "float16"):
        raise SettingError(f"dtype must be float32 or float16, not {dtype!r}")
    check_writable(vectors)
    if dtype == "float32":
        return np.ascontiguousarray(vectors.matrix)
    with np.errstate(over="ignore"):
        narrow = vectors.matrix.astype(np.float16)
    whole = np.isfinite(narrow).all(axis=1)
    if not whole.all():
        word = vectors.words[int(whole.argmin())]
        raise FormatError(f"nothing is written: the vector of {word!r} holds a number beyond float16's 65504")
    return narrow


def packed(vectors: Vectors, dtype: str) -> tuple[np.ndarray, np.ndarray | None]:
    """The matrix in one of `DTYPES`, and for int8 the scales (words,) float32, else None.

    Raises:
        SettingError: another dtype.
        FormatError: as `narrowed`.
    """
    if dtype not in DTYPES:
        raise SettingError(f"dtype must be {', '.join(DTYPES[:-1])} or {DTYPES[-1]}, not {dtype!r}")
    if dtype != "int8":
        return narrowed(vectors, dtype), None
    check_writable(vectors)
    return quantised(vectors.matrix)


def quantised(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows as int8, of the same shape, and their scales (rows,) float32: a row is about the one times the other."""
    rows, scales = np.empty(matrix.shape, np.int8), np.empty(len(matrix), np.float32)
    for part in row_blocks(*matrix.shape, itemsize=8):
        block = matrix[part]
        scales[part] = np.abs(block).max(axis=1, initial=0) / np.float32(MOST)
        steps = np.where(scales[part] > 0, scales[part], np.float32(1))
        rows[part] = np.clip(np.rint(block / steps[:, None]), -MOST, MOST)
    return rows, scales


def restored(rows: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """The vectors that int8 rows and their scales stand for, float32 of the same shape.

    A scale that is infinite or NaN makes components that are; whoever checks these names the word.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        made: np.ndarray = np.multiply(rows, scales[:, None], dtype=np.float32)
    return made


def rounding(vectors: Vectors, dtype: str) -> Rounding:
    """What storing vectors as float16 or int8 does to them; found anew, so that nothing need be read back."""
    error, cosine = 0.0, 1.0
    for part in row_blocks(*vectors.matrix.shape, itemsize=24):
        block = np.asarray(vectors.matrix[part])
        stored = block.astype(dtype).astype(np.float32) if dtype != "int8" else restored(*quantised(block))
        error = max(error, float(np.abs(block.astype(np.float64) - stored).max(initial=0)))
        known = block.any(axis=1)
        cosine = min(cosine, float((unit(block[known]) * unit(stored[known])).sum(axis=1).min(initial=1)))
    return Rounding(error, cosine)
