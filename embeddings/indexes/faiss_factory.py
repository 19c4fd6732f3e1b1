"""The indexes of FAISS, by their factory strings (Douze et al. 2024)."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from embeddings.errors import FormatError, SettingError
from embeddings.indexes.protocol import Found
from embeddings.settings import Settings, option
from embeddings.support.cosine import pair_cosines

LARGEST = 4096  # number in a factory string, or the rows where they are more
MOST_LINKS, MOST_CODE_BITS = 512, 16
PARAMETERS = {"nprobe": "nprobe", "ef_search": "efSearch"}


@dataclass(frozen=True, kw_only=True)
class Faiss(Settings):
    """An index of FAISS, from its factory string: Flat, IVF256,Flat, HNSW32, PQ20, LSH and the many others."""

    SEARCH: ClassVar[frozenset[str]] = frozenset({"nprobe", "ef_search", "rerank"})

    factory: str = option("HNSW32", "What FAISS calls the index.")
    nprobe: int | None = option(None, "Lists looked into, of an IVF index.", least=1, most=1 << 30)
    ef_search: int | None = option(None, "Breadth of the search, of an HNSW index.", least=1, most=1 << 30)
    rerank: int = option(0, "Answers of FAISS to put in order exactly, at least as many as are asked for.", least=0)

    def build(self, units: np.ndarray) -> "FaissSearch":
        """See `embeddings.indexes.protocol.Kind`.

        Raises:
            SettingError: FAISS knows no such index, it does not fit so many rows, as FAISS says, or there are none.
        """
        import faiss

        if not len(units):
            raise SettingError("a FAISS index needs at least one row")
        self._check_factory(units)
        with told(f"factory {self.factory!r}"):
            metric = faiss.METRIC_L2 if "LSH" in self.factory else faiss.METRIC_INNER_PRODUCT  # its LSH has no other
            index = faiss.index_factory(units.shape[1], self.factory, metric)
            index.train(units)
            index.add(units)
        return self._tuned(index, units)

    def _check_factory(self, units: np.ndarray) -> None:
        """Refuse numbers that FAISS would take memory for before it finds them too large."""
        links, rows = MOST_LINKS, max(LARGEST, len(units))
        bounds = {"HNSW": links, "NSG": links, "IVF": len(units), "x": MOST_CODE_BITS}
        for name, number in re.findall(r"([A-Za-z]*)(\d+)", self.factory):
            if int(number[:20]) > bounds.get(name, rows):
                raise SettingError(f"factory {self.factory!r}: {name}{number[:20]} is above {bounds.get(name, rows)}")

    def _tuned(self, index: Any, units: np.ndarray) -> "FaissSearch":
        import faiss

        for name, theirs in PARAMETERS.items():
            value = getattr(self, name)
            if value is not None:
                with told(f"{name} of {self.factory!r}"):
                    faiss.ParameterSpace().set_index_parameter(index, theirs, value)
        return FaissSearch(self, units, index)

    def restore(self, units: np.ndarray, arrays: Mapping[str, np.ndarray]) -> "FaissSearch":
        """See `embeddings.indexes.protocol.Kind`."""
        import faiss

        saved = arrays.get("faiss")
        if saved is None or saved.dtype != np.uint8 or saved.ndim != 1:
            raise FormatError("it holds no index of FAISS")
        try:
            index = faiss.deserialize_index(np.asarray(saved))
        except (RuntimeError, MemoryError) as error:
            raise FormatError(f"FAISS does not read it: {reason(error)}") from None
        if (index.ntotal, index.d) != units.shape:
            raise FormatError(f"it holds {index.ntotal} rows of {index.d} components, not {units.shape}")
        return self._tuned(index, units)


@contextmanager
def told(what: str) -> Iterator[None]:
    """FAISS's own errors as settings that are refused.

    Raises:
        SettingError: what FAISS said.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        raise SettingError(f"{what}: FAISS refuses it: {reason(error)}") from None


def reason(error: Exception) -> str:
    """What FAISS says, without where in its sources."""
    return re.split(r"\.(?:cpp|h):\d+: ", str(error))[-1].split("\n")[0][:200]


class FaissSearch:
    """Search by an index of FAISS; what it finds is put in order by exact cosines."""

    def __init__(self, kind: Faiss, units: np.ndarray, index: Any) -> None:
        self.kind, self.units, self.index = kind, units, index

    def search(self, queries: np.ndarray, top: int, restrict: int | None) -> Found:
        """See `embeddings.indexes.protocol.Engine`.

        Raises:
            SettingError: candidates are restricted.
        """
        if restrict is not None:
            raise SettingError("an index of FAISS cannot restrict candidates: index fewer vectors, or search exactly")
        wanted = min(len(self.units), max(top, self.kind.rerank))
        before = compared()
        _, ids = self.index.search(np.ascontiguousarray(queries, dtype=np.float32), wanted)
        looked = np.full(len(queries), self.looked(wanted, (compared() - before) // len(queries)))
        cosines = np.full(ids.shape, -np.inf)
        owners, places = np.nonzero(ids >= 0)
        cosines[owners, places] = pair_cosines(self.units, ids[owners, places], queries, owners)
        order = np.lexsort((ids, -cosines), axis=1)[:, :top]
        return Found(np.take_along_axis(ids, order, 1), np.take_along_axis(cosines, order, 1), looked)

    def looked(self, wanted: int, counted: int) -> int:
        """How many rows were compared exactly for a query: by FAISS, where it holds rows as they are, else here.

        -1 where what FAISS holds is not known.
        """
        import faiss

        if type(self.index) is faiss.IndexFlat or isinstance(self.index, faiss.IndexFlatIP | faiss.IndexFlatL2):
            return len(self.units)
        if type(self.index) in (faiss.IndexIVFFlat, faiss.IndexHNSWFlat):
            return counted
        codes = (
            faiss.IndexFlatCodes, faiss.IndexFastScan, faiss.IndexIVFPQ, faiss.IndexIVFScalarQuantizer,
            faiss.IndexHNSWPQ,
        )  # fmt: skip
        return wanted if isinstance(self.index, codes) else -1

    def arrays(self) -> dict[str, np.ndarray]:
        """The index as FAISS writes it."""
        import faiss

        return {"faiss": faiss.serialize_index(self.index)}


def compared() -> int:
    """How many rows IVF and HNSW indexes have looked at since FAISS was loaded, as it counts them."""
    from faiss import cvar

    counters: Any = cvar
    return int(counters.indexIVF_stats.ndis) + int(counters.hnsw_stats.ndis)
