"""Tables of parameters as training starts and as it ends."""

from typing import Any

import numpy as np

from embeddings.kernels.bundle import aligned
from embeddings.kernels.rows import padded

Arrays = dict[str, np.ndarray]


def initial(rows: int, dim: int, seed: int) -> np.ndarray:
    """Rows uniform in (-1, 1) / dim, as gensim and fastText begin; float32 (rows, padded dim), zero beyond `dim`.

    word2vec begins with half of it; the whole gives CBOW better vectors in few epochs.
    """
    table = aligned(rows, padded(dim))
    rng = np.random.default_rng(seed)
    for start in range(0, rows, 65536):  # a block at a time, so that no second table is ever in memory
        part = table[start : start + 65536, :dim]
        part[:] = (rng.random(part.shape, dtype=np.float32) - np.float32(0.5)) * np.float32(2 / dim)
    return table


def zeros(rows: int, dim: int) -> np.ndarray:
    """Rows of zeros; float32 (rows, padded dim)."""
    return aligned(rows, padded(dim))


def trimmed(table: np.ndarray, dim: int, slots: int = 1) -> np.ndarray:
    """A table as it is kept: (rows, dim), or (rows, slots, dim) if that many rows belong to each; a copy.

    `table` is (rows * slots, padded dim) or (rows, slots * padded dim): the same numbers in the same order.
    """
    width = padded(dim)
    shape = (-1, width) if slots == 1 else (-1, slots, width)
    return np.ascontiguousarray(table.reshape(shape)[..., :dim])


def all_trimmed(tables: Any, dim: int) -> Arrays:
    """The arrays of a NamedTuple by name, `trimmed`."""
    return {name: trimmed(array, dim) for name, array in tables._asdict().items() if isinstance(array, np.ndarray)}
