"""The parts of an index: a kind with its settings, an engine that searches, and its results."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol

import numpy as np

SearchMethod = Literal["cosine", "csls"]


class SearchResult(NamedTuple):
    """The nearest rows to each query, best first as far as the index can tell.

    `ids` (queries, top) int64 and `similarities` (queries, top) float64 end in -1 and -inf where the index found fewer
    rows.
    """

    ids: np.ndarray
    similarities: np.ndarray


class Engine(Protocol):
    """A built index of unit rows."""

    def search(self, queries: np.ndarray, top: int, restrict: int | None) -> SearchResult:
        """The `top` rows nearest to each of `queries`, (queries, dim) float64 of length one or zero.

        Arguments:
            top: at most the number of candidates.
            restrict: only this many first rows are candidates; None for all.

        Raises:
            SettingError: this engine cannot restrict candidates.
        """

    def arrays(self) -> Mapping[str, np.ndarray]:
        """Everything it holds apart from the rows, by name: saved unchanged, and passed to `Kind.restore`."""


class Kind(Protocol):
    """A frozen dataclass of `embeddings.settings.option` fields, an entry point of the group `embeddings.indexes`.

    A class attribute `SEARCH_SETTINGS`, a frozenset, may name the fields that only searches use: changing them does not
    rebuild the index.
    """

    def build(self, units: np.ndarray) -> Engine:
        """An engine for the rows (rows, dim) float32, each of length one or zero; ids are row numbers.

        Raises:
            SettingError: the settings do not suit these rows.
        """

    def restore(self, units: np.ndarray, arrays: Mapping[str, np.ndarray]) -> Engine:
        """The engine with the saved `arrays` of `Engine.arrays`, for the rows that it was built for.

        Raises:
            FormatError: an array is missing, or has another type, shape or content than `build` produces.
        """
