"""What vectors are to be judged by, as it was asked for."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from embeddings.errors import SettingError
from embeddings.eval.analogy import check_methods
from embeddings.eval.tagging import WINDOW, check_window

KINDS = ("similarity", "analogy", "phrases", "categories", "tagging", "documents", "facts")
TestSets = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True, kw_only=True)
class SuiteSettings:
    """Names and files of test sets, and how they are used; see `evaluate`.

    Raises:
        SettingError: nothing is asked for, a setting is out of range, or `compose` without similarity sets.
    """

    similarity: TestSets = ()
    analogy: TestSets = ()
    phrases: TestSets = ()
    categories: TestSets = ()
    tagging: TestSets = ()
    documents: TestSets = ()
    facts: bool = False
    compose: bool = False
    restrict: int | Sequence[int | None] | None = (None, 30000)
    method: str | Sequence[str] = "3cosadd"
    window: int = WINDOW
    text_column: str = "text"
    label_column: str = "label"
    trained: bool = False
    name_column: str | None = None

    def __post_init__(self) -> None:
        for kind in KINDS[:-1]:
            object.__setattr__(self, kind, listed(getattr(self, kind)))
        check_limits(self.restrict)
        check_methods(self.method)
        check_window(self.window)
        if not any(getattr(self, kind) for kind in KINDS):
            raise SettingError(f"nothing to evaluate by: name one of {', '.join(KINDS)}")
        if self.compose and not self.similarity:
            raise SettingError("compose is of use only with similarity")
        if (self.trained or self.name_column is not None) and not self.documents:
            raise SettingError("trained and name_column are of use only with documents")

    @property
    def limits(self) -> list[int | None]:
        """The restrictions, each once."""
        return check_limits(self.restrict)

    @property
    def methods(self) -> list[str]:
        """The methods, each once."""
        return check_methods(self.method)


def listed(tests: TestSets) -> list[str | os.PathLike[str]]:
    """One test set as a list of one."""
    return [tests] if isinstance(tests, str | os.PathLike) else list(tests)


def check_limits(restrict: object) -> list[int | None]:
    """The restrictions as a list, each once.

    Raises:
        SettingError: there is none, or one is no whole number of at least 1.
    """
    limits: list[Any] = (
        list(restrict) if isinstance(restrict, Iterable) and not isinstance(restrict, str) else [restrict]
    )
    if not limits:
        raise SettingError("restrict needs a number of words, or None for all")
    for limit in limits:
        check_limit(limit)
    return list(dict.fromkeys(None if limit is None else int(limit) for limit in limits))


def check_limit(limit: object) -> None:
    """Refuse a restriction that is neither None nor a whole number of at least 1.

    Raises:
        SettingError: saying so.
    """
    if limit is None:
        return
    if isinstance(limit, bool) or not isinstance(limit, Integral):
        raise SettingError(f"restrict must be a whole number, or None for all, not {limit!r}")
    if limit < 1:
        raise SettingError(f"restrict must be at least 1, not {limit}")
