"""Which word of the vectors a word of a test set means.

Sets of words are matched without regard to case, as gensim does it (`Folded`); running text as it stands, then in
lower case (`look_up`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from embeddings.corpora.tokenizers import lowered
from embeddings.errors import SettingError
from embeddings.operations.compose import compose as composed_rows
from embeddings.vectors import Vectors

JOINER = "_"  # between the words of a phrase in test sets
JOINERS = (JOINER, " ", "-", "~", "+", "::")  # in vectors


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
        """The row of each word (int64), -1 for one that is not there.

        A phrase that is not there as it stands, such as St._Louis, is looked for without its full stops, and with
        other marks between its words.
        """
        return np.array([self._find(word.upper()) for word in words], dtype=np.int64)

    def _find(self, word: str) -> int:
        """The row of a word in upper case."""
        found = self._first.get(word, -1)
        if found >= 0 or JOINER not in word.strip(JOINER):
            return found
        words = [part for part in word.replace(".", "").split(JOINER) if part]
        return next((self._first[joined] for mark in JOINERS if (joined := mark.join(words)) in self._first), -1)

    def forms(self, rows: Iterable[int]) -> list[int]:
        """The given rows and every other row that differs from one of them in case alone."""
        return [form for row in rows for form in (int(row), *self._others.get(int(row), ()))]

    def canonical(self, rows: np.ndarray) -> np.ndarray:
        """For each row the one that stands for its word."""
        return np.array([self._canonical[row] for row in rows], dtype=np.int64)


@dataclass(frozen=True)
class Found:
    """Vectors of words, (words, dim) float32, zeros where there is none; which have one, and which were composed."""

    matrix: np.ndarray
    known: np.ndarray
    composed: np.ndarray


def look_up(vectors: Vectors, words: Iterable[str], *, compose: bool = False) -> Found:
    """The vector of each word, looked up as it stands, then in lower case; and composed, if asked for.

    Raises:
        SettingError: a vector holds NaN or infinity (the word is named), or none can be composed.
    """
    listed = list(words)
    rows = np.array([row_of(vectors, word) for word in listed], dtype=np.int64)
    known = rows >= 0
    matrix = np.zeros((len(listed), vectors.dim), dtype=np.float32)
    matrix[known] = vectors.matrix[rows[known]]
    good = np.isfinite(matrix).all(axis=1)
    if not good.all():
        raise SettingError(f"the vector of {listed[int(good.argmin())]!r} holds NaN or infinity")
    composed = np.zeros(len(listed), dtype=bool)
    if compose:
        spelt = spelling(vectors)
        unseen = np.flatnonzero(~known)
        matrix[unseen] = composed_rows(vectors, [spelt(listed[place]) for place in unseen])
        composed[unseen] = matrix[unseen].any(axis=1)
    return Found(matrix, known | composed, composed)


def spelling(vectors: Vectors) -> Callable[[str], str]:
    """How words are spelt to compose them: in lower case if all words of the vectors are."""
    lower = all(word == lowered(word) for word in vectors.words)
    return lowered if lower else str


def row_of(vectors: Vectors, word: str) -> int:
    """The row of a word as it stands or in lower case; -1 if there is neither."""
    return next((vectors.index(form) for form in (word, lowered(word)) if form in vectors), -1)
