"""Finds the rows of the words of texts, and composes vectors of words that have none."""

from collections.abc import Sequence
from functools import cached_property
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.tokenizers import lower_case
from embeddings.vectors.vectors import Vectors


class WordFinder:
    """Finds words as they are, then in their form in the training text, then in lower case."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The row of each word (words,), -1 for a word without one."""
        rows = self.vectors.word_list.rows
        return np.fromiter(map(rows.get, words, repeat(-1)), np.int64, len(words))

    def find_forms(self, words: Sequence[str]) -> NDArray[np.int64]:
        """`find`, and for words without a row, their forms."""
        rows = self.find(words)
        others = np.flatnonzero(rows < 0)
        missing = [words[place] for place in others.tolist()]
        if self.vectors.word_form is None:
            rows[others] = self.find([lower_case(word) for word in missing])
            return rows
        find = self.vectors.find
        for place, word in zip(others.tolist(), missing, strict=True):
            rows[place] = next((row for form in (word, lower_case(word)) if (row := find(form)) is not None), -1)
        return rows

    @cached_property
    def is_lower(self) -> bool:
        """Whether all words of the vectors are in lower case, so that others are composed in lower case."""
        return all(word == lower_case(word) for word in self.vectors.words)

    def compose(self, words: Sequence[str]) -> np.ndarray:
        """Vectors composed for words, float32 (words, dim), zeros where none can be composed.

        Raises:
            SettingError: a composed vector holds NaN or infinity.
        """
        if self.vectors.compose is None or not words:
            return np.zeros((len(words), self.vectors.dim), np.float32)
        return self.vectors.compose_words([lower_case(word) for word in words] if self.is_lower else list(words))
