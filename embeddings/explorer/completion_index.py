"""Completion: the most frequent words that begin with what was typed."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np


class CompletionIndex:
    """Finds words by their beginning, whatever their case, by binary search among the sorted words.

    >>> CompletionIndex(["the", "Paris", "party", "park"]).complete("pa", 2)
    ['Paris', 'party']

    Arguments:
        words: the most frequent first.
    """

    def __init__(self, words: Sequence[str]) -> None:
        folded = [word.casefold() for word in words]
        order = sorted(range(len(folded)), key=folded.__getitem__)
        self.words = words
        self.keys = [folded[row] for row in order]
        self.rows = np.array(order, np.int64)

    def complete(self, prefix: str, limit: int) -> list[str]:
        """At most `limit` words that begin with `prefix`, the most frequent first; none for an empty prefix."""
        key = prefix.casefold()
        if not key:
            return []
        start = bisect_left(self.keys, key)
        stop = bisect_right(self.keys, key, lo=start, key=lambda word: word[: len(key)])
        rows = self.rows[start:stop]
        if len(rows) > limit:
            rows = np.partition(rows, limit - 1)[:limit]
        return [self.words[row] for row in np.sort(rows).tolist()]
