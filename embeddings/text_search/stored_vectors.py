"""Unit vectors as they are stored, float32, float16 or int8, and their products with queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from embeddings.errors import SettingError
from embeddings.indexes.exact import FEW_QUERIES, products
from embeddings.support.cosine import normalize_rows, row_blocks
from embeddings.text_search.index_folder import SCALES, VECTORS
from embeddings.vectors.compact_rows import to_int8
from embeddings.vectors.pooling import DataType


def store(rows: np.ndarray, dtype: DataType, start: int = 0) -> dict[str, np.ndarray]:
    """Arrays for rows (rows, dim), numbered from `start`, at length one; zero rows stay zero.

    Raises SettingError if a row holds NaN or infinity.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", rows, rows)
    is_zero = squares == 0  # or its square is too small for float32
    is_unit = (
        rows.dtype == np.float32 and bool((is_zero | (np.abs(squares - 1) < 1e-6)).all()) and not rows[is_zero].any()
    )
    if not is_unit and not (is_finite := np.isfinite(rows).all(axis=1)).all():
        raise SettingError(f"the vector of row {start + int(is_finite.argmin()) + 1} holds NaN or infinity")
    units = rows if is_unit else normalize_rows(rows)
    if dtype != "int8":
        return {VECTORS: units.astype(dtype, copy=False)}
    integers, scales = to_int8(units)
    return {VECTORS: integers, SCALES: scales}


@dataclass(frozen=True)
class StoredVectors:
    """Rows of `store`, indexed like an array of float32: rows are decoded when they are accessed.

    Arguments:
        rows: (rows, dim) of the stored type.
        scales: the largest component / 127 of each row, (rows,), of int8 only.
    """

    rows: np.ndarray
    scales: np.ndarray | None = None

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray]) -> "StoredVectors":
        """The vectors among the arrays of a segment."""
        return cls(arrays[VECTORS], arrays.get(SCALES))

    @property
    def shape(self) -> tuple[int, ...]:
        """(rows, dim)."""
        return self.rows.shape

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: np.ndarray | slice) -> np.ndarray:
        selected = self.rows[rows]
        if self.scales is None:
            return np.asarray(selected, np.float32)
        return np.asarray(np.multiply(selected, self.scales[rows][:, None], dtype=np.float32))

    def scores(self, queries: np.ndarray) -> np.ndarray:
        """The cosines (queries, rows) float32 of all rows with unit queries (queries, dim) float32."""
        # BLAS requires float32, which blocks keep small
        if self.rows.dtype == np.float32 or len(queries) <= FEW_QUERIES:
            scores = products(self.rows, queries)
        else:
            scores = np.empty((len(queries), len(self)), np.float32)
            for part in row_blocks(len(self), 4 * self.shape[1]):
                scores[:, part] = products(self.rows[part].astype(np.float32), queries)
        return scores if self.scales is None else scores * self.scales


class JoinedVectors:
    """The stored vectors of several segments, indexed by rows (rows,) like one array of float32."""

    def __init__(self, parts: Sequence[StoredVectors], dim: int) -> None:
        self.parts = parts
        self.starts = np.cumsum([0, *map(len, parts)])
        self.shape = (int(self.starts[-1]), dim)

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        selected = np.empty((len(rows), self.shape[1]), np.float32)
        for part, start in zip(self.parts, self.starts, strict=False):
            own = (rows >= start) & (rows < start + len(part))
            selected[own] = part[rows[own] - start]
        return selected
