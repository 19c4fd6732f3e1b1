"""Whether two files of vectors differ: paired tests on the items that both have, of one test set.

Shares of independent items (documents, words) are compared by McNemar's exact test, which is the sign test over the
items that one gets right and the other does not; the interval of the difference is Agresti and Min's (2005). Where
items stand in sentences, where questions are made of pairs of words, and for correlations, the sentences or pairs are
drawn again, 1,000 times, the same for both, and the difference taken each time: its percentiles are the interval, and p
is twice the share of resamples on the rarer side of zero, the resamples and the value itself counted (so never below
2/1001). Of fewer than ten there is neither. No p is corrected for how many are looked at.
"""

from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

import numpy as np

from embeddings.eval.confidence_intervals import FEWEST, Interval, Z, correlations, percentiles, ratios
from embeddings.eval.results import Key

MCNEMAR = "McNemar, exact"
SENTENCES = "paired bootstrap over sentences"
PAIRS = "paired bootstrap over pairs"
WORDS = "paired bootstrap over words"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two values on the same items, and how sure it is that they differ.

    Arguments:
        set: what is measured, as in `Result`, with `measure`, `section`, `restrict`, `method`, `detail`.
        first: the name of the first vectors, `second` of the others.
        items: how many both have; `value_first` and `value_second` are over these.
        difference: the first value minus the second; `low` to `high` is its 95 % interval, None where too few items
            are drawn again to tell.
        p: the chance of a difference as large, on either side, if there were none; two-sided; None as above.
        test: how it was found.
    """

    set: str
    measure: str
    section: str | None
    restrict: int | None
    method: str | None
    detail: bool
    first: str
    second: str
    items: int
    value_first: float
    value_second: float
    difference: float
    low: float | None
    high: float | None
    p: float | None
    test: str


def made(key: Key, first: str, second: str, values: tuple[float, float], interval: Interval, **more: Any) -> Comparison:
    """The comparison of these values."""
    return Comparison(
        **asdict(key), first=first, second=second, value_first=float(values[0]), value_second=float(values[1]),
        difference=float(values[0] - values[1]), low=interval[0], high=interval[1], **more,
    )  # fmt: skip


def compare_shares(key: Key, first: str, second: str, right: np.ndarray, other: np.ndarray) -> Comparison:
    """Which of two is more often right, from (items,) bool each."""
    from scipy.stats import binomtest

    items, gained, lost = len(right), int((right & ~other).sum()), int((other & ~right).sum())
    p = float(binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0
    values = right.sum() / items, other.sum() / items
    return made(key, first, second, values, agresti_min(gained, lost, items), items=items, p=p, test=MCNEMAR)


def agresti_min(gained: int, lost: int, items: int) -> tuple[float, float]:
    """The interval of a difference of paired shares: the large-sample one, half an item added to each of four cells."""
    b, c, n = gained + 0.5, lost + 0.5, items + 2
    reach = Z * sqrt(b + c - (b - c) ** 2 / n) / n
    return max(-1.0, (b - c) / n - reach), min(1.0, (b - c) / n + reach)


def compare_clusters(
    key: Key, first: str, second: str, hits: np.ndarray, others: np.ndarray, sizes: np.ndarray
) -> Comparison:
    """The same where items stand in clusters, from (clusters,) how many are right and how many there are."""
    items, clusters = int(sizes.sum()), int((sizes > 0).sum())
    interval, p = from_resamples(ratios(hits - others, sizes), clusters)
    values = hits.sum() / items, others.sum() / items
    return made(key, first, second, values, interval, items=items, p=p, test=SENTENCES)


def compare_correlations(
    key: Key, first: str, second: str, scores: np.ndarray, others: np.ndarray, ratings: np.ndarray, ranked: bool
) -> Comparison | None:
    """Which scores follow the ratings better, all (pairs,); None where one of the three is constant."""
    if any((side == side[0]).all() for side in (scores, others, ratings)):
        return None
    drawn = correlations(scores, ratings, ranked=ranked) - correlations(others, ratings, ranked=ranked)
    interval, p = from_resamples(drawn, len(ratings))
    whole = np.ones((1, len(ratings)))
    values = [correlations(side, ratings, ranked=ranked, drawn=[whole])[0] for side in (scores, others)]
    return made(key, first, second, (values[0], values[1]), interval, items=len(ratings), p=p, test=PAIRS)


def from_resamples(drawn: np.ndarray, count: int) -> tuple[Interval, float | None]:
    """The interval of a difference and its p, from its resamples; None and None where fewer than ten are drawn from."""
    return (percentiles(drawn), bootstrap_p(drawn)) if count >= FEWEST else ((None, None), None)


def bootstrap_p(drawn: np.ndarray) -> float | None:
    """The two-sided chance that differences (resamples,) lie on both sides of zero; None where too few could be had."""
    drawn = drawn[np.isfinite(drawn)]
    if percentiles(drawn) == (None, None):
        return None
    least = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    return min(1.0, 2 * (least + 1) / (len(drawn) + 1))
