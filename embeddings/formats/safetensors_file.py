r"""One safetensors file with the tensors `vectors` (words, dim), `words` and, if known, `counts` (words,) int64.

`words` holds UTF-8 text with one word per line: `bytes(words).decode().split("\n")`. Vectors are float32
(memory-mapped), float16, or int8 with another tensor `scales` (words,) that multiplies each row. A tensor `text_pool`
holds how vectors of texts are pooled, such as "mean", if not as usual for words.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.errors import FormatError
from embeddings.formats.build_vectors import WordBuffer, build_vectors, check_array
from embeddings.support import tensors
from embeddings.vectors.compact_rows import from_int8
from embeddings.vectors.file_format import TEXT_POOL, Format, encode_words, stored_pool
from embeddings.vectors.precision import encode_matrix
from embeddings.vectors.vectors import Vectors

VECTORS, WORDS, COUNTS, SCALES = "vectors", "words", "counts", "scales"
LINE_BREAK = re.compile("\n")
MAX_LISTED = 10


def sniff(start: bytes) -> float:
    """Certain if the file starts with a plausible header length and a JSON object."""
    length = int.from_bytes(start[:8], "little")
    return 1 if 2 <= length <= tensors.MAX_HEADER and start[8:10] in (b'{"', b"{}", b"{ ") else 0


def write(vectors: Vectors, path: Path, *, dtype: str = "float32") -> None:
    """Write all vectors, and the counts if known; `dtype` is float32, float16 or int8."""
    matrix, scales = encode_matrix(vectors, dtype)
    words = b"\n".join(encode_words(vectors, forbidden=LINE_BREAK, format="safetensors"))
    pool = stored_pool(vectors)
    arrays = {VECTORS: matrix, WORDS: np.frombuffer(words, np.uint8), SCALES: scales, COUNTS: vectors.counts}
    arrays[TEXT_POOL] = None if pool is None else np.frombuffer(pool.encode(), np.uint8)
    tensors.save({name: array for name, array in arrays.items() if array is not None}, path)


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors, memory-mapped read-only if they are float32."""
    arrays = tensors.load(path)
    matrix = read_matrix(path, arrays)
    words = WordBuffer(read_words(path, arrays, len(matrix))).decode(errors, f"{path}, word", 1)
    vectors = build_vectors(path, words, matrix, read_counts(path, arrays, len(matrix)))
    if TEXT_POOL in arrays:
        vectors.text_pool = arrays[TEXT_POOL].tobytes().decode("utf-8", "replace")
    return vectors


def read_matrix(path: Path, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """The vectors (words, dim) as float32."""
    if VECTORS not in arrays or WORDS not in arrays:
        raise FormatError(f"{path}: the tensors {VECTORS} and {WORDS} are required; it has {list_names(arrays)}")
    matrix: np.ndarray = arrays[VECTORS]
    scales: Any = arrays.get(SCALES)
    is_int8 = matrix.dtype == np.int8 and scales is not None
    check_array(f"{path}: the tensor {VECTORS}", matrix, (None, None), "int8" if is_int8 else "f")
    with np.errstate(over="ignore"):  # overflow becomes infinity, which a later check refuses, naming the word
        if is_int8:
            check_array(f"{path}: the tensor {SCALES}", scales, matrix.shape[:1], "f")
            return from_int8(matrix, scales.astype(np.float32))
        return matrix.astype(np.float32, copy=False)


def read_words(path: Path, arrays: Mapping[str, np.ndarray], rows: int) -> list[bytes]:
    """The words, one for each of `rows`."""
    data = check_array(f"{path}: the tensor {WORDS}", arrays[WORDS], (None,), "uint8").tobytes()
    # splitting no bytes gives one empty word, but no vectors have no word
    return data.split(b"\n") if rows or data else []


def read_counts(path: Path, arrays: Mapping[str, np.ndarray], rows: int) -> np.ndarray | None:
    """The counts, one for each of `rows`, if there are any."""
    counts = arrays.get(COUNTS)
    return None if counts is None else check_array(f"{path}: the tensor {COUNTS}", counts, (rows,), "int64")


def list_names(arrays: Mapping[str, np.ndarray]) -> str:
    """The names of tensors for a message."""
    names = [repr(name)[:60] for name in list(arrays)[:MAX_LISTED]]
    return ", ".join(names) + " and others" * (len(arrays) > MAX_LISTED) if names else "none"


def describe(path: Path) -> dict[str, Any]:
    """Metadata from the header, also of files with other tensors."""
    arrays = tensors.load(path)
    if VECTORS not in arrays or WORDS not in arrays:
        return {"what": "tensors", "tensors": {name: list(array.shape) for name, array in arrays.items()}}
    matrix = arrays[VECTORS]
    words, dim = (*matrix.shape, None, None)[:2]
    return {"words": words, "dim": dim, "dtype": str(matrix.dtype), "counts": COUNTS in arrays}


FORMAT = Format(
    summary="safetensors: tensors vectors, words (a text, one per line) and counts",
    extensions=(".safetensors",),
    stores_counts=True,
    stores_pooling=True,
    sniff=sniff,
    read=read,
    write=write,
    describe=describe,
)
