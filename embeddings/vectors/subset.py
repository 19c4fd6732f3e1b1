"""Fewer words, or vectors of length one."""

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from embeddings.errors import FormatError, SettingError
from embeddings.vectors.vectors import Vectors


def subset(vectors: Vectors, words: int | Iterable[str]) -> Vectors:
    """The first so many words, or those named, in that order and once each, with their counts.

    Raises:
        UnknownWordError: a word has no vector.
        SettingError: a number below 1.
    """
    if isinstance(words, int | np.integer):
        if words < 1:
            raise SettingError(f"the number of words must be at least 1, not {words}")
        rows: slice | list[int] = slice(int(words))
        names = vectors.words[: int(words)]
    else:
        names = list(dict.fromkeys([words] if isinstance(words, str) else words))
        rows = [vectors.index(word) for word in names]
    counts = None if vectors.counts is None else vectors.counts[rows]
    return Vectors(names, vectors.matrix[rows], counts=counts, compose=vectors.compose)


def normalised(vectors: Vectors) -> Vectors:
    """The same words with vectors of length one; zero vectors stay zero.

    Raises:
        SettingError: a vector holds NaN or infinity; the word is named.
    """
    return Vectors(vectors.words, vectors.units, counts=vectors.counts)


def read_words(path: str | os.PathLike[str]) -> list[str]:
    """The words of a text file, one to a line, in order and once each; empty lines are passed over.

    Raises:
        FormatError: it cannot be read, or is not UTF-8; the line is said.
    """
    from embeddings.corpora.reading.compressed_files import plain
    from embeddings.vectors.word_encoding import decode

    with plain(Path(path)) as stream:
        lines = [line.rstrip(b"\r\n") for line in stream]
    words = dict.fromkeys(decode(lines, "strict", f"{path}, line", 1))
    words.pop("", None)
    if not words:
        raise FormatError(f"{path} holds no words")
    return list(words)
