"""Reduced precision: float16, or int8 with one scale per vector, and the rounding errors.

An int8 vector is stored as integers from -127 to 127 times its scale, max |component| / 127, so the error of a
component is at most half the scale, 0.4 % of the largest component.
"""

from typing import Literal, NamedTuple

import numpy as np

from embeddings.errors import FormatError
from embeddings.settings import check_value
from embeddings.support.cosine import normalize, row_blocks
from embeddings.vectors.compact_rows import from_int8, to_int8
from embeddings.vectors.word_vectors import WordVectors

DTYPES = ("float32", "float16", "int8")


class RoundingError(NamedTuple):
    """The largest error of a component, and the lowest cosine between a non-zero vector and its rounded version."""

    max_error: float
    min_cosine: float


def cast_matrix(vectors: WordVectors, dtype: str) -> np.ndarray:
    """The matrix as float32 or float16; refuses other dtypes, and overflow, naming the word."""
    check_value("dtype", dtype, Literal["float32", "float16"], {})
    if dtype == "float32":
        dense: np.ndarray = np.ascontiguousarray(vectors.matrix)
        return dense
    with np.errstate(over="ignore"):
        narrow: np.ndarray = vectors.matrix.astype(np.float16)
    is_finite = np.isfinite(narrow).all(axis=1)
    if not is_finite.all():
        word = vectors.words[int(is_finite.argmin())]
        raise FormatError(f"nothing is written: the vector of {word!r} exceeds 65504, the maximum of float16")
    return narrow


def encode_matrix(vectors: WordVectors, dtype: str) -> tuple[np.ndarray, np.ndarray | None]:
    """The matrix as one of `DTYPES`, and for int8 the scales (words,) float32, else None."""
    check_value("dtype", dtype, Literal[DTYPES], {})
    if dtype != "int8":
        return cast_matrix(vectors, dtype), None
    return to_int8(vectors.matrix)


def rounding_error(vectors: WordVectors, dtype: str) -> RoundingError:
    """The effect of storing vectors as float16 or int8, computed without reading the file back."""
    error, cosine = 0.0, 1.0
    for part in row_blocks(*vectors.matrix.shape, itemsize=24):
        block = np.asarray(vectors.matrix[part])
        approx = block.astype(dtype).astype(np.float32) if dtype != "int8" else from_int8(*to_int8(block))
        error = max(error, float(np.abs(block.astype(np.float64) - approx).max(initial=0)))
        nonzero = block.any(axis=1)
        cosine = min(cosine, float((normalize(block[nonzero]) * normalize(approx[nonzero])).sum(axis=1).min(initial=1)))
    return RoundingError(error, cosine)
