"""Questions made of two pairs of words each, where a pair stands in many questions: how sure their shares are.

19,544 questions of the Google set are made of some 550 pairs, so that they are far from independent. Drawn again are
the pairs: a question counts as often as its first pair is drawn, times how often its second is. Where there are very
many pairs the normal distribution serves as well, with what each pair adds to the value as its spread.
"""

from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np

from embeddings.eval.comparison import Comparison, from_resamples, made
from embeddings.eval.confidence_intervals import KEPT, Interval, Z, quotients, weights, wilson
from embeddings.eval.item_scores import Shares

WORD_PAIRS = "paired bootstrap over word pairs"


@dataclass(frozen=True, kw_only=True)
class Answered(Shares):
    """Questions that are answered rightly or not.

    Arguments:
        pairs: (questions, 2) the numbers of the pairs that each is made of.
    """

    pairs: np.ndarray

    def interval(self, counted: np.ndarray) -> Interval:
        """The bootstrap's over pairs; where all or none are right, Wilson's, as if there were one question a pair."""
        right, pairs = self.right[counted], self.pairs[counted]
        if right.all() or not right.any():
            independent = min(len(right), len(np.unique(pairs)))
            return wilson(independent if right.all() else 0, independent)
        (low, high), _ = interval_and_p(right.astype(np.float64), pairs)
        return (None, None) if low is None or high is None else (max(0.0, low), min(1.0, high))

    def compare_on(self, both: np.ndarray, other: Shares) -> Comparison:
        """A paired test on some of the questions."""
        right, others = self.right[both], other.right[both]
        interval, p = interval_and_p(right.astype(np.float64) - others, self.pairs[both])
        values = right.mean(), others.mean()
        return made(
            self.key, self.vectors, other.vectors, values, interval, items=int(both.sum()), p=p, test=WORD_PAIRS
        )


def interval_and_p(gains: np.ndarray, pairs: np.ndarray) -> tuple[Interval, float | None]:
    """The interval of the mean of `gains` (questions,), and the p of its difference from zero.

    Of fewer than ten pairs there is neither.
    """
    used, place = np.unique(pairs, return_inverse=True)
    place = place.reshape(-1, 2)
    if len(used) > KEPT:
        return normal(gains, place)
    return from_resamples(means(gains, place, len(used)), len(used))


def means(gains: np.ndarray, pairs: np.ndarray, count: int) -> np.ndarray:
    """The mean of `gains` (questions,) in each resample of so many pairs; NaN where no question is drawn."""
    from scipy.sparse import csr_array

    above, below = (
        csr_array((values, (pairs[:, 0], pairs[:, 1])), shape=(count, count)) for values in (gains, np.ones(len(gains)))
    )
    sums = [[((table @ w.T) * w.T).sum(axis=0) for table in (above, below)] for w in weights(count)]
    return quotients(*np.concatenate(sums, axis=1))


def normal(gains: np.ndarray, pairs: np.ndarray) -> tuple[Interval, float]:
    """The same by the normal distribution: the spread is that of the sum of what each pair adds to the mean."""
    mean, rest = float(gains.mean()), gains - gains.mean()
    added = np.bincount(pairs.ravel(), np.repeat(rest, 2)) / len(gains)
    spread = float(np.sqrt((added**2).sum()))
    p = erfc(abs(mean) / spread / sqrt(2)) if spread else float(mean == 0)
    return (mean - Z * spread, mean + Z * spread), p
