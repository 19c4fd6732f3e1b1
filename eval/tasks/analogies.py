"""Word analogies: is d the answer to "a is to b as c is to what"?

3CosAdd takes the word nearest to b - a + c (Mikolov et al., 2013), 3CosMul the word with the largest
cos(x, b) cos(x, c) / cos(x, a), cosines shifted to 0..1 (Levy and Goldberg, 2014), PairDirection the word for which
x - c is most parallel to b - a (Mikolov et al., 2013; equation 2 of Levy and Goldberg).

The 19,544 questions of the Google set are made of some 550 pairs of words, so they are far from independent. The
bootstrap therefore resamples pairs: a question counts as often as its first pair is drawn times how often its second
is. With very many pairs a normal approximation is used; its variance sums the squared contributions of pairs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import erfc, sqrt

import numpy as np

from embeddings.errors import S, SettingError
from embeddings.eval.statistics.confidence_intervals import (
    MAX_CACHED,
    NO_INTERVAL,
    Interval,
    Z,
    bootstrap_weights,
    divide_or_nan,
    wilson,
)
from embeddings.eval.statistics.results import BinaryScores, Comparison, Key, bootstrap_test
from embeddings.eval.tasks.analogy_questions import METHODS, Questions, read_questions
from embeddings.eval.tasks.evaluation_kind import Kind
from embeddings.eval.tasks.word_matching import CaseFolding
from embeddings.vectors.vectors import Vectors

WORD_PAIRS = "paired bootstrap over word pairs"


@dataclass(frozen=True, kw_only=True)
class AnalogyScores(BinaryScores):
    """Questions that are answered correctly or not; `pairs` (questions, 2) numbers the two word pairs of each."""

    pairs: np.ndarray

    def interval(self, counted: np.ndarray) -> Interval:
        """The bootstrap over pairs; where all or none are correct, Wilson's, as if there were one question per pair."""
        correct, pairs = self.correct[counted], self.pairs[counted]
        if correct.all() or not correct.any():
            independent = min(len(correct), len(np.unique(pairs)))
            return wilson(independent if correct.all() else 0, independent)
        (low, high), _ = interval_and_p(correct.astype(np.float64), pairs)
        return NO_INTERVAL if low is None or high is None else (max(0.0, low), min(1.0, high))

    def compare_on(self, both: np.ndarray, other: BinaryScores) -> Comparison:
        """A paired test on some of the questions."""
        correct, others = self.correct[both], other.correct[both]
        interval, p = interval_and_p(correct.astype(np.float64) - others, self.pairs[both])
        values = correct.mean(), others.mean()
        return self.test_against(other).comparison(values, interval, items=int(both.sum()), p=p, test=WORD_PAIRS)


def interval_and_p(gains: np.ndarray, pairs: np.ndarray) -> tuple[Interval, float | None]:
    """The interval of the mean of `gains` (questions,) and the p of its difference from zero; none for few pairs."""
    distinct, number = np.unique(pairs, return_inverse=True)
    number = number.reshape(-1, 2)
    if len(distinct) > MAX_CACHED:
        return normal_test(gains, number)
    return bootstrap_test(resampled_means(gains, number, len(distinct)), len(distinct))


def resampled_means(gains: np.ndarray, pairs: np.ndarray, count: int) -> np.ndarray:
    """The mean of `gains` (questions,) in each resample of `count` pairs; NaN where no question is drawn."""
    from scipy.sparse import csr_array

    numerator, denominator = (
        csr_array((values, (pairs[:, 0], pairs[:, 1])), shape=(count, count)) for values in (gains, np.ones(len(gains)))
    )
    sums = [[((table @ w.T) * w.T).sum(axis=0) for table in (numerator, denominator)] for w in bootstrap_weights(count)]
    return divide_or_nan(*np.concatenate(sums, axis=1))


def normal_test(gains: np.ndarray, pairs: np.ndarray) -> tuple[Interval, float]:
    """Interval and p by the normal distribution, whose variance sums the squared contributions of pairs to the mean."""
    mean, rest = float(gains.mean()), gains - gains.mean()
    contributions = np.bincount(pairs.ravel(), np.repeat(rest, 2)) / len(gains)
    spread = float(np.sqrt((contributions**2).sum()))
    p = erfc(abs(mean) / spread / sqrt(2)) if spread else float(mean == 0)
    return (mean - Z * spread, mean + Z * spread), p


