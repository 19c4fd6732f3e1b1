"""Vectors of words made of their n-grams (Bojanowski et al. 2017), for the vocabulary and for any other word."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from embeddings.errors import FormatError, SettingError
from embeddings.models.subwords import Word, check_ngrams, subwords

if TYPE_CHECKING:
    from embeddings.models.model import Model

BLOCK = 1 << 22  # n-grams that are in memory at a time, at least one word's


@dataclass(frozen=True)
class SubwordVectors:
    """The table of n-grams of a model, float32 (buckets, dim), and their lengths.

    Called with words it gives their vectors (words, dim): the means of the rows of their n-grams, as fastText has it
    for words outside the vocabulary; zeros for a word without n-grams.

    Raises:
        SettingError: lengths and table do not fit together.
    """

    ngrams: np.ndarray
    min_n: int
    max_n: int

    def __post_init__(self) -> None:
        check_ngrams(self.min_n, self.max_n, len(self.ngrams))

    def __call__(self, words: Sequence[Word]) -> np.ndarray:
        """The vectors (words, dim), float32, of words as if none were in the vocabulary."""
        return self.means(words, np.zeros((len(words), self.ngrams.shape[1]), np.float32), 0)

    def with_own(self, words: Sequence[Word], own: np.ndarray) -> np.ndarray:
        """The vectors (words, dim) of the vocabulary: means of each word's own row (words, dim) and its n-grams'."""
        return self.means(words, np.array(own, np.float32, order="C", subok=False), 1)

    def means(self, words: Sequence[Word], sums: np.ndarray, terms: int) -> np.ndarray:
        """As `mean`, some words at a time."""
        lengths = self.max_n - min(self.min_n, self.max_n) + 1
        ends = np.cumsum([(len(word) + 2) * lengths for word in words])  # at most so many n-grams
        start = 0
        while start < len(words):
            held = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, held + BLOCK, side="right")))
            self.mean(words[start:stop], sums[start:stop], terms)
            start = stop
        return sums

    def mean(self, words: Sequence[Word], sums: np.ndarray, terms: int) -> np.ndarray:
        """`sums` (words, dim), of so many terms each, turned into the mean of these and the rows of the n-grams."""
        from embeddings.kernels.subword_ngrams import add_ngram_rows

        offsets, buckets = subwords(words, min_n=self.min_n, max_n=self.max_n, buckets=len(self.ngrams))
        add_ngram_rows(sums, self.ngrams, offsets, buckets)
        sums *= (1 / np.maximum(np.diff(offsets) + terms, 1)).astype(np.float32)[:, None]
        return sums


def composer(model: "Model") -> SubwordVectors:
    """How a model of the settings min_n and max_n and the table "ngrams" composes.

    Raises:
        FormatError: one of them is missing or broken, or they do not fit together.
    """
    table, dim = model.tables.get("ngrams"), model.vectors.dim
    if table is None or table.ndim != 2 or table.shape[1] != dim or table.dtype != np.float32:
        raise FormatError(f"the {model.name} model is broken: it has no float32 table 'ngrams' of {dim} columns")
    min_n, max_n = model.settings.get("min_n"), model.settings.get("max_n")
    if type(min_n) is not int or type(max_n) is not int:
        raise FormatError(f"the {model.name} model is broken: its min_n is {min_n!r} and its max_n {max_n!r}")
    try:
        return SubwordVectors(table, min_n, max_n)
    except SettingError as error:
        raise FormatError(f"the {model.name} model is broken: {error}") from None
