"""Similarity of texts: the correlation of cosines with ratings (STS benchmark), or recall among candidates.

Recall@k among N candidates is the share of left texts whose right text is among the k nearest of N (Lowe et al. 2015).
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.text_pairs import PairFormat, TextPairs
from embeddings.errors import CorpusError, S, SettingError
from embeddings.eval.statistics.results import ItemScores, Key, MeanScores
from embeddings.eval.tasks.evaluation_kind import Halved, Kind, PooledTexts, Subject, several
from embeddings.eval.tasks.word_similarity import correlation_scores
from embeddings.eval.test_sets import ALL, rows_of_half, set_name
from embeddings.settings import Range
from embeddings.support.cosine import normalize


@dataclass(frozen=True, kw_only=True)
class PairSettings(Halved, PooledTexts):
    """The columns of pairs, and how they are scored; see `embeddings.evaluate`."""

    left_column: str | None = None
    right_column: str | None = None
    rating_column: str | None = None
    candidates: Sequence[int] = several((), Annotated[int, Range(ge=2)])


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
    """The rated pairs of a table, or of lines of two texts and a rating separated by tabs; 1 if random texts are rated.

    Raises:
        CorpusError: the file cannot be read or has no ratings.
    """
    pairs = PairFormat(left=settings.left_column, right=settings.right_column, rating=settings.rating_column)
    left: list[str] = []
    right: list[str] = []
    ratings: list[NDArray[np.float64]] = []
    for batch in TextPairs(path, pairs=pairs, encoding_errors=settings.encoding_errors):
        if batch.ratings is None and not settings.candidates:
            raise CorpusError(f"{path} has no column of ratings; set {S.rating_column}")
        left += batch.left
        right += batch.right
        ratings.append(np.ones(len(batch)) if batch.ratings is None else batch.ratings)
    return RatedTexts(set_name(path), left, right, np.concatenate(ratings))


PROTOCOL = (
    "{scores} against ratings; pairs with a text without a known word are left out; ties have their mean rank; "
    "interval: bootstrap over pairs"
)


def score_rated_texts(subject: Subject, test: RatedTexts) -> list[ItemScores]:
    """Recall among candidates if the settings have some, else Spearman's and Pearson's correlation; word coverage.

    The correlation is over the pairs whose texts both have a known word.
    """
    vectors, name = subject.texts, subject.name
    embedded = vectors.embed([*test.left, *test.right])
    left, right = normalize(embedded.matrix).reshape(2, len(test.left), -1)
    covered = np.asarray(embedded.covered.reshape(2, -1).all(axis=0))
    if subject.settings.candidates:
        about = f"cosines of text vectors ({vectors.description})"
        recalls = candidate_recalls(name, test, (left, right), covered, subject.settings.candidates, about)
        return [*recalls, embedded.coverage(name, test.name)]
    protocol = PROTOCOL.format(scores=f"cosines of text vectors ({vectors.description})")
    scores = correlation_scores(name, test, (left * right).sum(axis=1), covered, protocol)
    return [*scores, embedded.coverage(name, test.name)]


RANKS = (1, 2, 5)
RECALL_PROTOCOL = (
    "the share of left texts whose right text is among the k best candidates; scores: {scores}; candidates: the right "
    "text and random right texts of other left texts, seed 1; a tie goes to the wrong candidate, a text without a "
    "known word is ranked last; interval: bootstrap over left texts"
)


def candidate_recalls(
    name: str, test: RatedTexts, units: tuple[np.ndarray, np.ndarray], covered: NDArray[np.bool_],
    candidates: Sequence[int], scores: str,
) -> Iterator[ItemScores]:  # fmt: skip
    """Recall@1, @2 and @5 of each left text among its candidates, for each number of candidates.

    Arguments:
        units: the unit vectors of the left and of the right texts, (pairs, dim) each; zeros without a known word.
        covered: whether both texts of a pair have a known word, (pairs,).
        scores: of candidates, for the protocol.
    """
    left, right = units
    for number in candidates:
        rows = drawn_candidates(test, number)
        rank = np.zeros(len(rows), np.int64)
        for query, others in enumerate(rows):
            cosines = np.where(right[others].any(axis=1), (right[others] * left[others[0]]).sum(axis=1), -np.inf)
            # a wrong candidate with the same cosine ranks before the right one, which is first in its row
            rank[query] = (cosines >= cosines[0]).sum() if left[others[0]].any() else number
        for k in (k for k in RANKS if k < number):
            yield MeanScores(
                vectors=name,
                key=Key(test.name, f"recall@{k}", method=f"1 in {number}"),
                values=(rank <= k).astype(np.float64),
                covered=covered[rows[:, 0]],
                protocol=RECALL_PROTOCOL.format(scores=scores),
            )


def drawn_candidates(test: RatedTexts, number: int) -> NDArray[np.int64]:
    """The candidates of each left text with a rating above 0, (left texts, number), as rows of right texts.

    They are its own right text, then random ones that belong to no pair with the left text.
    """
    row_of = {text: row for row, text in reversed([*enumerate(test.right)])}
    texts, own = [*row_of], dict[str, set[str]]()
    for text, match in zip(test.left, test.right, strict=True):
        own.setdefault(text, set()).add(match)
    rng, candidates = np.random.default_rng(1), list[list[int]]()
    for row in np.flatnonzero(test.ratings > 0).tolist():
        others = own[test.left[row]]
        size = number - 1 + len(others)
        if size > len(texts):
            raise SettingError(f"{S.candidates(number)} requires {size} different right texts, got {len(texts)}")
        drawn = [texts[one] for one in rng.choice(len(texts), size, replace=False).tolist()]
        candidates.append([row, *(row_of[text] for text in drawn if text not in others)][:number])
    if not candidates:
        raise CorpusError(f"{test.name} has no pair with a rating above 0")
    return np.array(candidates)


KIND = Kind(
    name="pairs",
    metavar="FILE...",
    read=read_rated_texts,
    score=score_rated_texts,
    settings=PairSettings,
    options={
        "half": "HALF", "left_column": "NAME", "right_column": "NAME", "rating_column": "NAME",
        "candidates": "N...",
    },
    of_words=False,
)  # fmt: skip
