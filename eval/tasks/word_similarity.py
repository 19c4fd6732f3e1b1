"""Word similarity: the correlation of cosines with human ratings of word pairs, in the layouts of published sets."""

import csv
import os
import re
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from embeddings.eval.statistics.results import CorrelationScores, Key
from embeddings.eval.tasks.evaluation_kind import Halved, Kind, Subject
from embeddings.eval.test_sets import ALL, check_found, line_error, locate, read_lines, rows_of_half, set_name
from embeddings.eval.word_matching import gather_vectors
from embeddings.support.cosine import normalize
from embeddings.support.imports import import_library

# Headings of the rating column in published sets, without case, spaces and punctuation.
RATING_HEADINGS = {
    *("rating", "score", "similarity", "relatedness", "simlex999", "simlex", "humanmean", "human", "mean", "average"),
    *("avg", "gold", "goldscore", "goldstandard", "averagescore", "averagerating", "meanscore", "meanrating"),
    *("humanscore", "humanrating", "similarityscore", "relatednessscore", "meanhumanscore", "meanrelatedness"),
}
FIRST = re.compile(r"(word|term)[ _-]?(1|a|one|i)?$|w1$", re.IGNORECASE)
SECOND = re.compile(r"(word|term)[ _-]?(2|b|two|ii)$|w2$", re.IGNORECASE)
EXPECTED = "two words and a rating, a number"


@dataclass(frozen=True)
class WordPairs:
    """Word pairs and how similar people find them. A pair that occurs twice is kept twice."""

    name: str
    pairs: list[tuple[str, str]]
    ratings: list[float]
    half: str = ALL

    def select(self, half: str) -> "WordPairs":
        """The pairs of a half; see `embeddings.eval.test_sets`."""
        rows = rows_of_half(self.pairs, half, self.name)
        return WordPairs(self.name, [self.pairs[row] for row in rows], [self.ratings[row] for row in rows], half)


def read_word_pairs(name: str | os.PathLike[str]) -> WordPairs:
    """A similarity set by name or path: lines of two words and a rating.

    Fields are separated by tabs, commas, semicolons or white space, which the first line decides. A heading names the
    rating column (`RATING_HEADINGS`) and the word columns (word1, word2 and the like) unless those are the first two.
    Without a heading the rating is the first number after the two words, so that individual ratings or a relation may
    follow it, and a part of speech may precede it.

    Raises:
        FormatError: the file cannot be read, has no pairs, or a line or heading that is not of this form.
    """
    path = locate(name)
    pairs: list[tuple[str, str]] = []
    ratings: list[float] = []
    layout: Layout | None = None
    for number, line in read_lines(path):
        is_first = layout is None
        layout = layout or detect_layout(line)
        if layout is None:
            raise line_error(path, number, f"{EXPECTED}, or a heading with one word1, word2 and rating", line)
        if is_first and layout.has_heading:
            continue
        fields = split_line(line, layout.separator)
        # two words and a rating; separated by white space nothing else
        is_complete = len(fields) > max(layout.rating, *layout.words) and all(fields[word] for word in layout.words)
        rating = to_number(fields[layout.rating]) if is_complete else None
        if rating is None or (layout.separator is None and not layout.has_heading and len(fields) != 3):
            raise line_error(path, number, EXPECTED, line)
        pairs.append((fields[layout.words[0]], fields[layout.words[1]]))
        ratings.append(rating)
    check_found(pairs, path, "word pairs")
    return WordPairs(set_name(name), pairs, ratings)


@dataclass(frozen=True)
class Layout:
    """The separator of fields (None: white space), the columns of rating and words, and whether there is a heading."""

    separator: str | None
    rating: int
    words: tuple[int, int] = (0, 1)
    has_heading: bool = False


def detect_layout(line: str) -> Layout | None:
    """The layout that the first line shows; None if it is not clear which columns hold the words or the rating."""
    separator = next((mark for mark in "\t,;" if mark in line), None)
    fields = split_line(line, separator)
    words = word_columns(fields) if len(fields) > 2 else None
    if words is None:
        return None
    others = [column for column in range(len(fields)) if column not in words]
    headings = ["".join(mark for mark in field.lower() if mark.isalnum()) for field in fields]
    rating_columns = [column for column in others if headings[column] in RATING_HEADINGS]
    numbers = [column for column in others if column > 1 and to_number(fields[column]) is not None]
    if len(rating_columns) == 1:
        return Layout(separator, rating_columns[0], words, has_heading=True)
    if numbers and not rating_columns and not FIRST.match(fields[words[0]]):
        return Layout(separator, numbers[0])
    return Layout(separator, others[0], words, has_heading=True) if len(fields) == 3 and not numbers else None


