"""Vectors of words composed of their n-grams (Bojanowski et al. 2017), for vocabulary words and any other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from embeddings.errors import FormatError, SettingError
from embeddings.models.subwords import Word, check_ngrams, subwords

if TYPE_CHECKING:
    from embeddings.models.model import Model

MAX_BLOCK_NGRAMS = 1 << 22  # in memory at a time, unless a single word has more


@dataclass(frozen=True)
class SubwordVectors:
    """Composes word vectors from a table of n-gram vectors, float32 (buckets, dim).

    Raises:
        SettingError: the lengths and the table do not fit together.
    """

    ngrams: np.ndarray
    min_n: int
    max_n: int

    def __post_init__(self) -> None:
        check_ngrams(self.min_n, self.max_n, len(self.ngrams))

    def __call__(self, words: Sequence[Word]) -> np.ndarray:
        """The vectors of words outside the vocabulary, (words, dim) float32: means over their n-grams, or zeros."""
        return self._add_and_average(words, np.zeros((len(words), self.ngrams.shape[1]), np.float32), 0)

    def vocabulary_vectors(self, words: Sequence[Word], own: np.ndarray) -> np.ndarray:
        """The vectors of vocabulary words, (words, dim): means over a word's own row (words, dim) and its n-grams."""
        return self._add_and_average(words, np.array(own, np.float32, order="C", subok=False), 1)

    def _add_and_average(self, words: Sequence[Word], sums: np.ndarray, terms: int) -> np.ndarray:
        """Turn sums (words, dim) of `terms` vectors into means that include the n-grams, block by block."""
        from embeddings.kernels.subword_ngrams import add_ngram_rows

        lengths = self.max_n - min(self.min_n, self.max_n) + 1
        ends = np.cumsum([(len(word) + 2) * lengths for word in words])  # upper bounds on the number of n-grams
        start = 0
        while start < len(words):
            previous = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, previous + MAX_BLOCK_NGRAMS, side="right")))
            block = sums[start:stop]
            offsets, rows = subwords(words[start:stop], min_n=self.min_n, max_n=self.max_n, buckets=len(self.ngrams))
            add_ngram_rows(block, self.ngrams, offsets, rows)
            block *= (1 / np.maximum(np.diff(offsets) + terms, 1)).astype(np.float32)[:, None]
            start = stop
        return sums


def composer(model: "Model", name: str = "ngrams") -> SubwordVectors:
    """The composer of a model with the settings min_n and max_n and a table of n-grams."""
    table, dim = model.tables.get(name), model.vectors.dim
    if table is None or table.ndim != 2 or table.shape[1] != dim or table.dtype != np.float32:
        raise FormatError(f"the {model.name} model is broken: it has no float32 table {name!r} with {dim} columns")
    min_n, max_n = model.settings.get("min_n"), model.settings.get("max_n")
    if type(min_n) is not int or type(max_n) is not int:
        raise FormatError(f"the {model.name} model is broken: expected integers, got min_n {min_n!r}, max_n {max_n!r}")
    try:
        return SubwordVectors(table, min_n, max_n)
    except SettingError as error:
        raise FormatError(f"the {model.name} model is broken: {error}") from None
