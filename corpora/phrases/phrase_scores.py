"""Scores of word pairs: how much more often two words are adjacent than expected by chance."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import SettingError

Floats = NDArray[np.float64]


class Totals(NamedTuple):
    """min_count (which discounts rare pairs), and the numbers of tokens and of distinct words and pairs."""

    min_count: int
    tokens: int
    distinct: int


def word2phrase(both: Floats, first: Floats, second: Floats, totals: Totals) -> Floats:
    """(c_ab - min_count) / (c_a c_b) * tokens, as in the word2phrase program (Mikolov et al. 2013b, equation 6)."""
    return (both - totals.min_count) / (first * second) * totals.tokens


def gensim(both: Floats, first: Floats, second: Floats, totals: Totals) -> Floats:
    """(c_ab - min_count) / (c_a c_b) * distinct, where gensim counts distinct words and pairs together."""
    return (both - totals.min_count) / (first * second) * totals.distinct


def npmi(both: Floats, first: Floats, second: Floats, totals: Totals) -> Floats:
    """Normalised pointwise mutual information, from -1 to 1: log(p_ab / (p_a p_b)) / -log p_ab (Bouma 2009)."""
    a, b, ab = (counts / totals.tokens for counts in (first, second, both))
    return np.log(ab / (a * b)) / -np.log(ab)


def count(both: Floats, first: Floats, second: Floats, totals: Totals) -> Floats:
    """The number of occurrences of the pair."""
    return both


SCORES: dict[str, Callable[[Floats, Floats, Floats, Totals], Floats]] = {
    "word2phrase": word2phrase,
    "gensim": gensim,
    "npmi": npmi,
    "count": count,
}
THRESHOLDS = {"word2phrase": 100.0, "gensim": 10.0, "npmi": 0.5, "count": 0.0}


def check_threshold(scoring: str, threshold: float) -> None:
    """Raise SettingError for a threshold outside of the range of the score: -1 to 1 for npmi, else at least 0."""
    lowest, highest = (-1, 1) if scoring == "npmi" else (0, np.inf)
    if not lowest <= threshold <= highest:
        allowed_range = "from -1 to 1" if scoring == "npmi" else "at least 0"
        raise SettingError(f"threshold must be {allowed_range} for scoring {scoring}, got {threshold}")
