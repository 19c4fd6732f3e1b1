"""Confidence intervals of values that are measured in replicates of a model."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A value with its interval, and its standard deviations by the text and by the seed; see `interval`."""

    value: float
    low: float
    high: float
    data_sd: float | None
    seed_sd: float | None


def interval(
    value: float, resamples: NDArray[np.floating], seeds: NDArray[np.floating], *, is_selected: bool = False,
    limit: float = 1.0,
) -> Interval:  # fmt: skip
    """The interval of the mean of a value over trainings on other corpora of the same size, with other seeds.

    Value plus and minus a quantile of Student's t times the standard deviation over resamples. It is centred at the
    value of the model and not at the resamples, which differ from the model systematically: they hold about 63 % of
    the documents, some of them several times.

    The cosine of a nearest neighbour is different: the model has selected the word for it, so that part of it is
    chance, which resamples lack. Its interval is centred at their mean, and the standard deviation is that from the
    value of the model. Both choices were made by the measured coverage.

    Arguments:
        resamples, seeds: the value in each training; NaN where it is not defined.
        is_selected: whether the item was selected because its value is high in the model.
        limit: the value is between -limit and limit.
    """
    total, seed = standard_deviation(resamples), standard_deviation(seeds)
    if total is None:
        return Interval(value, -limit, limit, None, None)
    known = resamples[np.isfinite(resamples)]
    center, deviation = value, total
    if is_selected:
        center = float(np.mean(known))
        deviation = float(np.hypot(total, center - value))
    half = quantile(len(known)) * deviation
    data = None if seed is None else float(np.sqrt(max(total**2 - seed**2, 0)))
    return Interval(value, max(center - half, -limit), min(center + half, limit), data, seed)


def rank_interval(found: Interval, background: NDArray[np.floating]) -> tuple[int, int]:
    """The ranks, among the cosines of all words in the model, of the ends of the interval of a cosine."""
    low, high = (1 + int(np.count_nonzero(background > end)) for end in (found.high, found.low))
    return low, min(high, len(background))


def standard_deviation(values: NDArray[np.floating]) -> float | None:
    """The standard deviation of the values that are defined; None if there are fewer than two."""
    known = values[np.isfinite(values)]
    return float(np.std(known, ddof=1)) if len(known) > 1 else None


@cache
def quantile(number: int) -> float:
    """The quantile of Student's t for a standard deviation of this many values."""
    from scipy.stats import t

    return float(t.ppf((1 + LEVEL) / 2, number - 1))
