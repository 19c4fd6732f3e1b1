"""Which word of the vectors a word of a test set means.

Sets of words are matched without regard to case, as gensim does it (`Folded`); running text as it stands, then in
lower case (`look_up`).
"""

from collections.abc import Iterable
from contextlib import suppress

import numpy as np

from embeddings.corpora.tokenizers import lowered
from embeddings.errors import EmbeddingsError, SettingError
from embeddings.vectors import Vectors


class Folded:
    """Words compared in upper case; of several alike the first, the most frequent, stands for all.

    Arguments:
        words: in order of frequency.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._first: dict[str, int] = {}
        self._others: dict[int, list[int]] = {}
        self._canonical: list[int] = []
        for index, word in enumerate(words):
            first = self._first.setdefault(word.upper(), index)
            self._canonical.append(first)
            if first != index:
                self._others.setdefault(first, []).append(index)

    def find(self, words: Iterable[str]) -> np.ndarray:
        """The row of each word (int64), -1 for one that is not there."""
        return np.array([self._first.get(word.upper(), -1) for word in words], dtype=np.int64)

    def forms(self, rows: Iterable[int]) -> list[int]:
        """The given rows and every other row that differs from one of them in case alone."""
        return [form for row in rows for form in (int(row), *self._others.get(int(row), ()))]

    def canonical(self, rows: np.ndarray) -> np.ndarray:
        """For each row the one that stands for its word."""
        return np.array([self._canonical[row] for row in rows], dtype=np.int64)


def look_up(vectors: Vectors, words: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
    """The vector of each word (words, dim) float32, zeros where there is none, and whether there is one, (words,) bool.

    A word is looked up as it stands, then in lower case. Vectors that compose do so for a word that they do not hold,
    in lower case if all of their own are.

    Raises:
        SettingError: a vector holds NaN or infinity; the word is named.
    """
    listed = list(words)
    rows = [row_of(vectors, word) for word in listed]
    known = np.array(rows, dtype=np.int64) >= 0
    matrix = np.zeros((len(listed), vectors.dim), dtype=np.float32)
    matrix[known] = vectors.matrix[np.array(rows, dtype=np.int64)[known]]
    if vectors.compose is not None:
        lower = all(word == lowered(word) for word in vectors.words)
        for place in np.flatnonzero(~known):
            with suppress(EmbeddingsError):  # not even a part of it is known
                matrix[place] = vectors.compose(lowered(listed[place]) if lower else listed[place])
                known[place] = True
    if not np.isfinite(matrix).all():
        word = listed[int(np.isfinite(matrix).all(axis=1).argmin())]
        raise SettingError(f"the vector of {word!r} holds NaN or infinity")
    return matrix, known


def row_of(vectors: Vectors, word: str) -> int:
    """The row of a word as it stands or in lower case; -1 if there is neither."""
    return next((vectors.index(form) for form in (word, lowered(word)) if form in vectors), -1)
