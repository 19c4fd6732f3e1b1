r"""One safetensors file: the tensors vectors (words, dim), words and, where they are known, counts (words,) int64.

The words are the bytes of a text in UTF-8, a word a line: `bytes(words).decode().split("\n")`. Vectors are float32,
which is mapped into memory, float16, or int8 with a further tensor scales (words,), by which they are multiplied.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.errors import FormatError
from embeddings.formats.packed_words import Packed
from embeddings.support import tensors
from embeddings.vectors.precision import packed, restored
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_encoding import check_policy, checked, encoded_words

SUMMARY = "safetensors: tensors vectors, words (a text, one a line) and counts"
ENDINGS = (".safetensors",)
COUNTS = True
VECTORS, WORDS, COUNT, SCALES = "vectors", "words", "counts", "scales"
REFUSED = re.compile("\n")
SHOWN = 10


def sniff(start: bytes) -> float:
    """Sure if the file starts with a length that such files may have, and a JSON object."""
    length = int.from_bytes(start[:8], "little")
    return 1 if 2 <= length <= tensors.HEADER_LIMIT and start[8:10] in (b'{"', b"{}", b"{ ") else 0


def write(vectors: Vectors, path: Path, *, dtype: str = "float32") -> None:
    """Write all vectors, in their order, and their counts if they are known.

    Raises:
        FormatError: a word is empty or holds a newline, or a vector a NaN or what float16 cannot hold.
        SettingError: `dtype` is not float32, float16 or int8.
    """
    matrix, scales = packed(vectors, dtype)
    words = b"\n".join(encoded_words(vectors, refused=REFUSED, form="safetensors"))
    arrays = {VECTORS: matrix, WORDS: np.frombuffer(words, np.uint8), SCALES: scales, COUNT: vectors.counts}
    tensors.save({name: array for name, array in arrays.items() if array is not None}, path)


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of a file, mapped read-only if they are float32. `errors` says what becomes of words not in UTF-8.

    Raises:
        FormatError: a missing, truncated or broken file, tensors that are missing or of other types or shapes, a word
            that stands twice, a NaN or an infinity.
    """
    check_policy(errors)
    found = tensors.load(path)
    matrix = matrix_of(path, found)
    words = Packed(lines(path, found, len(matrix))).decoded(errors, f"{path}, word", 1)
    return checked(path, words, matrix, counts_of(path, found, len(matrix)))


def matrix_of(path: Path, found: Mapping[str, np.ndarray]) -> np.ndarray:
    """The vectors (words, dim) as float32.

    Raises:
        FormatError: there is no tensor of them, or one of another shape or type.
    """
    if VECTORS not in found or WORDS not in found:
        raise FormatError(f"{path} needs the tensors {VECTORS} and {WORDS}, and has {listed(found)}")
    matrix, scales = found[VECTORS], found.get(SCALES)
    if matrix.ndim != 2 or matrix.shape[1] < 1:
        raise FormatError(f"{path}: the tensor {VECTORS} must be (words, dim) with dim at least 1, not {matrix.shape}")
    if matrix.dtype == np.int8 and scales is not None:
        if scales.shape != matrix.shape[:1] or scales.dtype.kind != "f":
            raise FormatError(f"{path}: the tensor {SCALES} must be {matrix.shape[:1]} floats, not {shape_of(scales)}")
        with np.errstate(over="ignore"):  # becomes infinity, which is refused by name
            return restored(matrix, scales.astype(np.float32))
    if matrix.dtype.kind != "f":
        raise FormatError(f"{path}: the tensor {VECTORS} must be floats, or int8 with {SCALES}; not {matrix.dtype}")
    with np.errstate(over="ignore"):
        return matrix.astype(np.float32, copy=False)


def lines(path: Path, found: Mapping[str, np.ndarray], rows: int) -> list[bytes]:
    """The words, as many as there are vectors.

    Raises:
        FormatError: there are more or fewer, or they are no text.
    """
    text = found[WORDS]
    if text.ndim != 1 or text.dtype != np.uint8:
        raise FormatError(f"{path}: the tensor {WORDS} must be bytes in a row, uint8, not {shape_of(text)}")
    data = text.tobytes()
    if (data.count(b"\n") + 1 if rows or data else 0) != rows:
        raise FormatError(f"{path} has {data.count(10) + bool(data)} words and {rows} vectors")
    return data.split(b"\n") if rows else []


def counts_of(path: Path, found: Mapping[str, np.ndarray], rows: int) -> np.ndarray | None:
    """The counts, if there are any.

    Raises:
        FormatError: they are no whole numbers, one a word.
    """
    counts = found.get(COUNT)
    if counts is not None and (counts.shape != (rows,) or counts.dtype != np.int64):
        raise FormatError(f"{path}: the tensor {COUNT} must be ({rows},) int64, not {shape_of(counts)}")
    return counts


def shape_of(array: np.ndarray) -> str:
    """A tensor for a message."""
    return f"{array.shape} {array.dtype}"


def listed(found: Mapping[str, np.ndarray]) -> str:
    """The names of tensors for a message."""
    names = [repr(name)[:60] for name in list(found)[:SHOWN]]
    return ", ".join(names) + " and others" * (len(found) > SHOWN) if names else "none"


def describe(path: Path) -> dict[str, Any]:
    """What the header says; of a file without vectors and words its tensors."""
    found = tensors.load(path)
    if VECTORS not in found or WORDS not in found:
        return {"what": "tensors", "tensors": {name: list(array.shape) for name, array in found.items()}}
    matrix = found[VECTORS]
    words, dim = (*matrix.shape, None, None)[:2]
    return {"words": words, "dim": dim, "dtype": str(matrix.dtype), "counts": COUNT in found}
