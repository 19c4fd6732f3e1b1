"""Similarity of texts: the correlation of cosines with ratings (STS benchmark)."""

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.text_pairs import PairFormat
from embeddings.errors import CorpusError, S
from embeddings.eval.statistics.results import ItemScores
from embeddings.eval.tasks.evaluation_kind import Halved, Kind, PooledTexts, Subject
from embeddings.eval.tasks.word_similarity import correlation_scores
from embeddings.eval.test_sets import ALL, rows_of_half, set_name
from embeddings.support.cosine import normalize


@dataclass(frozen=True, kw_only=True)
class PairSettings(Halved, PooledTexts):
    """The columns of pairs, and how they are scored; see `embeddings.evaluate`."""

    left_column: str | None = None
    right_column: str | None = None
    rating_column: str | None = None


@dataclass(frozen=True)
class RatedTexts:
    """Pairs of texts, and how similar people find them, float64 (pairs,)."""

    name: str
    left: list[str]
    right: list[str]
    ratings: NDArray[np.float64]
    half: str = ALL

    def select(self, half: str) -> "RatedTexts":
        """The pairs of a half; see `embeddings.eval.test_sets`."""
        rows = rows_of_half(zip(self.left, self.right, strict=True), half, self.name)
        left, right = ([side[row] for row in rows] for side in (self.left, self.right))
        return RatedTexts(self.name, left, right, self.ratings[rows], half)


def read_rated_texts(path: str | os.PathLike[str], settings: PairSettings) -> RatedTexts:
    """The rated pairs of a table, or of lines of two texts and a rating separated by tabs.

    Raises:
        CorpusError: the file cannot be read or has no ratings.
    """
    pairs = PairFormat(left=settings.left_column, right=settings.right_column, rating=settings.rating_column)
    left: list[str] = []
    right: list[str] = []
    ratings: list[NDArray[np.float64]] = []
    for rows in Corpus(path, pairs=pairs, encoding_errors=settings.encoding_errors).pair_rows():
        if rows.ratings is None:
            raise CorpusError(f"{path} has no column of ratings; set {S.rating_column}")
        left += rows.texts[0].to_pylist()
        right += rows.texts[1].to_pylist()
        ratings.append(rows.ratings)
    return RatedTexts(set_name(path), left, right, np.concatenate(ratings))


PROTOCOL = (
    "{scores} against ratings; pairs with a text without a known word are left out; ties have their mean rank; "
    "interval: bootstrap over pairs"
)


def score_rated_texts(subject: Subject, test: RatedTexts) -> list[ItemScores]:
    """Spearman's and Pearson's correlation, and word coverage.

    The correlation is over the pairs whose texts both have a known word.
    """
    vectors, name = subject.texts, subject.name
    embedded = vectors.embed([*test.left, *test.right])
    left, right = normalize(embedded.matrix).reshape(2, len(test.left), -1)
    covered = np.asarray(embedded.covered.reshape(2, -1).all(axis=0))
    protocol = PROTOCOL.format(scores=f"cosines of text vectors ({vectors.description})")
    scores = correlation_scores(name, test, (left * right).sum(axis=1), covered, protocol)
    return [*scores, embedded.coverage(name, test.name)]


KIND = Kind(
    name="pairs",
    metavar="FILE...",
    read=read_rated_texts,
    score=score_rated_texts,
    settings=PairSettings,
    options={"half": "HALF", "left_column": "NAME", "right_column": "NAME", "rating_column": "NAME"},
    of_words=False,
)
