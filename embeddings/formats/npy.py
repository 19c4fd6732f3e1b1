"""A matrix in numpy's format, such as v.npy, with its words in v.txt in the same folder, one per line in row order.

`numpy.load("v.npy")` and `open("v.txt").read().splitlines()` read them. A float32 matrix is memory-mapped. Arrays of
Python objects are pickles and are never read.
"""

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.compression import open_binary
from embeddings.errors import FormatError
from embeddings.formats.build_vectors import WordBuffer, build_vectors, check_array
from embeddings.support.foreign_files import format_errors
from embeddings.support.tensors import write_npy
from embeddings.vectors.file_format import MAX_WORD_BYTES, Format, encode_words
from embeddings.vectors.precision import cast_matrix
from embeddings.vectors.vectors import Vectors

MAGIC = b"\x93NUMPY"
LINE_BREAKS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")  # at which str.splitlines splits


def sniff(start: bytes) -> float:
    """Certain if the file starts with numpy's magic number."""
    return 1 if start.startswith(MAGIC) else 0


def write(vectors: Vectors, path: Path, *, dtype: str = "float32") -> None:
    """Write the matrix (C order, little-endian) and the words; `dtype` is float32 or float16."""
    matrix = cast_matrix(vectors, dtype)
    words = encode_words(vectors, forbidden=LINE_BREAKS, format="npy")
    path.with_suffix(".txt").write_bytes(b"".join(b"%b\n" % word for word in words))
    with path.open("wb") as stream:
        write_npy(matrix.astype(matrix.dtype.newbyteorder("<"), copy=False), stream)


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of a matrix (words, dim) of floats, and its words."""
    matrix = read_matrix(path)
    words_path = path.with_suffix(".txt")
    if words_path == path or not words_path.exists():
        problem = "so rename the matrix to .npy" if words_path == path else "which does not exist"
        raise FormatError(f"{path}: the words of a matrix belong in {words_path} next to it, {problem}")
    with open_binary(words_path) as stream:
        if os.fstat(stream.fileno()).st_size > (len(matrix) + 1) * (MAX_WORD_BYTES + len("\r\n")):
            raise FormatError(f"{words_path} is too large for the words of the {len(matrix)} rows of {path}")
        lines = stream.read().removesuffix(b"\n").split(b"\n")
    lines = [line.removesuffix(b"\r") for line in lines] if lines != [b""] else []
    return build_vectors(path, WordBuffer(lines).decode(errors, f"{words_path}, line", 1), matrix)


def read_matrix(path: Path) -> np.ndarray:
    """The matrix as float32, memory-mapped read-only if it is stored as float32."""
    matrix = map_matrix(path)
    if matrix.dtype == np.float32:
        return matrix
    with np.errstate(over="ignore"):  # overflow becomes infinity, which a later check refuses, naming the word
        return matrix.astype(np.float32, subok=False)


def map_matrix(path: Path) -> np.memmap:
    """The matrix (words, dim) of floats, memory-mapped; refuses files that are truncated or continue after it."""
    with open_binary(path) as file:  # refuses pipes and missing files
        start, size = file.read(12), path.stat().st_size
    with format_errors(path):
        # from version 2 on, the length of the header has 4 bytes
        if start[6:7] > b"\x01" and int.from_bytes(start[8:], "little") > size:  # numpy would allocate as much
            raise FormatError("its header is longer than the file")
        array = np.lib.format.open_memmap(path, mode="r")
    expected = array.offset + array.nbytes
    if size != expected:
        raise FormatError(f"{path} has {size} bytes, but {array.shape} {array.dtype} takes {expected}")
    matrix: np.memmap = check_array(str(path), array, (None, None), "float16 float32 float64")
    return matrix


def describe(path: Path) -> dict[str, Any]:
    """Metadata from the header."""
    matrix, words_path = map_matrix(path), path.with_suffix(".txt")
    facts = {"words": len(matrix), "dim": matrix.shape[1], "dtype": str(matrix.dtype)}
    return facts | {"words_in": str(words_path) if words_path.exists() else None}


FORMAT = Format(
    summary="numpy: the matrix as .npy, the words next to it as .txt",
    extensions=(".npy",),
    companions=(".txt",),
    sniff=sniff,
    read=read,
    write=write,
    describe=describe,
)
