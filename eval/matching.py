"""Which word of the vectors a word of a test set means: without regard to case, as gensim does it."""

from collections.abc import Iterable

import numpy as np

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
