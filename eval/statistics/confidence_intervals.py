"""95 % confidence intervals: how much a value depends on the choice of test items.

The intervals do not cover other seeds or corpora. Shares of independent items have Wilson's interval,
which also holds for few items and near 0 and 1. Correlations, and shares of clustered items, have the percentiles of a
bootstrap over pairs or clusters: 1,000 resamples, seed 1.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from math import sqrt

import numpy as np

from embeddings.support.cosine import row_blocks

LEVEL = 0.95
Z = 1.959963984540054  # 97.5 % quantile of the normal distribution
RESAMPLES = 1000
SEED = 1
MIN_ITEMS = 10  # with fewer, percentiles of the bootstrap are meaningless
MAX_CACHED = 8192  # resamples of more items are not cached

Interval = tuple[float, float] | tuple[None, None]
NO_INTERVAL: Interval = (None, None)


def wilson(hits: int, total: int) -> tuple[float, float]:
    """The Wilson score interval of the share `hits / total` (Wilson, 1927)."""
    share, spread = hits / total, Z * Z / total
    middle, reach = share + spread / 2, Z * sqrt(share * (1 - share) / total + spread / (4 * total))
    low, high = (middle - reach) / (1 + spread), (middle + reach) / (1 + spread)
    # rounding would leave the ends that are 0 or 1 by definition slightly off
    return (0.0 if hits == 0 else low), (1.0 if hits == total else high)


def normal_interval(values: np.ndarray) -> Interval:
    """The normal interval of the mean of `values`; none for a single value."""
    if len(values) < 2:
        return NO_INTERVAL
    reach = Z * float(values.std(ddof=1)) / sqrt(len(values))
    return float(values.mean()) - reach, float(values.mean()) + reach


def bootstrap_weights(items: int) -> Iterator[np.ndarray]:
    """How often each resample draws each item, in blocks (resamples, items) float64."""
    blocks = cached_resamples(items) if items <= MAX_CACHED else resample(items)
    yield from (block.astype(np.float64) for block in blocks)


@lru_cache(maxsize=8)
def cached_resamples(items: int) -> list[np.ndarray]:
    """The blocks of `resample`, cached: a set has several measures and scores several vectors."""
    # counts of at most MAX_CACHED items fit 16 bits, a quarter of the memory of the blocks
    return [block.astype(np.uint16) for block in resample(items)]


def resample(items: int) -> Iterator[np.ndarray]:
    """Draw items with replacement; yields how often each is drawn, in blocks (resamples, items) int64."""
    # one generator for all blocks, so that draws do not depend on the size of a block
    rng = np.random.default_rng(SEED)
    for block in row_blocks(RESAMPLES, items, itemsize=40):
        rows = block.stop - block.start
        draws = rng.integers(items, size=(rows, items)) + items * np.arange(rows)[:, None]
        yield np.bincount(draws.ravel(), minlength=rows * items).reshape(rows, items)


def weighted_pearson(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pearson's correlation in each resample (resamples,); NaN where a side is constant.

    `x` and `y` are (items,) or (resamples, items); `weights` (resamples, items) is how often each item counts.
    """
    items = weights.sum(axis=1, keepdims=True)
    x = x - (weights * x).sum(axis=1, keepdims=True) / items
    y = y - (weights * y).sum(axis=1, keepdims=True) / items
    xy, xx, yy = (weights * x * y).sum(axis=1), (weights * x * x).sum(axis=1), (weights * y * y).sum(axis=1)
    # a resample of equal items has a variance of rounding errors, which must not become a correlation
    tiny = 1e-12 * len(weights[0])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((xx > tiny * xx.max()) & (yy > tiny * yy.max()), xy / np.sqrt(xx * yy), np.nan)


def weighted_ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The mean rank of each item within each resample, (resamples, items), with one sort for all resamples."""
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    order, starts = np.argsort(group, kind="stable"), np.cumsum(sizes) - sizes
    ties = np.add.reduceat(weights[:, order], starts, axis=1)
    # an item drawn n times takes n successive ranks, of which all copies of it and of its ties get the mean
    middle = np.cumsum(ties, axis=1) - (ties - 1) / 2
    return np.asarray(middle[:, group])


def correlations(
    x: np.ndarray, y: np.ndarray, *, ranked: bool, weights: Iterable[np.ndarray] | None = None
) -> np.ndarray:
    """Pearson's (or, if `ranked`, Spearman's) correlation of (items,) arrays in each resample; NaN where constant."""
    transform: Callable[[np.ndarray, np.ndarray], np.ndarray] = weighted_ranks if ranked else lambda values, _: values
    blocks = bootstrap_weights(len(x)) if weights is None else weights
    return np.concatenate([weighted_pearson(transform(x, block), transform(y, block), block) for block in blocks])


def correlation_interval(x: np.ndarray, y: np.ndarray, *, ranked: bool) -> Interval:
    """The bootstrap interval of a correlation; none for fewer than ten items or mostly constant resamples."""
    low, high = percentiles(correlations(x, y, ranked=ranked)) if len(x) >= MIN_ITEMS else NO_INTERVAL
    return NO_INTERVAL if low is None or high is None else (float(np.clip(low, -1, 1)), float(np.clip(high, -1, 1)))


def ratios(hits: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The sum of `hits` over the sum of `sizes`, both (clusters,), in each resample; NaN where that is 0 / 0."""
    columns = np.stack([hits, sizes], axis=1).astype(np.float64)
    sums = np.concatenate([block @ columns for block in bootstrap_weights(len(sizes))])
    return divide_or_nan(sums[:, 0], sums[:, 1])


def divide_or_nan(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """The quotient, NaN where the denominator is not positive."""
    quotient = np.full(numerator.shape, np.nan)
    return np.asarray(np.divide(numerator, denominator, out=quotient, where=denominator > 0))


def ratio_interval(hits: np.ndarray, sizes: np.ndarray) -> Interval:
    """The bootstrap interval of a ratio of sums over clusters; none for fewer than ten clusters that hold items."""
    return percentiles(ratios(hits, sizes)) if (sizes > 0).sum() >= MIN_ITEMS else NO_INTERVAL


def percentiles(resampled: np.ndarray) -> Interval:
    """The middle 95 % of resampled values; none where most of them are not finite."""
    finite = resampled[np.isfinite(resampled)]
    if 2 * len(finite) < RESAMPLES:
        return NO_INTERVAL
    low, high = np.quantile(finite, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
