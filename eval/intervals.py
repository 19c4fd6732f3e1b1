"""95 % intervals: how far a value may lie from that of other test items of the same kind.

They say what chance there is in which items a set holds, and nothing of other seeds or corpora. Accuracies have
Wilson's interval, which holds for few items and for values near 0 and 1 too. Correlations have percentiles of the
bootstrap over pairs: 1,000 resamples, seed 1. Items count as independent, which analogy questions made from the
same word pairs are not, so theirs are rather too narrow.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from math import sqrt

import numpy as np

from embeddings.neighbours import row_blocks

LEVEL = 0.95
Z = 1.959963984540054  # the normal distribution's 97.5 % point
RESAMPLES = 1000
SEED = 1
FEWEST = 10
KEPT = 8192  # clusters at most whose resamples are kept

Interval = tuple[float, float] | tuple[None, None]


def wilson(hits: int, total: int) -> tuple[float, float]:
    """The interval of an accuracy of `hits` in `total` (Wilson, 1927)."""
    share, z = hits / total, Z * Z / total
    middle, reach = share + z / 2, Z * sqrt(share * (1 - share) / total + z / (4 * total))
    low, high = (middle - reach) / (1 + z), (middle + reach) / (1 + z)
    return (0.0 if hits == 0 else low), (1.0 if hits == total else high)


def weights(items: int) -> Iterator[np.ndarray]:
    """How often each item is drawn in each resample, (resamples, items) float64, some resamples at a time."""
    rng = np.random.default_rng(SEED)
    for part in row_blocks(RESAMPLES, items, itemsize=40):
        yield rng.multinomial(items, np.full(items, 1 / items), size=part.stop - part.start).astype(np.float64)


def pearson_weighted(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Pearson's correlation in each resample (resamples,), NaN where a side is constant.

    x and y are (items,) or (resamples, items), w (resamples, items) how often each item counts.
    """
    items = w.sum(axis=1, keepdims=True)
    x = x - (w * x).sum(axis=1, keepdims=True) / items
    y = y - (w * y).sum(axis=1, keepdims=True) / items
    both, of_x, of_y = (w * x * y).sum(axis=1), (w * x * x).sum(axis=1), (w * y * y).sum(axis=1)
    tiny = 1e-12 * len(w[0])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((of_x > tiny * of_x.max()) & (of_y > tiny * of_y.max()), both / np.sqrt(of_x * of_y), np.nan)


def ranks_weighted(values: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The mean rank of each item's value within each resample, (resamples, items): no sorting but one."""
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    order, starts = np.argsort(group, kind="stable"), np.cumsum(sizes) - sizes
    alike = np.add.reduceat(w[:, order], starts, axis=1)
    middle = np.cumsum(alike, axis=1) - (alike - 1) / 2
    return np.asarray(middle[:, group])


def correlations(
    x: np.ndarray, y: np.ndarray, *, ranked: bool, drawn: Iterable[np.ndarray] | None = None
) -> np.ndarray:
    """Pearson's (or, ranked, Spearman's) correlation of two arrays (items,) in each resample; NaN where constant."""
    of: Callable[[np.ndarray, np.ndarray], np.ndarray] = ranks_weighted if ranked else lambda values, w: values
    drawn = weights(len(x)) if drawn is None else drawn
    return np.concatenate([pearson_weighted(of(x, w), of(y, w), w) for w in drawn])


def bootstrap(x: np.ndarray, y: np.ndarray, *, ranked: bool) -> Interval:
    """The interval of Pearson's (or, ranked, Spearman's) correlation of two arrays (items,).

    None for fewer than ten items, where percentiles say nothing, and where most resamples are constant.
    """
    if len(x) < FEWEST:
        return None, None
    low, high = percentiles(correlations(x, y, ranked=ranked))
    return (None, None) if low is None or high is None else (float(np.clip(low, -1, 1)), float(np.clip(high, -1, 1)))


def ratios(hits: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The sum of `hits` over that of `sizes`, both (clusters,), in each resample of clusters; NaN where that is 0."""
    both = np.stack([hits, sizes], axis=1).astype(np.float64)
    drawn = resamples(len(sizes)) if len(sizes) <= KEPT else weights(len(sizes))
    sums = np.concatenate([w @ both for w in drawn])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(sums[:, 1] > 0, sums[:, 0] / sums[:, 1], np.nan))


@lru_cache(maxsize=1)
def resamples(items: int) -> list[np.ndarray]:
    """`weights`, kept for the next time."""
    return list(weights(items))


def ratio_interval(hits: np.ndarray, sizes: np.ndarray) -> Interval:
    """The interval of such a ratio; None for fewer than ten clusters that hold anything."""
    return percentiles(ratios(hits, sizes)) if (sizes > 0).sum() >= FEWEST else (None, None)


def percentiles(drawn: np.ndarray) -> Interval:
    """The middle 95 % of resampled values; None where most of them are not numbers."""
    drawn = drawn[np.isfinite(drawn)]
    if 2 * len(drawn) < RESAMPLES:
        return None, None
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
