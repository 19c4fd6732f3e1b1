"""How much more often two words stand side by side than chance would have it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import SettingError

Floats = NDArray[np.float64]


class Totals(NamedTuple):
    """What a score may need beside the counts of a pair and its words.

    least: the discount of rare pairs, min_count. words: tokens of the corpus. different: distinct words and pairs.
    """

    least: int
    words: int
    different: int


def word2phrase(both: Floats, first: Floats, second: Floats, totals: Totals) -> Floats:
    """(c_ab - min_count) / (c_a c_b) * words, as the word2phrase program (Mikolov et al. 2013b, equation 6)."""
    return (both - totals.least) / (first * second) * totals.words


def gensim(both: Floats, first: Floats, second: Floats, totals: Totals) -> Floats:
    """(c_ab - min_count) / (c_a c_b) * vocabulary, which as in gensim counts distinct words and pairs alike."""
    return (both - totals.least) / (first * second) * totals.different


def npmi(both: Floats, first: Floats, second: Floats, totals: Totals) -> Floats:
    """Normalised pointwise mutual information, from -1 to 1: log(p_ab / (p_a p_b)) / -log p_ab (Bouma 2009)."""
    a, b, ab = (counts / totals.words for counts in (first, second, both))
    return np.log(ab / (a * b)) / -np.log(ab)


def count(both: Floats, first: Floats, second: Floats, totals: Totals) -> Floats:
    """How often the pair occurs."""
    return both


SCORES: dict[str, Callable[[Floats, Floats, Floats, Totals], Floats]] = {
    "word2phrase": word2phrase,
    "gensim": gensim,
    "npmi": npmi,
    "count": count,
}
THRESHOLDS = {"word2phrase": 100.0, "gensim": 10.0, "npmi": 0.5, "count": 0.0}


def check_threshold(scoring: str, threshold: float) -> None:
    """Refuse a threshold that is outside of what a score can be.

    Raises:
        SettingError: a share of it for npmi is not from -1 to 1; for the others it is negative.
    """
    least, most = (-1, 1) if scoring == "npmi" else (0, np.inf)
    if not least <= threshold <= most:
        allowed = "from -1 to 1" if scoring == "npmi" else "0 or more"
        raise SettingError(f"threshold must be {allowed} for the score {scoring}, not {threshold}")


def as_threshold(text: str, whole: str) -> float:
    """The number that one of several thresholds is.

    Raises:
        SettingError: it is none.
    """
    try:
        return float(text)
    except ValueError:
        raise SettingError(f"thresholds must be numbers with commas between, not {whole!r:.80}") from None
