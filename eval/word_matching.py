"""Which word of the vectors a word of a test set means.

Sets of words are matched without regard to case, as gensim does it (`Folded`); running text as it stands, then in
lower case (`look_up`).
"""

from collections.abc import Iterable, Sequence

import numpy as np

from embeddings.corpora.tokenizers import lowered
from embeddings.errors import SettingError
from embeddings.vectors.compose import compose as composed_rows
from embeddings.vectors.vectors import Vectors

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


def look_up(vectors: Vectors, words: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
    """The vector of each word (words, dim) float32, zeros where there is none, and whether there is one, (words,) bool.

    A word is looked up as it stands, then in lower case. Vectors that compose do so for a word that they do not hold,
    in lower case if all of their own are.

    Raises:
        SettingError: a vector holds NaN or infinity; the word is named.
    """
    listed = list(words)
    rows = np.array([row_of(vectors, word) for word in listed], dtype=np.int64)
    return found_or_composed(vectors, listed, rows)


def found_or_composed(vectors: Vectors, words: Sequence[str], rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same of words at these rows, -1 for one that is not there; it is composed by vectors that compose.

    Raises:
        SettingError: as `look_up`.
    """
    matrix, composed = rows_or_composed(vectors, words, rows, compose=vectors.compose is not None)
    if not np.isfinite(matrix).all():
        word = words[int(np.isfinite(matrix).all(axis=1).argmin())]
        raise SettingError(f"the vector of {word!r} holds NaN or infinity")
    return matrix, (rows >= 0) | composed


def row_of(vectors: Vectors, word: str) -> int:
    """The row of a word as it stands or in lower case; -1 if there is neither."""
    return next((vectors.index(form) for form in (word, lowered(word)) if form in vectors), -1)


def rows_or_composed(
    vectors: Vectors, words: Sequence[str], rows: np.ndarray, *, compose: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The vectors of words at these rows, (words, dim) float32, and which were composed, (words,) bool.

    A row of -1 stands for a word that is not there: its vector is composed if asked for, and zeros if it is not or if
    nothing is known of the word. It is composed in lower case where all words of the vectors are: n-grams are of the
    spelling that was learned.

    Raises:
        SettingError: these vectors compose nothing, or a composed one holds NaN or infinity.
    """
    matrix = np.zeros((len(rows), vectors.dim), dtype=np.float32)
    composed = np.zeros(len(rows), dtype=bool)
    matrix[rows >= 0] = vectors.matrix[rows[rows >= 0]]
    if compose:
        unseen = np.flatnonzero(rows < 0)
        lower = all(word == lowered(word) for word in vectors.words)
        texts = [lowered(words[place]) if lower else words[place] for place in unseen.tolist()]
        matrix[unseen] = composed_rows(vectors, texts)
        composed[unseen] = matrix[unseen].any(axis=1)
    return matrix, composed
