"""The indexes of FAISS, by their factory strings (Douze et al. 2024)."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from embeddings.errors import FormatError, SettingError
from embeddings.indexes.cosine_search import pair_cosines
from embeddings.indexes.protocol import SearchResult
from embeddings.settings import Settings, option
from embeddings.support.imports import LazyModule

MAX_NUMBER = 4096  # in a factory string, or the number of rows if that is larger
MAX_LINKS, MAX_CODE_BITS = 512, 16
faiss: Any = LazyModule("faiss")  # imported on first use
FAISS_PARAMETERS = {"nprobe": "nprobe", "ef_search": "efSearch"}


@dataclass(frozen=True, kw_only=True)
class Faiss(Settings):
    """An index of FAISS by its factory string, such as Flat, IVF256,Flat, HNSW32, PQ20 or LSH."""

    SEARCH_SETTINGS: ClassVar[frozenset[str]] = frozenset({"nprobe", "ef_search", "rerank"})

    factory: str = option("HNSW32", "Factory string of the index, as FAISS defines it.")
    nprobe: int | None = option(None, "Lists to search, for IVF indexes only.", ge=1, le=1 << 30)
    ef_search: int | None = option(None, "Breadth of the search, for HNSW indexes only.", ge=1, le=1 << 30)
    rerank: int = option(0, "Number of results of FAISS to compare exactly, at least the requested number.", ge=0)

    def build(self, units: np.ndarray) -> "FaissSearch":
        """See `Kind.build`."""
        if not len(units):
            raise SettingError("a FAISS index requires at least one row")
        max_number = max(MAX_NUMBER, len(units))  # FAISS would allocate memory before it finds a larger one too large
        limits = {"HNSW": MAX_LINKS, "NSG": MAX_LINKS, "IVF": len(units), "x": MAX_CODE_BITS}
        for name, number in re.findall(r"([A-Za-z]*)(\d+)", self.factory):
            if int(number[:20]) > (limit := limits.get(name, max_number)):
                raise SettingError(f"factory {self.factory!r}: {name} must be at most {limit}, got {number[:20]}")
        with faiss_errors(f"factory {self.factory!r}"):
            metric = faiss.METRIC_L2 if "LSH" in self.factory else faiss.METRIC_INNER_PRODUCT  # its LSH has no other
            index = faiss.index_factory(units.shape[1], self.factory, metric)
            index.train(units)
            index.add(units)
        return self._configure(index, units)

    def _configure(self, index: Any, units: np.ndarray) -> "FaissSearch":
        for name, parameter in FAISS_PARAMETERS.items():
            value = getattr(self, name)
            if value is not None:
                with faiss_errors(f"{name} of {self.factory!r}"):
                    faiss.ParameterSpace().set_index_parameter(index, parameter, value)
        return FaissSearch(self, units, index)

    def restore(self, units: np.ndarray, arrays: Mapping[str, np.ndarray]) -> "FaissSearch":
        """See `Kind.restore`."""
        data = arrays.get("faiss")
        if data is None or data.dtype != np.uint8 or data.ndim != 1:
            raise FormatError("it does not contain a FAISS index")
        size = data.nbytes + 4 * units.shape[1] * max(units.shape[1], MAX_NUMBER)  # the size of a rotation too
        limits = faiss.get_deserialization_vector_byte_limit(), faiss.get_deserialization_loop_limit()
        try:  # FAISS refuses data that announces an array of more bytes, or as many lists
            faiss.set_deserialization_vector_byte_limit(size)
            faiss.set_deserialization_loop_limit(size)
            index = faiss.deserialize_index(np.asarray(data))
        except (RuntimeError, MemoryError) as error:
            raise FormatError(f"FAISS cannot read it: {reason(error)}") from None
        finally:
            faiss.set_deserialization_vector_byte_limit(limits[0])
            faiss.set_deserialization_loop_limit(limits[1])
        if (index.ntotal, index.d) != units.shape:
            raise FormatError(f"it holds {index.ntotal} rows of {index.d} components, expected {units.shape}")
        return self._configure(index, units)


@contextmanager
def faiss_errors(subject: str) -> Iterator[None]:
    """Turn errors of FAISS into a SettingError that names the subject."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        raise SettingError(f"{subject}: FAISS refuses it: {reason(error)}") from None


def reason(error: Exception) -> str:
    """The message of FAISS without its source location."""
    return re.split(r"\.(?:cpp|h):\d+: ", str(error))[-1].split("\n")[0][:200]


class FaissSearch:
    """Search by a FAISS index, whose results are sorted by exact cosines."""

    def __init__(self, kind: Faiss, units: np.ndarray, index: Any) -> None:
        self.kind, self.units, self.index = kind, units, index

    def search(self, queries: np.ndarray, top: int, restrict: int | None) -> SearchResult:
        """See `Engine.search`."""
        if restrict is not None:
            raise SettingError("a FAISS index cannot restrict candidates: index fewer vectors, or search exactly")
        n_results = min(len(self.units), max(top, self.kind.rerank))
        try:
            _, ids = self.index.search(np.ascontiguousarray(queries, dtype=np.float32), n_results)
        except (RuntimeError, MemoryError) as error:  # the parameters of a loaded index can be inconsistent
            raise FormatError(f"the FAISS index is broken: {reason(error)}") from None
        if ids.min() < -1 or ids.max() >= len(self.units):
            raise FormatError(f"the FAISS index is broken: it found a row outside of its {len(self.units)} rows")
        cosines = np.full(ids.shape, -np.inf)
        owners, columns = np.nonzero(ids >= 0)
        cosines[owners, columns] = pair_cosines(self.units, ids[owners, columns], queries, owners)
        # FAISS computes in float32 and leaves the order of ties open.
        order = np.lexsort((ids, -cosines), axis=1)[:, :top]
        return SearchResult(np.take_along_axis(ids, order, 1), np.take_along_axis(cosines, order, 1))

    def arrays(self) -> dict[str, np.ndarray]:
        """See `Engine.arrays`: the index as FAISS serialises it."""
        return {"faiss": faiss.serialize_index(self.index)}