PROTOCOL = (
    "case is ignored, and of words that differ in case alone the most frequent is used; a question is left out if one "
    "of its three words or all of its correct answers lack a vector; a, b, c and their case variants are never "
    "answers; of several correct answers any one counts; a tie goes to the more frequent word; a question that occurs "
    "twice counts twice; interval: bootstrap over the word pairs that questions are made of (where all or none are "
    "correct Wilson's, with one item per pair)"
)
NOT_COVERED = "no question has vectors for all four words"


def check_methods(method: str | Sequence[str]) -> list[str]:
    """The methods as a list, each once."""
    methods = [method] if isinstance(method, str) else list(dict.fromkeys(method))
    for name in methods or [""]:
        if name not in METHODS:
            raise SettingError(f"{S.method} must be one of {', '.join(METHODS)}, got {name!r}")
    return methods


def score_analogy(
    vectors: Vectors,
    test: Questions,
    folding: CaseFolding,
    *,
    name: str,
    restrict: Sequence[int | None],
    methods: Sequence[str] = METHODS[:1],
) -> list[AnalogyScores]:
    """Which questions are answered correctly, for each of `methods` and `restrict`: by section, by kind, and all.

    Like gensim's `evaluate_word_analogies`, except that gensim considers only five candidates: if all five are case
    variants of a, b and c, gensim counts a miss, but this function takes the next candidate.
    """
    from embeddings.eval.tasks.analogy_search import score_questions  # imports numba

    rows = folding.find(word for question in test.questions for word in question).reshape(-1, 3)
    counts = np.array([len(answers) for answers in test.answers])
    answers = np.full((len(counts), counts.max()), -1)  # rows of the correct answers to each question
    answers[np.arange(counts.max()) < counts[:, None]] = folding.find(chain.from_iterable(test.answers))
    pairs = test.pairs()
    limits = distinct_limits(restrict, len(vectors))
    covered = [covered_questions(rows, answers, words) for words in limits]
    is_asked = np.logical_or.reduce(covered)
    correct = np.zeros((len(methods), len(limits), len(rows)), dtype=bool)
    correct[:, :, is_asked] = score_questions(
        vectors.unit_rows, rows[is_asked], answers[is_asked], folding, list(limits), methods
    )
    scores: list[AnalogyScores] = []
    for method, by_limit in zip(methods, correct, strict=True):
        for limit, with_vectors, hits in zip(limits.values(), covered, by_limit, strict=True):
            key = Key(test.name, "accuracy", restrict=limit, method=method, half=test.half)
            whole = AnalogyScores(
                vectors=name,
                key=key,
                covered=with_vectors,
                correct=hits & with_vectors,
                members=np.ones(len(rows), dtype=bool),
                pairs=pairs,
                protocol=PROTOCOL,
                absent=NOT_COVERED,
            )
            scores += [whole.section(label, members, is_detail=detail) for label, members, detail in sections(test)]
    return scores


def distinct_limits(restrict: Sequence[int | None], words: int) -> dict[int, int | None]:
    """The restrictions that differ, by how many of the words each leaves."""
    limits: dict[int, int | None] = {}
    for one in restrict:
        limits.setdefault(words if one is None else min(one, words), one)
    return limits


def covered_questions(rows: np.ndarray, answers: np.ndarray, words: int) -> np.ndarray:
    """Which questions have their three words and an answer among the first `words` words, bool (questions,)."""
    has_words, has_answer = ((part >= 0) & (part < words) for part in (rows, answers))
    return np.asarray(has_words.all(axis=1) & has_answer.any(axis=1))


def sections(test: Questions) -> Iterator[tuple[str | None, np.ndarray, bool]]:
    """Each section, each kind and the whole: its name, its questions (questions,) bool, and whether it is a detail."""
    section_of = np.array(test.section_of)
    if len(test.sections) > 1 or test.kinds != [None]:
        yield from ((section, section_of == number, True) for number, section in enumerate(test.sections))
    for kind in dict.fromkeys(test.kinds):
        if kind is not None:
            yield kind, np.array([one == kind for one in test.kinds])[section_of], False
    yield None, np.ones(len(section_of), dtype=bool), False


KIND = Kind(
    name="analogy",
    read=lambda test, settings: read_questions(test),
    score=lambda subject, test: score_analogy(
        subject.vectors, test, subject.folding, name=subject.name, restrict=subject.settings.restrict,
        methods=subject.settings.method,
    ),
    settings=("method", "restrict", "half"),
    has_halves=True,
)  # fmt: skip
