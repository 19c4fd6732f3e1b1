"""Similarity of texts: the correlation of cosines with ratings (STS benchmark), or recall among candidates.

Recall@k among N candidates is the share of left texts whose right text is among the k nearest of N (Lowe et al. 2015).
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
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

GIVEN = "given"  # candidates of left texts


@dataclass(frozen=True, kw_only=True)
class PairSettings(Halved, PooledTexts):
    """The columns of pairs, and how they are scored; see `embeddings.evaluate`."""

    left_column: str | None = None
    right_column: str | None = None
    rating_column: str | None = None
    candidates: Sequence[int | str] = several((), Annotated[int, Range(ge=2)], {GIVEN: GIVEN})

    def __post_init__(self) -> None:
        super().__post_init__()
        if GIVEN in self.candidates and self.half != ALL:
            excluded = f"{S.half(self.half)} cannot be combined with {S.candidates(GIVEN)}"
            raise SettingError(f"{excluded}: it would divide candidates")


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
        CorpusError: the file cannot be read, has no ratings, or they do not vary; all pairs are the same.
    """
    pairs = PairFormat(left=settings.left_column, right=settings.right_column, rating=settings.rating_column)
    left: list[str] = []
    right: list[str] = []
    ratings: list[NDArray[np.float64]] = []
    for batch in TextPairs(path, pairs=pairs, encoding_errors=settings.encoding_errors):
        if batch.ratings is None and (not settings.candidates or GIVEN in settings.candidates):
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
    "the mean over left texts with a right and a wrong candidate of the share of right candidates (rating above 0) "
    "among the k best; scores: {scores}; candidates: {candidates}; a tie goes to the wrong candidate, a text without a "
    "known word is ranked last; interval: bootstrap over left texts"
)
DRAWN = "the right text and random right texts of other left texts, seed 1"


def candidate_recalls(
    name: str, test: RatedTexts, units: tuple[np.ndarray, np.ndarray], covered: NDArray[np.bool_],
    candidates: Sequence[int | str], scores: str,
) -> Iterator[ItemScores]:  # fmt: skip
    """Recall@1, @2 and @5 of each left text among its candidates, for each number of candidates.

    Arguments:
        units: the unit vectors of the left and of the right texts, (pairs, dim) each; zeros without a known word.
        covered: whether both texts of a pair have a known word, (pairs,).
        scores: of candidates, for the protocol.
    """
    left, right = units
    for number in candidates:
        lists = list(given_candidates(test) if isinstance(number, str) else drawn_candidates(test, number))
        if not lists:
            raise CorpusError(f"{test.name} has no left text with a right and a wrong candidate")
        ranks = [k for k in RANKS if k < max(len(rows) for _, rows, _ in lists)]
        values, is_covered = np.zeros((len(lists), len(ranks))), np.zeros(len(lists), bool)
        for place, (query, rows, is_right) in enumerate(lists):
            cosines = np.where(right[rows].any(axis=1), (right[rows] * left[query]).sum(axis=1), -np.inf)
            found = is_right[np.lexsort((is_right, -cosines))]
            values[place] = [found[:k].sum() / is_right.sum() if left[query].any() else 0 for k in ranks]
            is_covered[place] = covered[rows[is_right]].any()
        for k, column in zip(ranks, values.T, strict=True):
            yield MeanScores(
                vectors=name,
                key=Key(test.name, f"recall@{k}", method="given candidates" if number == GIVEN else f"1 in {number}"),
                values=column,
                covered=is_covered,
                protocol=RECALL_PROTOCOL.format(scores=scores, candidates=number if number == GIVEN else DRAWN),
            )


Candidates = tuple[int, NDArray[np.int64], NDArray[np.bool_]]  # row of the left text, rows of right texts, is right


def given_candidates(test: RatedTexts) -> Iterator[Candidates]:
    """The candidates of each left text: the right texts of successive pairs with it."""
    for _, group in groupby(range(len(test.left)), key=test.left.__getitem__):
        rows = np.fromiter(group, np.int64)
        is_right = test.ratings[rows] > 0
        if is_right.any() and not is_right.all():
            yield int(rows[0]), rows, is_right


def drawn_candidates(test: RatedTexts, number: int) -> Iterator[Candidates]:
    """The right text of each pair and `number` - 1 random ones that belong to no pair with its left text."""
    row_of = {text: row for row, text in reversed([*enumerate(test.right)])}
    texts, own = [*row_of], dict[str, set[str]]()
    for text, match in zip(test.left, test.right, strict=True):
        own.setdefault(text, set()).add(match)
    rng = np.random.default_rng(1)
    for row in np.flatnonzero(test.ratings > 0).tolist():
        others = own[test.left[row]]
        size = number - 1 + len(others)
        if size > len(texts):
            raise SettingError(f"{S.candidates(number)} requires {size} different right texts, got {len(texts)}")
        drawn = [texts[one] for one in rng.choice(len(texts), size, replace=False).tolist()]
        rows = [row, *(row_of[text] for text in drawn if text not in others)][:number]
        yield row, np.array(rows), np.arange(number) == 0


KIND = Kind(
    name="pairs",
    metavar="FILE...",
    read=read_rated_texts,
    score=score_rated_texts,
    settings=PairSettings,
    options={
        "half": "HALF", "left_column": "NAME", "right_column": "NAME", "rating_column": "NAME",
        "candidates": "N|given...",
    },
    of_words=False,
)  # fmt: skip
