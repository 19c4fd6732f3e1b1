"""Slow, obvious versions of the bootstrap."""

import numpy as np


def resample_counts(items):
    """How often each item is drawn in each of 1,000 resamples."""
    drawn = np.random.default_rng(1).integers(items, size=(1000, items))
    return np.array([np.bincount(row, minlength=items) for row in drawn])


def interval(values):
    """The middle 95 %."""
    return tuple(np.quantile(values, [0.025, 0.975]))


def two_sided_p(differences):
    """Twice the rarer side of zero, counting the observed value."""
    return min(1, 2 * (min(sum(d <= 0 for d in differences), sum(d >= 0 for d in differences)) + 1) / 1001)


def resampled_question_means(gains, pairs):
    """The mean gain of questions in each resample of pairs: each question is repeated as its pairs are."""
    used = sorted({pair for both in pairs for pair in both})
    shares = []
    for times in resample_counts(len(used)):
        often = dict(zip(used, times, strict=True))
        repeated = [gain for gain, (a, b) in zip(gains, pairs, strict=True) for _ in range(often[a] * often[b])]
        shares.append(np.mean(repeated))
    return shares