def word_columns(fields: list[str]) -> tuple[int, int] | None:
    """The columns of the words by their headings; the first two without headings, None if the first is not a word."""
    first, second = ([at for at, field in enumerate(fields) if one.match(field)] for one in (FIRST, SECOND))
    if len(first) == len(second) == 1:
        return first[0], second[0]
    is_word = fields[0] and (to_number(fields[0]) is None or to_number(fields[2]) is not None)
    return (0, 1) if is_word else None


def split_line(line: str, separator: str | None) -> list[str]:
    """The fields of a line, stripped; quotes are respected between commas or semicolons. A broken line has none."""
    is_quoted = separator is not None and separator in ",;"
    try:
        fields = next(csv.reader([line], delimiter=str(separator))) if is_quoted else line.split(separator)
    except csv.Error:
        return []
    return [field.strip() for field in fields]


def to_number(field: str) -> float | None:
    """A finite number, or None."""
    try:
        value = float(field)
    except ValueError:
        return None
    return value if isfinite(value) else None


PROTOCOL = (
    "cosines against ratings; case is ignored, and of words that differ in case alone the most frequent is used; "
    "{missing}pairs with a word without a vector are left out; ties have their mean rank; a pair that occurs twice "
    "counts twice; interval: bootstrap over pairs"
)
COMPOSED = "vectors of out-of-vocabulary words are composed, in lower case if the whole vocabulary is; "


def score_similarity(subject: Subject, test: WordPairs) -> list[CorrelationScores]:
    """Spearman's and Pearson's correlation of cosines and ratings, over the pairs whose words both have vectors."""
    words = [word for pair in test.pairs for word in pair]
    rows = subject.folding.find(words)
    matrix, is_composed = gather_vectors(subject.vectors, words, rows, compose=subject.settings.compose)
    covered = np.asarray(((rows >= 0) | is_composed).reshape(-1, 2).all(axis=1))
    sides = normalize(matrix).reshape(-1, 2, matrix.shape[1])[covered]
    cosines = np.zeros(len(covered))
    cosines[covered] = (sides[:, 0] * sides[:, 1]).sum(axis=1)
    composed = int((covered & is_composed.reshape(-1, 2).any(axis=1)).sum())
    protocol = PROTOCOL.format(missing=COMPOSED if subject.settings.compose else "")
    return correlation_scores(subject.name, test, cosines, covered, protocol, composed=composed)


def correlation_scores(
    name: str, test: Any, scores: np.ndarray, covered: np.ndarray, protocol: str, *, composed: int = 0
) -> list[CorrelationScores]:  # fmt: skip
    """Spearman's and Pearson's correlation of scores (pairs,) with the ratings of a test set, over `covered` pairs."""
    ratings = np.array(test.ratings)
    results = []
    for measure in ("spearman", "pearson"):
        value, reason = correlation(scores[covered], ratings[covered], ranked=measure == "spearman")
        key = Key(test.name, measure, half=test.half)
        results.append(
            CorrelationScores(
                vectors=name, key=key, covered=covered, scores=scores, ratings=ratings, value=value, reason=reason,
                composed=composed, protocol=protocol,
            )
        )  # fmt: skip
    return results


def correlation(x: np.ndarray, y: np.ndarray, *, ranked: bool = True) -> tuple[float | None, str | None]:
    """Spearman's (if `ranked`, with mean ranks for ties) or Pearson's correlation of (n,) arrays; or None and why."""
    rankdata = import_library("scipy.stats").rankdata

    if len(x) < 2:
        return None, f"a correlation requires two pairs with vectors, got {len(x)}"
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return None, "a vector holds NaN or infinity"
    for side, what in ((x, "cosines"), (y, "ratings")):
        if (side == side[0]).all():
            return None, f"all {what} are equal"
    a, b = ((side - side.mean()) for side in ((rankdata(x), rankdata(y)) if ranked else (x, y)))
    a, b = a / np.abs(a).max(), b / np.abs(b).max()  # so that no product underflows or overflows
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1)), None


@dataclass(frozen=True, kw_only=True)
class SimilaritySettings(Halved):
    """Whether pairs with composed vectors are scored too; see `embeddings.evaluate`."""

    compose: bool = False


KIND = Kind(
    name="similarity",
    metavar="NAME|FILE...",
    read=lambda test, settings: read_word_pairs(test),
    score=score_similarity,
    settings=SimilaritySettings,
    options={"compose": None, "half": "HALF"},
)
