"""Paired tests: whether two sets of vectors differ on the items of a test set that both cover.

Shares of independent items (documents, words) are compared by McNemar's exact test, with the interval of the difference
by Agresti and Min (2005). Items in sentences, questions made of word pairs, correlations, means over queries, F1 and
V-measure are compared by a paired bootstrap over sentences, pairs, queries, words or texts: 1,000 resamples, the same
for both, whose percentiles of the difference are the interval. Its p is twice the share of resamples on the rarer side
of zero, counting the observed value (so p is at least 2/1001). With fewer than ten of these there is no interval and no
p. No p is corrected for multiple comparisons.
"""

from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

import numpy as np

from embeddings.eval.statistics.confidence_intervals import (
    MIN_ITEMS,
    NO_INTERVAL,
    Interval,
    Z,
    bootstrap_weights,
    correlations,
    percentiles,
    ratios,
)
from embeddings.eval.statistics.results import Key

MCNEMAR = "McNemar, exact"
SENTENCES = "paired bootstrap over sentences"
PAIRS = "paired bootstrap over pairs"
WORDS = "paired bootstrap over words"
TEXTS = "paired bootstrap over texts"
QUERIES = "paired bootstrap over queries"
PARTS = "paired bootstrap over parts of the text"


@dataclass(frozen=True, kw_only=True)
class Comparison(Key):
    """Two values on the same items, and a test of their difference; the fields of `Key` say what they measure.

    Arguments:
        first: name of the first vectors; `second` is that of the others.
        items: number of items that both cover; `value_first` and `value_second` are over these.
        total: items of the set or section, in the half that `half` names.
        difference: first value minus second; `low` to `high` is its 95 % interval, None for too few items.
        p: two-sided p value; None for too few items.
        test: name of the test.
    """

    first: str
    second: str
    items: int
    total: int
    value_first: float
    value_second: float
    difference: float
    low: float | None
    high: float | None
    p: float | None
    test: str


@dataclass(frozen=True)
class Pair:
    """What is compared: the key of a result, the names of both vectors, and the number of items of the set."""

    key: Key
    first: str
    second: str
    total: int

    def comparison(self, values: tuple[float, float], interval: Interval, **more: Any) -> Comparison:
        """The comparison of two values, with the interval of their difference."""
        return Comparison(
            **asdict(self.key), first=self.first, second=self.second, total=self.total,
            value_first=float(values[0]), value_second=float(values[1]), difference=float(values[0] - values[1]),
            low=interval[0], high=interval[1], **more,
        )  # fmt: skip

    def compare_shares(self, correct: np.ndarray, other: np.ndarray) -> Comparison:
        """Compare which items each gets right, (items,) bool each."""
        from scipy.stats import binomtest

        items, wins, losses = len(correct), int((correct & ~other).sum()), int((other & ~correct).sum())
        p = float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
        values = correct.sum() / items, other.sum() / items
        return self.comparison(values, agresti_min(wins, losses, items), items=items, p=p, test=MCNEMAR)

    def compare_clusters(self, hits: np.ndarray, others: np.ndarray, sizes: np.ndarray) -> Comparison:
        """Compare shares of clustered items: correct items of each side, and items, per cluster (clusters,)."""
        items, clusters = int(sizes.sum()), int((sizes > 0).sum())
        interval, p = bootstrap_test(ratios(hits - others, sizes), clusters)
        values = hits.sum() / items, others.sum() / items
        return self.comparison(values, interval, items=items, p=p, test=SENTENCES)

    def compare_means(self, values: np.ndarray, others: np.ndarray, test: str = QUERIES) -> Comparison:
        """Compare the means of a value of each query, both (queries,)."""
        items, difference = len(values), values - others
        resampled = np.concatenate([block @ difference / items for block in bootstrap_weights(items)])
        interval, p = bootstrap_test(resampled, items)
        return self.comparison((values.mean(), others.mean()), interval, items=items, p=p, test=test)

    def compare_correlations(
        self, scores: np.ndarray, others: np.ndarray, ratings: np.ndarray, *, ranked: bool
    ) -> Comparison | None:
        """Compare how well scores follow ratings, all (pairs,); None where one of the three is constant."""
        if any((side == side[0]).all() for side in (scores, others, ratings)):
            return None
        difference = correlations(scores, ratings, ranked=ranked) - correlations(others, ratings, ranked=ranked)
        interval, p = bootstrap_test(difference, len(ratings))
        ones = [np.ones((1, len(ratings)))]
        first, second = (correlations(side, ratings, ranked=ranked, weights=ones)[0] for side in (scores, others))
        return self.comparison((first, second), interval, items=len(ratings), p=p, test=PAIRS)


def agresti_min(wins: int, losses: int, items: int) -> tuple[float, float]:
    """The interval of a difference of paired shares: the large-sample one, with 1/2 added to each of four cells."""
    b, c, n = wins + 0.5, losses + 0.5, items + 2
    reach = Z * sqrt(b + c - (b - c) ** 2 / n) / n
    return max(-1.0, (b - c) / n - reach), min(1.0, (b - c) / n + reach)


def bootstrap_test(resampled: np.ndarray, count: int) -> tuple[Interval, float | None]:
    """The interval and p of a resampled difference; None for both with fewer than ten units to resample."""
    return (percentiles(resampled), bootstrap_p(resampled)) if count >= MIN_ITEMS else (NO_INTERVAL, None)


def bootstrap_p(resampled: np.ndarray) -> float | None:
    """The two-sided p of resampled differences (resamples,); None where most of them are not finite."""
    if percentiles(resampled) == NO_INTERVAL:
        return None
    finite = resampled[np.isfinite(resampled)]
    rarer = min(int((finite <= 0).sum()), int((finite >= 0).sum()))
    return min(1.0, 2 * (rarer + 1) / (len(finite) + 1))
