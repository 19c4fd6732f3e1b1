"""Distinct words in order and the row of each, as Python's list and dictionary only once these are needed."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from embeddings.errors import SettingError
from embeddings.support.arrow_arrays import scalar

SEARCHES = 20  # of a column before a dictionary is made: for a million words each takes a few ms, and that 0.3 s


class Words:
    """Words of which no two are alike.

    Arguments:
        words: strings; or a pyarrow array of strings, in which the first few words are searched for, so that it serves
            at once however long it is.
        distinct: known to be so; it is not looked at again.

    Raises:
        SettingError: a word stands twice.
    """

    def __init__(self, words: Iterable[str] | Any, *, distinct: bool = False) -> None:
        self.column: Any = words if hasattr(words, "to_pylist") else None
        if self.column is None:
            self.listed = words if isinstance(words, list) else list(words)
        self.searches = 0
        if not distinct and len(self.rows) != len(self):
            twice = next(word for row, word in enumerate(self.listed) if self.rows[word] != row)
            raise SettingError(f"the word {twice!r:.80} stands twice")

    def __len__(self) -> int:
        return len(self.listed if self.column is None else self.column)

    @cached_property
    def listed(self) -> list[str]:
        """All words."""
        words: list[str] = self.column.to_pylist()
        return words

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each word."""
        return dict(zip(self.listed, range(len(self.listed)), strict=True))

    def find(self, word: object) -> int | None:
        """The row of a word; None for one that is not here, and for what is no word."""
        if not isinstance(word, str):
            return None
        if self.column is None or "rows" in vars(self) or self.searches >= SEARCHES:
            return self.rows.get(word)
        self.searches += 1
        return searched(self.column, word)


def searched(column: Any, word: str) -> int | None:
    """The first place of a word in a pyarrow array."""
    import pyarrow.compute as pc

    try:
        place: int = pc.index(column, scalar(word).cast(column.type)).as_py()
    except UnicodeEncodeError:  # half of a surrogate pair, which no such array holds
        return None
    return place if place >= 0 else None
