"""A corpus as phrase detection sees it: numbers, sentences, counts, and the words that each number stands for."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

BORDER = -1  # in place of a word's link: no phrase reaches across


class Tokens(NamedTuple):
    """An encoded corpus with phrases under numbers of their own.

    ids: (tokens,) int32: the words of the vocabulary, then the one of no word, then phrases. sentences: (S + 1,)
    where they start in `ids`. counts: (size,) how often each id occurs. unknown: the id of no word.
    """

    ids: Any
    sentences: Any
    counts: NDArray[np.int64]
    unknown: int

    @property
    def size(self) -> int:
        """How many ids there are."""
        return len(self.counts)
