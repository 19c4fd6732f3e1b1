"""Matrices stored in fewer bytes: rounded, or pruned and quantised; float32 rows are computed when they are read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from embeddings.errors import FormatError, S, SettingError
from embeddings.kernels.matrix_rows import CENTROIDS
from embeddings.settings import check_value
from embeddings.support.cosine import row_blocks

Storage = Literal["float16", "int8", "codes"]
SHAPE = ".shape"  # ends the name of the saved shape of a compact matrix
INT8_MAX = 127


def to_int8(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows as int8 of the same shape, and their scales (rows,) float32; their product approximates the rows."""
    rows, scales = np.empty(matrix.shape, np.int8), np.empty(len(matrix), np.float32)
    for part in row_blocks(*matrix.shape, itemsize=8):
        block = matrix[part]
        scales[part] = np.abs(block).max(axis=1, initial=0) / np.float32(INT8_MAX)
        # A row of zeros has scale 0, by which it must not be divided.
        steps = np.where(scales[part] > 0, scales[part], np.float32(1))
        rows[part] = np.clip(np.rint(block / steps[:, None]), -INT8_MAX, INT8_MAX)
    return rows, scales


def from_int8(rows: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """The float32 vectors of int8 rows and their scales; a non-finite scale gives a non-finite row."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.multiply(rows, scales[:, None], dtype=np.float32))


@dataclass(frozen=True)
class CompactRows:
    """A matrix whose rows are decoded when they are read.

    `float16` numbers; `int8` numbers with a scale for each row; or `codes`: directions are cut into parts, each of them
    replaced by the nearest of 256 centroids, and so are the norms (product quantisation, Jégou et al. 2011). A learned
    rotation gains nothing before that, since the components of trained vectors are alike.

    Arguments:
        shape: (rows, dim) of the matrix.
        arrays: "float16"; or "int8" and "scales"; or "codes", "centroids", "norm_codes" and "norms".
        kept: numbers of the rows that are stored, int32, ascending; all other rows are zero. None if all are stored.
    """

    shape: tuple[int, int]
    arrays: dict[str, np.ndarray] = field(repr=False)
    kept: np.ndarray | None = field(default=None, repr=False)

    @classmethod
    def encode(
        cls, matrix: np.ndarray, storage: Storage, *, part_size: int = 2, cutoff: int | None = None, seed: int = 1
    ) -> "CompactRows":
        """Store a float32 matrix (rows, dim) in fewer bytes.

        Arguments:
            part_size: for "codes", the number of components that share a byte.
            cutoff: the number of rows to store, those of the largest norms; by default all.
            seed: of the samples that k-means starts from.

        Raises:
            SettingError: `part_size` is not in [1, dim], or the matrix contains NaN, infinity or too large numbers.
        """
        from embeddings.vectors.product_quantisation import quantise, row_norms  # imports numba

        rows, dim = matrix.shape
        norms, kept = row_norms(matrix), None
        if cutoff is not None and cutoff < rows:
            # Stable, so that of equal norms the first stay; ascending, so that `take` can search by bisection.
            kept = np.sort(np.argsort(-norms, kind="stable")[:cutoff]).astype(np.int32)
            matrix = matrix[kept]
        if storage == "float16":
            if norms.max(initial=0) > np.finfo(np.float16).max:
                raise SettingError(f"a vector is too long for float16: choose another {S.storage}")
            arrays = {"float16": matrix.astype(np.float16)}
        elif storage == "int8":
            arrays = dict(zip(("int8", "scales"), to_int8(matrix), strict=True))
        else:
            check_value("dsub", part_size, int, {"ge": 1, "le": dim})
            # Parts as equal as possible: 7 components in parts of at most 5 become 4 and 3.
            parts = -(-dim // part_size)
            encoded = quantise(matrix, -(-dim // parts), has_norms=True, seed=seed)
            names = ("centroids", "norm_codes", "norms")
            arrays = {"codes": encoded.table, **{name: getattr(encoded, name) for name in names}}
        return cls((rows, dim), arrays, kept)

    def take(self, numbers: np.ndarray) -> np.ndarray:
        """Decode the rows `numbers`, int64; returns float32 (numbers, dim)."""
        decoded = np.zeros((len(numbers), self.shape[1]), np.float32)
        places, is_stored = numbers, np.ones(len(numbers), np.bool_)
        if self.kept is not None:
            places = np.searchsorted(self.kept, numbers)
            # A number above the last stored row is compared with that row, from which it differs, instead of out of
            # bounds.
            is_stored = self.kept[np.minimum(places, len(self.kept) - 1)] == numbers
        decoded[is_stored] = self.decode(places[is_stored])
        return decoded

    def decode(self, rows: np.ndarray) -> np.ndarray:
        """Decode stored rows."""
        if "float16" in self.arrays:
            return np.asarray(self.arrays["float16"][rows], np.float32)
        if "int8" in self.arrays:
            return from_int8(self.arrays["int8"][rows], self.arrays["scales"][rows])
        codes, dim = self.arrays["codes"][rows], self.shape[1]
        part_size = -(-dim // codes.shape[1])
        decoded = np.empty((len(rows), dim), np.float32)
        for part, start in enumerate(range(0, dim, part_size)):
            stop = min(start + part_size, dim)
            centroids = self.arrays["centroids"][CENTROIDS * start : CENTROIDS * stop].reshape(CENTROIDS, -1)
            decoded[:, start:stop] = centroids[codes[:, part]]
        decoded *= self.arrays["norms"][self.arrays["norm_codes"][rows], None]
        return decoded

    def matrix(self) -> np.ndarray:
        """Decode all rows, float32 (rows, dim)."""
        decoded = np.empty(self.shape, np.float32)
        for part in row_blocks(*self.shape):
            decoded[part] = self.take(np.arange(part.start, part.stop))
        return decoded

    def tensors(self, name: str) -> dict[str, np.ndarray]:
        """The arrays to save; their names start with the name of the matrix."""
        arrays = {**self.arrays, SHAPE.removeprefix("."): np.array(self.shape, np.int64)}
        if self.kept is not None:
            arrays["kept"] = self.kept
        return {f"{name}.{part}": array for part, array in arrays.items()}

    @classmethod
    def from_tensors(cls, name: str, tensors: Mapping[str, np.ndarray]) -> "CompactRows":
        """The matrix of this name among saved arrays.

        Raises:
            FormatError: its arrays are missing, or have wrong types, shapes or row numbers.
        """
        arrays = {key.removeprefix(f"{name}."): array for key, array in tensors.items() if key.startswith(f"{name}.")}
        shape, kept = arrays.pop(SHAPE.removeprefix(".")), arrays.pop("kept", None)
        is_shape = shape.dtype == np.int64 and shape.shape == (2,) and shape.min() >= 0 and 1 <= shape[1] <= 1 << 20
        rows, dim = map(int, shape) if is_shape else (0, 1)
        is_valid = is_shape
        if kept is not None:
            is_ascending = kept.dtype == np.int32 and kept.ndim == 1 and len(kept) and (np.diff(kept) > 0).all()
            is_valid = is_valid and bool(is_ascending) and kept[0] >= 0 and kept[-1] < rows
        stored = rows if kept is None else kept.size
        expected: dict[str, tuple[type, tuple[int, ...]]]
        if "float16" in arrays:
            expected = {"float16": (np.float16, (stored, dim))}
        elif "int8" in arrays:
            expected = {"int8": (np.int8, (stored, dim)), "scales": (np.float32, (stored,))}
        else:
            codes = arrays.get("codes", np.zeros(0))
            parts = codes.shape[1] if codes.ndim == 2 else 0
            parts = parts if parts and -(-dim // -(-dim // parts)) == parts else -1  # which no array has
            expected = {
                "codes": (np.uint8, (stored, parts)),
                "centroids": (np.float32, (CENTROIDS * dim,)),
                "norm_codes": (np.uint8, (stored,)),
                "norms": (np.float32, (CENTROIDS,)),
            }
        found = {part: (array.dtype.type, array.shape) for part, array in arrays.items()}
        if not is_valid or found != expected:
            problem = "its arrays have wrong names, types or shapes, or its row numbers do not ascend"
            raise FormatError(f"the compact table {name!r} is broken: {problem}")
        return cls((rows, dim), arrays, kept)
