"""Look-up of test-set words in vectors: case folding, phrase joiners and composed vectors.

`CaseFolding` matches test-set words case-insensitively, as gensim does, then in the other forms of `spellings`.
`look_up` matches words of running text as written, then in these forms, the last of which is lower case.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from embeddings.corpora.phrases.phrase import JOINER
from embeddings.corpora.tokenizers import lower_case
from embeddings.errors import SettingError
from embeddings.vectors.spellings import spellings
from embeddings.vectors.vectors import Vectors

JOINERS = (JOINER, " ", "-", "~", "+", "::")  # in vectors


class CaseFolding:
    """Case-insensitive look-up; of words that differ only in case, the most frequent one is used.

    Arguments:
        words: in order of frequency.
        word_form: maps a word to its form in the training text; tried if the word itself is not found.
        without: rows of words that have no vector but zeros, which `find` does not return.
    """

    def __init__(
        self, words: Iterable[str], word_form: Callable[[str], str] | None = None, without: Iterable[int] = ()
    ) -> None:
        self._word_form = word_form
        self._first: dict[str, int] = {}
        self._others: dict[int, list[int]] = {}
        names, zeros = list(words), dict.fromkeys(without)
        self._canonical = [0] * len(names)
        # rows of zeros come last: they must not hide a word of another case that has a vector
        for index in (*(row for row in range(len(names)) if row not in zeros), *zeros):
            upper = names[index].upper()
            first = self._first.get(upper, index) if index in zeros else self._first.setdefault(upper, index)
            self._canonical[index] = first
            if first != index:
                self._others.setdefault(first, []).append(index)

    def find(self, words: Iterable[str]) -> np.ndarray:
        """The row of each word (int64), -1 for one that is missing."""
        return np.array(list(map(self._find_form, words)), dtype=np.int64)

    def _find_form(self, word: str) -> int:
        """The row of a word as it is written or in another form."""
        forms = spellings([word], self._word_form, lower=False)
        return next((row for _, (form,) in forms if (row := self._find(form.upper())) >= 0), -1)

    def _find(self, word: str) -> int:
        """The row of a word in upper case; a phrase is also tried without full stops, and with other joiners."""
        row = self._first.get(word, -1)
        if row >= 0 or JOINER not in word.strip(JOINER):
            return row
        parts = [part for part in word.replace(".", "").split(JOINER) if part]
        return next((self._first[phrase] for mark in JOINERS if (phrase := mark.join(parts)) in self._first), -1)

    def case_variants(self, rows: Iterable[int]) -> list[int]:
        """The given rows and every other row that differs from one of them in case alone."""
        return [form for row in rows for form in (int(row), *self._others.get(int(row), ()))]

    def canonical(self, rows: np.ndarray) -> np.ndarray:
        """The row that `find` gives for the word of each row."""
        return np.array([self._canonical[row] for row in rows], dtype=np.int64)


def look_up(vectors: Vectors, words: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of words as written, else in another form, and whether each word has one; see `look_up_rows`."""
    words = list(words)
    found = (vectors.find_form(word, lower=True)[0] for word in words)
    rows = [-1 if row is None else row for row in found]
    return look_up_rows(vectors, words, np.array(rows, dtype=np.int64))


def look_up_rows(vectors: Vectors, words: Sequence[str], rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The vector of each word, and whether there is one; a missing word is composed if the vectors compose."""
    matrix, _ = gather_vectors(vectors, words, rows, compose=vectors.compose is not None)
    if not np.isfinite(matrix).all():
        word = words[int(np.isfinite(matrix).all(axis=1).argmin())]
        raise SettingError(f"the vector of {word!r} holds NaN or infinity")
    return matrix, np.asarray(matrix.any(axis=1))  # zeros are no vector


def gather_vectors(
    vectors: Vectors, words: Sequence[str], rows: np.ndarray, *, compose: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The vectors of words at rows, (words, dim) float32, zeros at a row of -1, and which are composed, (words,)."""
    matrix = np.zeros((len(rows), vectors.dim), dtype=np.float32)
    is_composed = np.zeros(len(rows), dtype=bool)
    matrix[rows >= 0] = vectors.rows(rows[rows >= 0])
    missing = np.flatnonzero(rows < 0)
    if compose and len(missing):
        # n-grams of capitals were never trained where all words of the vocabulary are lower case
        is_lower = all(word == lower_case(word) for word in vectors.words)
        texts = [lower_case(words[item]) if is_lower else words[item] for item in missing.tolist()]
        matrix[missing] = vectors.compose_words(texts)
        is_composed[missing] = matrix[missing].any(axis=1)
    return matrix, is_composed
