"""Confidence intervals of values that are measured in replicates of a model."""

from dataclasses import dataclass

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
    value: float, resamples: NDArray[np.floating], seeds: NDArray[np.floating], *, limit: float = 1.0
) -> Interval:
    """The interval of the mean of a value over trainings on other corpora of the same size, with other seeds.

    Value plus and minus a quantile of Student's t times the standard deviation over resamples. It is centred at the
    value of the model and not at the resamples, which differ from the model systematically: they hold about 63 % of
    the documents, some of them several times.

    Arguments:
        resamples, seeds: the value in each training; NaN where it is not defined.
        limit: the value is between -limit and limit.
    """
    resampled, seeded = (one[np.isfinite(one)] for one in (resamples, seeds))
    if len(resampled) < 2:
        return Interval(value, -limit, limit, None, None)
    total = float(np.std(resampled, ddof=1))
    half = quantile(len(resampled)) * total
    seed = float(np.std(seeded, ddof=1)) if len(seeded) > 1 else None
    data = None if seed is None else float(np.sqrt(max(total**2 - seed**2, 0)))
    return Interval(value, max(value - half, -limit), min(value + half, limit), data, seed)


def rank_interval(rank: int, resamples: NDArray[np.floating], largest: int) -> tuple[int, int]:
    """The interval of the median rank over such trainings: as `interval`, of the logarithm of the rank.

    Arguments:
        resamples: the rank in each training; NaN where it is not defined.
        largest: rank of the farthest word.
    """
    logs = np.log(resamples[np.isfinite(resamples)])
    if len(logs) < 2:
        return 1, largest
    factor = float(np.exp(min(quantile(len(logs)) * float(np.std(logs, ddof=1)), 100)))
    return max(1, int(rank / factor)), min(largest, int(np.ceil(rank * factor)))


def quantile(number: int) -> float:
    """The quantile of Student's t for a standard deviation of this many values."""
    from scipy.stats import t

    return float(t.ppf((1 + LEVEL) / 2, number - 1))
