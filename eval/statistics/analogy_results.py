"""Scores of analogy questions, whose intervals and tests allow for word pairs that questions share.

The 19,544 questions of the Google set are made of some 550 pairs of words, so they are far from independent. The
bootstrap therefore resamples pairs: a question counts as often as its first pair is drawn times how often its second
is. With very many pairs a normal approximation is used; its variance sums the squared contributions of pairs.
"""

from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np

from embeddings.eval.statistics.confidence_intervals import (
    MAX_CACHED,
    NO_INTERVAL,
    Interval,
    Z,
    bootstrap_weights,
    divide_or_nan,
    wilson,
)
from embeddings.eval.statistics.item_scores import BinaryScores
from embeddings.eval.statistics.paired_tests import Comparison, bootstrap_test

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
    """The same by the normal distribution, whose variance sums the squared contribution of each pair to the mean."""
    mean, rest = float(gains.mean()), gains - gains.mean()
    contributions = np.bincount(pairs.ravel(), np.repeat(rest, 2)) / len(gains)
    spread = float(np.sqrt((contributions**2).sum()))
    p = erfc(abs(mean) / spread / sqrt(2)) if spread else float(mean == 0)
    return (mean - Z * spread, mean + Z * spread), p
