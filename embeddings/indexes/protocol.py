"""What an index is made of: a kind, which is its settings, and an engine, which finds neighbours."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np


class Found(NamedTuple):
    """The nearest rows to each query, best first as far as the index can tell.

    `ids` (queries, k) int64 and `similarities` (queries, k) float64 are -1 and -inf where an index found fewer than
    k. `looked` (queries,) int64 says how many rows were compared exactly to find them; -1 where that is not
    known.
    """

    ids: np.ndarray
    similarities: np.ndarray
    looked: np.ndarray


class Engine(Protocol):
    """A built index of unit rows."""

    def search(self, queries: np.ndarray, top: int, restrict: int | None) -> Found:
        """The `top` rows nearest to each of `queries`, (queries, dim) float64 of length one or zero.

        `top` is at most the number of candidates; `restrict` of them, the first, are candidates, None for all.

        Raises:
            SettingError: it cannot restrict candidates.
        """

    def arrays(self) -> Mapping[str, np.ndarray]:
        """What it holds beside the rows, by name: saved as it is, and given to `Kind.restore`."""


class Kind(Protocol):
    """A frozen dataclass of `embeddings.settings.option` fields, an entry point of the group `embeddings.indexes`."""

    def build(self, units: np.ndarray) -> Engine:
        """An index of the rows (vocabulary, dim) float32, each of length one or zero; ids are their places.

        Raises:
            SettingError: the settings do not fit such rows.
        """

    def restore(self, units: np.ndarray, arrays: Mapping[str, np.ndarray]) -> Engine:
        """The index whose `Engine.arrays` these are, of the very same rows.

        Raises:
            FormatError: the arrays are no such thing; nothing is believed unseen.
        """
