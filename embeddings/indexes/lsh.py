"""Locality-sensitive hashing by random hyperplanes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from embeddings.errors import FormatError, SettingError
from embeddings.indexes import hamming
from embeddings.indexes.hyperplanes import WORD_BITS, Planes, random_planes, signatures
from embeddings.indexes.parallel import run_slices
from embeddings.indexes.protocol import SearchResult
from embeddings.settings import Settings, option

MAX_BITS = 1 << 15  # distances are stored in 16 bits
MIN_RERANK, RERANK_PER_RESULT = 200, 10


@dataclass(frozen=True, kw_only=True)
class LSH(Settings):
    """Compares signatures from random hyperplanes by Hamming distance, then the nearest rows exactly."""

    SEARCH_SETTINGS: ClassVar[frozenset[str]] = frozenset({"rerank"})

    bits: int = option(256, "Number of hyperplanes, each of which gives one bit of a signature.", ge=1, le=MAX_BITS)
    rerank: int | None = option(
        None,
        "Minimum number of rows, nearest by signature, to compare exactly; 0 keeps the order by signature.  [default: "
        f"{MIN_RERANK}, or {RERANK_PER_RESULT} for each requested neighbour]",
        ge=0,
    )
    centre: bool = option(True, "Put the hyperplanes through the mean of all rows, so that bits are balanced.")
    orthogonal: bool = option(
        True, "Make the hyperplanes orthogonal, in batches as large as the dimension of the vectors."
    )
    seed: int = option(1, "Seed of the hyperplanes.", ge=0, le=2**63 - 1)

    @classmethod
    def translate_settings(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Settings saved by version 0.1, which also had hash tables."""
        if settings.get("mode", "hamming") != "hamming":
            raise SettingError("hash tables (mode=tables) are no longer supported: build the index again")
        removed_names = {"mode", "tables", "probes"} | ({"bits"} if settings.get("bits") is None else set())
        return {name: value for name, value in settings.items() if name not in removed_names}

    def build(self, units: np.ndarray) -> "HammingSearch":
        """See `Kind.build`."""
        if not len(units):
            raise SettingError("an lsh index requires at least one row")
        planes = random_planes(units, self.bits, orthogonal=self.orthogonal, centre=self.centre, seed=self.seed)
        return HammingSearch(self, units, planes, signatures(units, planes))

    def restore(self, units: np.ndarray, arrays: Mapping[str, np.ndarray]) -> "HammingSearch":
        """See `Kind.restore`."""
        rows, dim = units.shape
        planes = Planes(
            get_array(arrays, "normals", np.float32, (self.bits, dim)),
            get_array(arrays, "offsets", np.float32, (self.bits,)),
        )
        if not all(np.isfinite(array).all() for array in planes):
            raise FormatError("its hyperplanes hold NaN or infinity")
        words = get_array(arrays, "signatures", np.uint64, (-(-self.bits // WORD_BITS), rows))
        if self.bits % WORD_BITS and (words[-1] >> np.uint64(self.bits % WORD_BITS)).any():
            raise FormatError(f"its signatures have more than {self.bits} bits")
        return HammingSearch(self, units, planes, words)


def get_array(arrays: Mapping[str, np.ndarray], name: str, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A saved array of this type and shape, in memory and in the layout that kernels are compiled for."""
    array = arrays.get(name)
    if array is None or array.dtype != dtype or array.shape != shape:
        actual = "missing" if array is None else f"{array.dtype} {array.shape}"
        raise FormatError(f"{name} must be {np.dtype(dtype)} {shape}, got {actual}")
    return np.array(array)


class HammingSearch:
    """Signatures of all rows."""

    def __init__(self, kind: LSH, units: np.ndarray, planes: Planes, words: np.ndarray) -> None:
        self.kind, self.units, self.planes, self.words = kind, units, planes, words

    def search(self, queries: np.ndarray, top: int, restrict: int | None) -> SearchResult:
        """See `Engine.search`."""
        rows = len(self.units) if restrict is None else restrict
        rerank = max(MIN_RERANK, RERANK_PER_RESULT * top) if self.kind.rerank is None else self.kind.rerank
        rerank = min(rows, max(rerank, top)) if rerank else 0
        shape = (len(queries), top)
        result = SearchResult(np.empty(shape, np.int64), np.empty(shape), np.empty(len(queries), np.int64))

        def work(part: slice) -> None:
            scratch = hamming.new_scratch(self.units.shape[1], self.kind.bits, rows, rerank or top)
            output = SearchResult(*(array[part] for array in result))
            hamming.search(self.units, queries[part], self.planes, self.words, rerank, output, scratch)

        run_slices(len(queries), work)
        return result

    def arrays(self) -> dict[str, np.ndarray]:
        """See `Engine.arrays`."""
        return {**self.planes._asdict(), "signatures": self.words}
