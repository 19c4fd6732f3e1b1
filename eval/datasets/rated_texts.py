"""Pairs of texts with ratings, such as the STS benchmark."""

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.text_pairs import PairColumns, TextPairs
from embeddings.errors import CorpusError
from embeddings.eval.datasets.dataset_files import set_name
from embeddings.eval.datasets.halves import ALL, rows_of_half


@dataclass(frozen=True)
class RatedTexts:
    """Pairs of texts, and how similar people find them, float64 (pairs,)."""

    name: str
    left: list[str]
    right: list[str]
    ratings: NDArray[np.float64]
    half: str = ALL

    def select(self, half: str) -> "RatedTexts":
        """The pairs of a half; see `embeddings.eval.datasets.halves`."""
        rows = rows_of_half(zip(self.left, self.right, strict=True), half, self.name)
        left, right = ([side[row] for row in rows] for side in (self.left, self.right))
        return RatedTexts(self.name, left, right, self.ratings[rows], half)


def read_rated_texts(
    path: str | os.PathLike[str], columns: PairColumns, *, encoding_errors: str = "strict"
) -> RatedTexts:
    """The rated pairs of a table, or of lines of two texts and a rating separated by tabs.

    Raises:
        CorpusError: the file cannot be read, has no ratings, or they do not vary; all pairs are the same.
    """
    left: list[str] = []
    right: list[str] = []
    ratings: list[NDArray[np.float64]] = []
    for batch in TextPairs(path, columns=columns, encoding_errors=encoding_errors):
        if batch.ratings is None:
            raise CorpusError(f"{path} has no column of ratings; set rating_column")
        left += batch.left
        right += batch.right
        ratings.append(batch.ratings)
    return RatedTexts(set_name(path), left, right, np.concatenate(ratings))
