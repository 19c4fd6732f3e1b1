"""Builds vectors from file content, read as a whole or block by block; errors name the file."""

import os
import tempfile
from array import array
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.compression import file_compression
from embeddings.errors import FormatError
from embeddings.support.arrow import pa
from embeddings.support.cache_folder import temporary_root
from embeddings.support.foreign_files import format_errors
from embeddings.support.word_list import WordList
from embeddings.vectors import file_format
from embeddings.vectors.file_format import check_dim, decode_words
from embeddings.vectors.vectors import Vectors


def build_vectors(
    path: Path,
    words: WordList | list[str],
    matrix: np.ndarray,
    counts: np.ndarray | None = None,
    *,
    is_finite: bool = False,
) -> Vectors:
    """Build and check vectors; set `is_finite` if the numbers are known to be finite."""
    check_dim(matrix.shape[1], path)
    with format_errors(path):
        vectors = Vectors(words, matrix, counts=counts)
        return vectors if is_finite else vectors.check_finite()


def check_array(place: str, array: np.ndarray, shape: tuple[int | None, ...], kinds: str) -> Any:
    """An array of a file; refuses other shapes, of which None is any number, and other types of numbers.

    Arguments:
        place: the file, and the name of the array.
        kinds: names of data types, or letters of their kinds, such as "f iu".
    """
    fits = len(shape) == array.ndim and all(size in (None, own) for size, own in zip(shape, array.shape, strict=True))
    if not fits or not {array.dtype.name, array.dtype.kind} & {*kinds.split()}:
        expected = str(shape).replace("None", "any")
        raise FormatError(f"{place} must be {expected} {kinds}, got {array.shape} {array.dtype}")
    return array


def check_words(words: list[str], path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Raise in advance whatever `file_format.write` would raise because of the words."""
    with tempfile.TemporaryDirectory(prefix="embeddings-", dir=temporary_root()) as folder:
        small = Vectors(words, np.zeros((len(words), 1), np.float32))
        file_format.write(small, Path(folder, "words").with_suffix(Path(path).suffix), format=format)


INITIAL_SIZE = 1 << 22  # components
MANY_WORDS = 1 << 16  # making the strings of fewer words takes less time than importing Arrow


class WordBuffer:
    """Words as packed bytes, without a Python object for each."""

    def __init__(self, words: Sequence[bytes] = ()) -> None:
        self.text, self.lengths, self.hashes = bytearray(), array("q"), array("q")
        self.extend(words)

    def __len__(self) -> int:
        return len(self.lengths)

    def extend(self, words: Sequence[bytes]) -> None:
        """Append words."""
        self.text += b"".join(words)
        self.lengths.extend(map(len, words))
        self.hashes.extend(map(hash, words))

    def offsets(self) -> np.ndarray:
        """The start of each word, and the end of the last one; (words + 1,)."""
        offsets = np.zeros(len(self) + 1, np.int64)
        np.cumsum(np.frombuffer(self.lengths, np.int64), out=offsets[1:])
        return offsets

    def to_list(self) -> list[bytes]:
        """All words."""
        text = bytes(self.text)
        return [text[start:end] for start, end in pairwise(self.offsets().tolist())]

    def decode(self, errors: str, place: str, first: int) -> WordList | list[str]:
        """Decode like `decode_words`, but keep many distinct words as an Arrow column.

        Building the strings and the dictionary of a million words takes longer than reading the rest of a file.
        """
        # equal words have equal hashes, so distinct hashes prove distinct words without a dictionary of them
        hashes = np.frombuffer(self.hashes, np.int64)
        if len(self) >= MANY_WORDS and len(np.unique(hashes)) == len(self):  # then all words differ
            offsets, text = pa.py_buffer(self.offsets()), pa.py_buffer(bytes(self.text))
            column = pa.LargeStringArray.from_buffers(len(self), offsets, text)
            try:
                column.validate(full=True)
                return WordList(column, distinct=True)
            except pa.ArrowInvalid:
                pass
        return decode_words(self.to_list(), errors, place, first)


class RowBuffer:
    """Words and vectors in memory that grows with what was read, not with what a header promises.

    Arguments:
        dim: components of a vector.
        expected: the number of rows, if it is known; unless the file is compressed, its size has confirmed it. Else
            duplicates are detected during reading, so that a file of repeated words is not expanded to its end.
    """

    def __init__(self, path: Path, dim: int, expected: int | None) -> None:
        expected = None if expected is None or file_compression(path) else expected
        self.path = path
        self.words = WordBuffer()
        rows = INITIAL_SIZE // dim + 1 if expected is None else expected
        self.matrix = np.empty((rows, dim), dtype=np.float32)
        self.seen: set[bytes] | None = set() if expected is None else None
        self.is_finite = True

    def __len__(self) -> int:
        return len(self.words)

    def add(self, words: Sequence[bytes], vectors: np.ndarray) -> None:
        """Append words and their vectors (words, dim); refuses duplicates if the number of rows is not confirmed."""
        start, end = len(self), len(self) + len(words)
        self.words.extend(words)
        if self.seen is not None:
            self.seen.update(words)
            if len(self.seen) < end:
                word, _ = Counter(self.words.to_list()).most_common(1)[0]
                raise FormatError(f"{self.path}: duplicate word {word.decode('utf-8', 'replace')!r}")
        if end > len(self.matrix):
            # in place, as realloc can extend large blocks without a second copy
            self.matrix.resize((max(end, len(self.matrix) * 3 // 2), self.matrix.shape[1]), refcheck=False)
        self.matrix[start:end] = vectors
        self.is_finite = self.is_finite and bool(np.isfinite(vectors).all())  # while they are in the CPU cache

    def to_matrix(self) -> np.ndarray:
        """The vectors of all words, (words, dim)."""
        self.matrix.resize((len(self), self.matrix.shape[1]), refcheck=False)
        return self.matrix

    def to_vectors(self, errors: str, place: str, first: int, counts: np.ndarray | None = None) -> Vectors:
        """All rows, checked; `place` and a number that starts at `first` locate a broken word in messages."""
        words = self.words.decode(errors, place, first)
        return build_vectors(self.path, words, self.to_matrix(), counts, is_finite=self.is_finite)
