"""Confidence intervals of values that are measured in replicates of a model."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
MAX_SHRINKAGE = 0.9


@dataclass(frozen=True)
class Interval:
    """A value with its interval, and its standard deviations by the text and by the seed; see `interval`."""

    value: float
    low: float
    high: float
    data_sd: float | None
    seed_sd: float | None


def interval(
    value: float, resamples: NDArray[np.floating], seeds: NDArray[np.floating], *, center: float | None = None,
    limit: float = 1.0,
) -> Interval:  # fmt: skip
    """The interval of the mean of a value over trainings on other corpora of the same size, with other seeds.

    Value plus and minus a quantile of Student's t times the standard deviation over resamples. It is centred at the
    value of the model and not at the resamples, which differ from the model systematically: they hold about 63 % of
    the documents, some of them several times.

    Arguments:
        resamples, seeds: the value in each training; NaN where it is not defined.
        center: the middle of the interval, if it is not the value.
        limit: the value is between -limit and limit.
    """
    total, seed = standard_deviation(resamples), standard_deviation(seeds)
    if total is None:
        return Interval(value, -limit, limit, None, None)
    middle, half = value if center is None else center, quantile(int(np.isfinite(resamples).sum())) * total
    data = None if seed is None else float(np.sqrt(max(total**2 - seed**2, 0)))
    return Interval(value, max(middle - half, -limit), min(middle + half, limit), data, seed)


def expected_cosine(cosine: float, resamples: NDArray[np.floating], background: NDArray[np.floating]) -> float:
    """The mean cosine, over such trainings, of a word that is a nearest neighbour in the model.

    A neighbour is selected for its high cosine, part of which is chance, so that it is lower elsewhere. Under normal
    distributions the expected cosine is nearer to the mean of all words, by the ratio of the variance of chance to that
    of the cosines of all words (Efron 2011, "Tweedie's Formula and Selection Bias", section 1).

    Arguments:
        resamples: the cosine in each training.
        background: (words,) the cosines of all words in the model.
    """
    total, variance = standard_deviation(resamples), float(np.var(background))
    if total is None or not variance:
        return cosine
    return cosine - min(total**2 / variance, MAX_SHRINKAGE) * (cosine - float(np.mean(background)))


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
