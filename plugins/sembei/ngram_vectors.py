"""Vectors of any string as sums of rows of all n-grams of a vocabulary that are within it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from embeddings.errors import FormatError
from embeddings.plugins.sembei.ngram_trie import NONE, NgramTable, Parts, ngram_table, ngrams_within

if TYPE_CHECKING:
    from embeddings.models.model import Model


@dataclass(frozen=True)
class Composition:
    """N-grams, and a row for each, float32 (n-grams, dim).

    Called with texts it gives their vectors (texts, dim): the sum of the rows of all n-grams within each, at whatever
    code point they start, as often as they are there; zeros where there is none.
    """

    ngrams: Sequence[str]
    rows: np.ndarray

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of texts, float32 (texts, dim)."""
        from scipy.sparse import csr_array

        offsets, words = parts(self.table, texts)
        counts = csr_array((np.ones(len(words), np.float32), words, offsets), shape=(len(texts), len(self.ngrams)))
        return np.asarray(counts @ self.rows, np.float32)

    @cached_property
    def table(self) -> NgramTable:
        """What finds the n-grams in texts."""
        return table_of(self.ngrams)


def table_of(ngrams: Sequence[str]) -> NgramTable:
    """What finds n-grams in code points."""
    points, borders = code_points(ngrams)
    lengths = np.diff(borders)
    sequences = np.full((len(ngrams), int(lengths.max(initial=1))), NONE, np.int32)
    sequences[np.arange(sequences.shape[1]) < lengths[:, None]] = points
    return ngram_table(sequences, np.arange(len(ngrams), dtype=np.int32), int(points.max(initial=0)) + 1)


def parts(table: NgramTable, texts: Sequence[str]) -> Parts:
    """The n-grams of a table of `table_of` within each text."""
    return ngrams_within(table, *code_points(texts))


def code_points(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The code points of all texts, int32, and the borders of the texts in these (texts + 1,), int64."""
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.int32)
    return points, np.cumsum([0, *map(len, texts)], dtype=np.int64)


def composer(model: "Model") -> Composition:
    """How a model with a row for each n-gram of its vocabulary, in the table "ngrams", composes.

    Raises:
        FormatError: the table is missing or does not fit.
    """
    rows, shape = model.tables.get("ngrams"), (len(model.vocabulary), model.vectors.dim)
    if rows is None or rows.shape != shape or rows.dtype != np.float32:
        raise FormatError(f"the {model.name} model is broken: it has no float32 table 'ngrams' of shape {shape}")
    return Composition(model.vocabulary.words, rows)
