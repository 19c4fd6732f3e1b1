"""A matrix as numpy writes it, v.npy, and its words beside it as v.txt, one to a line in the order of the rows.

`numpy.load("v.npy")` and `open("v.txt").read().splitlines()` read them. The matrix is mapped into memory where it is
float32. Python objects in such a file are a pickle, and are never read.
"""

import os
import re
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from embeddings.corpora.reading.compressed_files import opened
from embeddings.errors import FormatError
from embeddings.formats.packed_words import Packed
from embeddings.support.files import write_npy
from embeddings.vectors.precision import narrowed
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_encoding import check_policy, checked, encoded_words

SUMMARY = "numpy: the matrix as .npy, the words beside it as .txt"
ENDINGS = (".npy",)
BESIDE = (".txt",)
MAGIC = b"\x93NUMPY"
REFUSED = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")  # where str.splitlines cuts


def sniff(start: bytes) -> float:
    """Sure if numpy's sign begins the file."""
    return 1 if start.startswith(MAGIC) else 0


def write(vectors: Vectors, path: Path, *, dtype: str = "float32") -> None:
    """Write the matrix (C order, little-endian) and, with the ending .txt, the words.

    Raises:
        FormatError: a word is empty or holds the end of a line, or a vector a NaN or what float16 cannot hold.
        SettingError: `dtype` is neither float32 nor float16.
    """
    matrix = narrowed(vectors, dtype)
    words = encoded_words(vectors, refused=REFUSED, form="npy")
    path.with_suffix(".txt").write_bytes(b"".join(b"%b\n" % word for word in words))
    with path.open("wb") as stream:
        write_npy(matrix.astype(matrix.dtype.newbyteorder("<"), copy=False), stream)


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of a matrix and its words. `errors` says what becomes of words that are not UTF-8.

    Raises:
        FormatError: a missing or broken file, a matrix of another shape or type than (words, dim) of floats, another
            number of words, a word that stands twice, a NaN or an infinity.
    """
    check_policy(errors)
    matrix = read_matrix(path)
    beside = path.with_suffix(".txt")
    if beside == path:
        raise FormatError(f"{path}: the words of a matrix stand beside it in a .txt file; call the matrix .npy")
    with opened(beside) as stream:
        lines = stream.read().removesuffix(b"\n").split(b"\n")
    lines = [line.removesuffix(b"\r") for line in lines] if lines != [b""] else []
    if len(lines) != len(matrix):
        raise FormatError(f"{beside} has {len(lines)} words, and {path} {len(matrix)} rows")
    return checked(path, Packed(lines).decoded(errors, f"{beside}, line", 1), matrix)


def read_matrix(path: Path) -> np.ndarray:
    """The matrix, mapped read-only if it is float32; other floats are read and converted.

    Raises:
        FormatError: as `read`.
    """
    with opened(path) as stream:
        shape, fortran, dtype = read_header(path, stream)
        start, size = stream.tell(), os.fstat(stream.fileno()).st_size
    needed = shape[0] * shape[1] * dtype.itemsize
    if needed != size - start:
        what = "is truncated" if needed > size - start else "is overlong"
        raise FormatError(f"{path} {what}: a matrix of {shape} {dtype} takes {needed} bytes, and {size - start} follow")
    if not needed:
        return np.empty(shape, dtype=np.float32)
    matrix = np.memmap(path, dtype, "r", offset=start, shape=shape, order="F" if fortran else "C")
    if matrix.dtype == np.float32:
        return matrix
    with np.errstate(over="ignore"):  # becomes infinity, which is refused by name
        return matrix.astype(np.float32, subok=False)


def read_header(path: Path, stream: BinaryIO) -> tuple[tuple[int, int], bool, "np.dtype[Any]"]:
    """The shape, whether columns come first, and the type; the stream is left at the first number.

    Raises:
        FormatError: the header is broken, or does not describe a matrix of floats.
    """
    try:
        version = np.lib.format.read_magic(stream)
        reader = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, fortran, dtype = reader(stream)
    except KeyError:
        raise FormatError(f"{path} is of an .npy version that is not known here") from None
    except Exception as error:  # the header is Python text, and numpy's parser lets much through
        reason = " ".join(str(error).split())
        raise FormatError(f"{path} is truncated or no .npy file: {reason:.200}") from None
    if dtype.hasobject:
        raise FormatError(f"{path} holds Python objects, a pickle that can run any code; it is never read")
    if len(shape) != 2 or shape[1] < 1 or shape[0] < 0:
        raise FormatError(f"{path}: the matrix must be (words, dim) with dim at least 1, not {shape}")
    if dtype.kind != "f" or dtype.itemsize not in (2, 4, 8):
        raise FormatError(f"{path}: the matrix must be of float16, float32 or float64, not {dtype}")
    return (shape[0], shape[1]), fortran, dtype


def describe(path: Path) -> dict[str, Any]:
    """What the header says."""
    with opened(path) as stream:
        shape, _, dtype = read_header(path, stream)
    beside = path.with_suffix(".txt")
    return {
        "words": shape[0],
        "dim": shape[1],
        "dtype": str(dtype),
        "words_in": str(beside) if beside.exists() else None,
    }
