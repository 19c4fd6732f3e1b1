"""95 % intervals: how far a value may lie from that of other test items of the same kind.

They say what chance there is in which items a set holds, and nothing of other seeds or corpora. Shares of independent
items have Wilson's interval, which holds for few items and for values near 0 and 1 too. Correlations, and shares of
items that stand in clusters, have percentiles of the bootstrap over pairs or clusters: 1,000 resamples, seed 1.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from math import sqrt

import numpy as np

from embeddings.support.cosine import row_blocks

LEVEL = 0.95
Z = 1.959963984540054  # the normal distribution's 97.5 % point
RESAMPLES = 1000
SEED = 1
FEWEST = 10
KEPT = 8192  # items at most whose resamples are kept; of more the normal distribution serves as well

Interval = tuple[float, float] | tuple[None, None]


def wilson(hits: int, total: int) -> tuple[float, float]:
    """The interval of an accuracy of `hits` in `total` (Wilson, 1927)."""
    share, z = hits / total, Z * Z / total
    middle, reach = share + z / 2, Z * sqrt(share * (1 - share) / total + z / (4 * total))
    low, high = (middle - reach) / (1 + z), (middle + reach) / (1 + z)
    return (0.0 if hits == 0 else low), (1.0 if hits == total else high)


def mean_interval(values: np.ndarray) -> Interval:
    """The interval of a mean of many values, by the normal distribution; none for a single value."""
    if len(values) < 2:
        return None, None
    reach = Z * float(values.std(ddof=1)) / sqrt(len(values))
    return float(values.mean()) - reach, float(values.mean()) + reach


def weights(items: int) -> Iterator[np.ndarray]:
    """How often each item is drawn in each resample, (resamples, items) float64, some resamples at a time."""
    parts = kept(items) if items <= KEPT else resamples(items)
    yield from (part.astype(np.float64) for part in parts)


def resamples(items: int) -> Iterator[np.ndarray]:
    """The same as whole numbers: so many items are drawn with replacement for each."""
    rng = np.random.default_rng(SEED)
    for part in row_blocks(RESAMPLES, items, itemsize=40):
        rows = part.stop - part.start
        drawn = rng.integers(items, size=(rows, items)) + items * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * items).reshape(rows, items)


@lru_cache(maxsize=8)
def kept(items: int) -> list[np.ndarray]:
    """The same, of at most `KEPT` items, for the next time: a set has several measures and judges several vectors."""
    return [part.astype(np.uint16) for part in resamples(items)]


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


def mean_bootstrap(values: np.ndarray) -> Interval:
    """The interval of a mean of values (items,): the bootstrap's, or where they are very many the normal one."""
    if len(values) > KEPT:
        return mean_interval(values)
    return percentiles(np.concatenate([w @ values / len(values) for w in weights(len(values))]))


def ratios(hits: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The sum of `hits` over that of `sizes`, both (clusters,), in each resample of clusters; NaN where that is 0."""
    both = np.stack([hits, sizes], axis=1).astype(np.float64)
    sums = np.concatenate([w @ both for w in weights(len(sizes))])
    return quotients(sums[:, 0], sums[:, 1])


def quotients(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """One over the other, NaN where that is 0."""
    found = np.full(len(below), np.nan)
    np.divide(above, below, out=found, where=below > 0)
    return found


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
