"""`WordVectors`: what functions of this room, which `Vectors` calls, read of it."""

from typing import Any, Protocol

import numpy as np


class WordVectors(Protocol):
    """Words and their vectors; see `Vectors`."""

    @property
    def words(self) -> Any:
        """All words, most frequent first."""

    @property
    def matrix(self) -> Any:
        """The vectors, (words, dim)."""

    @property
    def counts(self) -> np.ndarray | None:
        """The counts of the words, (words,) int64; None if they are unknown."""

    @property
    def dim(self) -> int:
        """The number of components."""

    @property
    def unit_rows(self) -> np.ndarray:
        """The vectors with length one or zero, (words, dim) float32."""

    @property
    def fingerprint(self) -> str:
        """A digest of the vectors, by which an index recognises them."""

    def as_word(self, item: object) -> str | None:
        """The word that an item of a query names; None if it is not a word."""

    def index(self, word: str) -> int:
        """The row of a word."""

    def __len__(self) -> int: ...

    def __contains__(self, word: object) -> bool: ...

    def __getitem__(self, key: Any) -> np.ndarray: ...


class HasVectors(Protocol):
    """A model, or any object with vectors."""

    @property
    def vectors(self) -> WordVectors:
        """Its vectors."""
