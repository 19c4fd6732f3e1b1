"""An index of some vectors: built or loaded, asked, saved."""

import os
from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings import registry
from embeddings.errors import SettingError
from embeddings.indexes.protocol import Engine, Found, Kind
from embeddings.support.cosine import check_search, unit

if TYPE_CHECKING:
    from embeddings.vectors.vectors import Vectors


class Index:
    """Finds the rows of `vectors` nearest to queries by cosine, with an engine of an installed kind.

    Made by `build` or `load`; `seconds` is how long building took, when it was built.
    """

    def __init__(self, name: str, kind: Kind, vectors: "Vectors", engine: Engine, seconds: float) -> None:
        self.name = name
        self.kind = kind
        self.vectors = vectors
        self.engine = engine
        self.seconds = seconds

    def __repr__(self) -> str:
        return f"<Index {self.name}: {len(self.vectors)} rows, {self.vectors.dim} components>"

    @property
    def settings(self) -> dict[str, Any]:
        """Every setting of its kind."""
        return asdict(self.kind)  # type: ignore[call-overload,no-any-return]  # a dataclass, as kinds are

    @cached_property
    def bytes(self) -> int:
        """Memory that it takes beside the rows themselves."""
        return sum(array.nbytes for array in self.engine.arrays().values())

    def facts(self) -> dict[str, Any]:
        """Kind, settings, rows, components, bytes, seconds of building."""
        return {
            "kind": self.name,
            "settings": self.settings,
            "rows": len(self.vectors),
            "dim": self.vectors.dim,
            "bytes": self.bytes,
            "build_seconds": self.seconds,
        }

    def search(self, queries: np.ndarray, *, top: int = 10, restrict: int | None = None) -> Found:
        """The `top` rows nearest to each of `queries` (queries, dim), of any length; fewer where there are fewer rows.

        Arguments:
            restrict: only the first so many rows are candidates.

        Raises:
            SettingError: `top` or `restrict` below 1, queries of another shape, with NaN or infinity, or an index
                that cannot restrict.
        """
        check_search(top, restrict)
        rows = np.ascontiguousarray(queries, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.vectors.dim:
            raise SettingError(f"queries must be (queries, {self.vectors.dim}), not {rows.shape}")
        if not np.isfinite(rows).all():
            raise SettingError("a vector to search with holds NaN or infinity")
        candidates = min(len(self.vectors), restrict or len(self.vectors))
        top = min(top, candidates)
        if not top or not len(rows):
            shape = (len(rows), top)
            return Found(np.empty(shape, np.int64), np.empty(shape), np.zeros(len(rows), np.int64))
        return self.engine.search(unit(rows), top, restrict if candidates < len(self.vectors) else None)

    def check(self, vectors: "Vectors") -> None:
        """Refuse vectors that it was not built from.

        Raises:
            SettingError: they differ in any number.
        """
        if vectors is not self.vectors and vectors.fingerprint != self.vectors.fingerprint:
            raise SettingError(f"the index was built from other vectors: {self!r} does not fit {vectors!r}")

    def with_search(self, name: str, settings: Mapping[str, Any]) -> "Index | None":
        """The same index under other settings, if these are of the same kind and change nothing that was built.

        A kind names the settings that matter in searches alone in a class attribute `SEARCH`. One that goes back to
        None needs building: what there is may hold the value of before.

        Raises:
            SettingError: as `build`.
        """
        if name != self.name:
            return None
        kind: Kind = registry.configured("index", name, settings)
        asked = asdict(kind)  # type: ignore[call-overload]
        changed = {key for key, value in self.settings.items() if asked[key] != value}
        if not changed <= getattr(kind, "SEARCH", frozenset()) or any(asked[key] is None for key in changed):
            return None
        engine = kind.restore(self.vectors.units, self.engine.arrays())
        return Index(name, kind, self.vectors, engine, self.seconds)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write a folder: index.json and tensors.safetensors; the vectors stay where they are. See `saved.save`."""
        from embeddings.indexes.index_files import save

        save(self, path, force=force)


def build(name: str, vectors: "Vectors", settings: Mapping[str, Any] | None = None) -> Index:
    """An index of a kind that is installed, with these settings.

    Raises:
        RegistryError: no such kind.
        SettingError: it has no such setting, a value is out of range or does not fit the vectors, or these hold NaN.
    """
    kind: Kind = registry.configured("index", name, settings or {})
    units = vectors.units
    start = perf_counter()
    engine = kind.build(units)
    return Index(name, kind, vectors, engine, perf_counter() - start)
