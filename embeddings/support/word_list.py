"""Distinct words with their row numbers; Python's list and dict are built only when needed."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import SettingError
from embeddings.support.arrow import pc, string_scalar

MAX_SUM = int(np.iinfo(np.int64).max)


def as_counts(counts: Any) -> NDArray[np.int64]:
    """Return counts (n,) as an array; raises SettingError if one is a fraction or their sum does not fit an int64."""
    array = np.asarray(counts, np.int64)
    if not np.array_equal(array, counts):
        raise SettingError("counts must be whole numbers")
    sum_counts(array)
    return array


def sum_counts(counts: NDArray[np.int64]) -> int:
    """Return the sum of counts (n,); raises SettingError if it does not fit an int64."""
    # a sum of int64 wraps around silently
    total = (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())  # neither half overflows
    if total > MAX_SUM:
        raise SettingError(f"the sum of the counts must be at most {MAX_SUM}, got {total}")
    return total


MAX_SEARCHES = 20  # before the dict is built: with a million words a search takes a few ms, building 0.3 s


class WordList:
    """Distinct words in order.

    Arguments:
        words: strings, or a pyarrow array of strings; the first few lookups in an array are linear searches, so that
            no dict is built for them.
        distinct: the words are known to be distinct, and are not checked.

    Raises:
        SettingError: a word occurs twice, or is not a string.
    """

    def __init__(self, words: Iterable[str] | Any, *, distinct: bool = False) -> None:
        self.column: Any = words if hasattr(words, "to_pylist") else None
        if self.column is None:
            self.words = words if isinstance(words, list) else list(words)
            is_wrong = isinstance(words, str | bytes | set | frozenset)
            if is_wrong or (not distinct and not all(issubclass(kind, str) for kind in set(map(type, self.words)))):
                other = words if is_wrong else next(word for word in self.words if not isinstance(word, str))
                raise SettingError(f"words must be a list of strings, got {other!r:.80}")
        self.searches = 0
        if not distinct and len(self.rows) != len(self):
            duplicate = next(word for row, word in enumerate(self.words) if self.rows[word] != row)
            raise SettingError(f"the word {duplicate!r:.80} occurs twice")

    def __len__(self) -> int:
        return len(self.words if self.column is None else self.column)

    @cached_property
    def words(self) -> list[str]:
        """All words."""
        words: list[str] = self.column.to_pylist()
        return words

    def first(self, number: int) -> list[str]:
        """Return the first `number` words."""
        if self.column is None or "words" in vars(self):
            return self.words[:number]
        words: list[str] = self.column[:number].to_pylist()
        return words

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each word."""
        return dict(zip(self.words, range(len(self.words)), strict=True))

    def find(self, word: object) -> int | None:
        """Return the row of a word, None if it is not in the list or not a string."""
        if not isinstance(word, str):
            return None
        if self.column is None or "rows" in vars(self) or self.searches >= MAX_SEARCHES:
            return self.rows.get(word)
        self.searches += 1
        try:
            row: int = pc.index(self.column, string_scalar(word).cast(self.column.type)).as_py()
        except UnicodeEncodeError:  # a lone surrogate, which an Arrow array cannot hold
            return None
        return row if row >= 0 else None
