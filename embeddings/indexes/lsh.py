"""Locality-sensitive hashing by random hyperplanes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from embeddings.errors import FormatError, SettingError
from embeddings.indexes import hamming, hash_tables
from embeddings.indexes.hyperplanes import Planes, product_blocks, random_planes, signatures
from embeddings.indexes.parallel import spread
from embeddings.indexes.protocol import Engine, Found
from embeddings.indexes.ranking import new_lists, part_of
from embeddings.settings import Settings, option

DEFAULTS = {"hamming": {"bits": 256, "rerank": 200}, "tables": {"bits": 12, "tables": 8, "probes": 64}}
MOST_BUCKET_BITS = 24
MOST_BITS = 1 << 15  # distances are held in 16 bits
MOST_ENTRIES = 1 << 30  # of hash tables


@dataclass(frozen=True, kw_only=True)
class LSH(Settings):
    """Signatures by random hyperplanes, compared bit by bit or looked up in hash tables; the best then exactly."""

    SEARCH: ClassVar[frozenset[str]] = frozenset({"probes", "rerank"})

    mode: Literal["hamming", "tables"] = option(
        "hamming", "Compare the signatures of all rows, bit by bit, or look up buckets of equal signatures."
    )
    bits: int | None = option(
        None, "Hyperplanes of a signature, or of each table.  [default: 256, with tables 12]", least=1, most=MOST_BITS
    )
    tables: int | None = option(None, "Hash tables.  [default: 8; with tables only]", least=1, most=4096)
    probes: int | None = option(
        None,
        "Buckets looked into in each table, the likeliest first: 1 is the query's own.  [default: 64, or all there "
        "are; with tables only]",
        least=1,
        most=1 << 20,
    )
    rerank: int | None = option(
        None,
        "Rows nearest by signature that are compared exactly, at least; 0 takes the order of signatures.  [default: "
        "200, or 10 for each that is asked for; without tables only]",
        least=0,
    )
    centre: bool = option(True, "Put the hyperplanes through the mean of all rows, so that bits are balanced.")
    orthogonal: bool = option(True, "Draw hyperplanes at right angles to each other, as many as there are components.")
    seed: int = option(1, "Of the hyperplanes.", least=0, most=2**63 - 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in {"bits", "tables", "probes", "rerank"} - set(DEFAULTS[self.mode]):
            if getattr(self, name) is not None:
                raise SettingError(f"{name} has no meaning with mode {self.mode}: leave it out")
        if self.mode == "tables":
            self._check_tables()

    def _check_tables(self) -> None:
        bits = self.value("bits")
        if bits > MOST_BUCKET_BITS:
            raise SettingError(f"bits must be at most {MOST_BUCKET_BITS} with tables, not {bits}")
        if self.probes is not None and self.probes > 1 << bits:
            raise SettingError(f"probes must be at most 2^bits, {1 << bits} buckets, not {self.probes}")

    def _check_size(self, rows: int) -> None:
        entries = self.value("tables") * (2 ** self.value("bits") + rows)
        if entries > MOST_ENTRIES:
            raise SettingError(f"tables and bits make tables of {entries:,} entries: at most {MOST_ENTRIES:,}")

    def value(self, name: str) -> int:
        """A setting, or its default in this mode."""
        given = getattr(self, name)
        return DEFAULTS[self.mode][name] if given is None else int(given)

    def build(self, units: np.ndarray) -> Engine:
        """See `embeddings.indexes.protocol.Kind`.

        Raises:
            SettingError: there are no rows.
        """
        if not len(units):
            raise SettingError("an lsh index needs at least one row")
        bits = self.value("bits")
        if self.mode == "tables":
            self._check_size(len(units))
            bits *= self.value("tables")
        planes = random_planes(units, bits, orthogonal=self.orthogonal, centre=self.centre, seed=self.seed)
        if self.mode == "hamming":
            return HammingSearch(self, units, planes, signatures(units, planes))
        return TableSearch(self, units, planes, hash_tables.new_tables(self._codes(units, planes), self.value("bits")))

    def _codes(self, units: np.ndarray, planes: Planes) -> np.ndarray:
        """The bucket of each row in each table, (tables, rows) int32."""
        bits, count = self.value("bits"), self.value("tables")
        codes = np.empty((count, len(units)), np.int32)
        for part in product_blocks(units, planes):
            above = (units[part] @ planes.normals.T > planes.offsets).reshape(-1, count, bits)
            codes[:, part] = (above @ (1 << np.arange(bits, dtype=np.int32))).T
        return codes

    def restore(self, units: np.ndarray, arrays: Mapping[str, np.ndarray]) -> Engine:
        """See `embeddings.indexes.protocol.Kind`."""
        rows, dim = units.shape
        bits, count = self.value("bits"), 1
        if self.mode == "tables":
            count = self.value("tables")
        planes = Planes(
            taken(arrays, "normals", np.float32, (bits * count, dim)),
            taken(arrays, "offsets", np.float32, (bits * count,)),
        )
        if not all(np.isfinite(array).all() for array in planes):
            raise FormatError("its hyperplanes hold NaN or infinity")
        if self.mode == "hamming":
            return HammingSearch(self, units, planes, taken(arrays, "signatures", np.uint64, (-(-bits // 64), rows)))
        starts = taken(arrays, "starts", np.int32, (count, (1 << bits) + 1))
        members = taken(arrays, "members", np.int32, (count, rows))
        ordered = (np.diff(starts, axis=1) >= 0).all() and (starts[:, 0] == 0).all() and (starts[:, -1] == rows).all()
        if not ordered or members.min(initial=0) < 0 or members.max(initial=0) >= rows:
            raise FormatError("its buckets do not fit the rows")
        return TableSearch(self, units, planes, hash_tables.Tables(starts, members))


def taken(arrays: Mapping[str, np.ndarray], name: str, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
    """One of the saved arrays.

    Raises:
        FormatError: it is missing, or of another type or shape.
    """
    array = arrays.get(name)
    if array is None or array.dtype != dtype or array.shape != shape:
        found = "missing" if array is None else f"{array.dtype} {array.shape}"
        raise FormatError(f"{name} is {found}, not {np.dtype(dtype)} {shape}")
    return np.array(array)  # in memory, and of the one type that kernels are compiled for


class HammingSearch:
    """Signatures of all rows."""

    def __init__(self, kind: LSH, units: np.ndarray, planes: Planes, words: np.ndarray) -> None:
        self.kind, self.units, self.planes, self.words = kind, units, planes, words

    def search(self, queries: np.ndarray, top: int, restrict: int | None) -> Found:
        """See `embeddings.indexes.protocol.Engine`."""
        rows = len(self.units) if restrict is None else restrict
        exactly = max(200, 10 * top) if self.kind.rerank is None else self.kind.rerank
        exactly = min(rows, max(exactly, top)) if exactly else 0
        found = new_lists(len(queries), top)

        def work(part: slice) -> None:
            scratch = hamming.new_scratch(self.units.shape[1], len(self.planes.offsets), rows, exactly or top)
            lists = part_of(found, part)
            hamming.search(self.units, queries[part], self.planes, self.words, exactly, lists, scratch)

        spread(len(queries), work)
        return Found(*found)

    def arrays(self) -> dict[str, np.ndarray]:
        """Planes and signatures."""
        return {**self.planes._asdict(), "signatures": self.words}


class TableSearch:
    """Hash tables of all rows."""

    def __init__(self, kind: LSH, units: np.ndarray, planes: Planes, buckets: hash_tables.Tables) -> None:
        self.kind, self.units, self.planes, self.buckets = kind, units, planes, buckets
        bits = kind.value("bits")
        self.probes = min(kind.value("probes"), 1 << bits)
        self.desk = hash_tables.Desk(units.shape[1], len(buckets.starts), bits, self.probes, len(units))

    def search(self, queries: np.ndarray, top: int, restrict: int | None) -> Found:
        """See `embeddings.indexes.protocol.Engine`."""
        rows = len(self.units) if restrict is None else restrict
        found = new_lists(len(queries), top)

        def work(part: slice) -> None:
            scratch, lists = self.desk.scratch(part.stop - part.start, rows), part_of(found, part)
            hash_tables.search(self.units, queries[part], self.planes, self.buckets, self.probes, lists, scratch)

        spread(len(queries), work)
        return Found(*found)

    def arrays(self) -> dict[str, np.ndarray]:
        """Planes and buckets."""
        return {**self.planes._asdict(), **self.buckets._asdict()}
