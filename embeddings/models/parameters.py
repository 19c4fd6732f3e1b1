"""Parameter tables: allocation, initial values, copies, and the form they are saved in.

In training a row is padded with zeros to a multiple of a cache line: tables are (rows, padded dim).
"""

import numpy as np

from embeddings.errors import SettingError
from embeddings.kernels.row_operations import padded
from embeddings.kernels.step_buffers import aligned_zeros
from embeddings.support.system import total_memory

Arrays = dict[str, np.ndarray]
VECTORS = "vectors"  # the key of the word vectors in `Arrays`
BLOCK_NUMBERS = 65536  # drawn at a time, so that they stay in the cache
BLOCK_ROWS = 65536  # processed at a time, so that no second table is ever in memory


def random_rows(rows: int, dim: int, seed: int) -> np.ndarray:
    """Rows as `fill_random_rows` makes them; float32 (rows, padded dim), zero beyond `dim`."""
    table = zero_rows(rows, dim)
    fill_random_rows(table, dim, seed)
    return table


def fill_random_rows(table: np.ndarray, dim: int, seed: int) -> None:
    """Fill rows with numbers uniform in (-1, 1) / dim, as in gensim and fastText.

    word2vec uses half this range; the whole range gives CBOW better vectors in few epochs.
    """
    rng = np.random.default_rng(seed)
    size = max(1, BLOCK_NUMBERS // dim)
    buffer = np.empty((min(size, len(table)), dim), np.float32)
    for start in range(0, len(table), size):
        block = table[start : start + size, :dim]
        numbers = rng.random(dtype=np.float32, out=buffer[: len(block)])
        numbers -= np.float32(0.5)
        np.multiply(numbers, np.float32(2 / dim), out=block)


def zero_rows(rows: int, dim: int) -> np.ndarray:
    """Rows of zeros; float32 (rows, padded dim)."""
    size, available = 4 * rows * padded(dim), total_memory()
    if available is not None and size > available:  # otherwise the system might kill the process hours later
        raise SettingError(
            f"a table of {rows:,} x {dim} numbers takes {size / 1e9:,.1f} GB, but this machine has "
            f"{available / 1e9:,.1f} GB; use fewer words, dimensions or buckets, or a smaller window"
        )
    return aligned_zeros(rows, padded(dim))


def unpad(table: np.ndarray, dim: int, slots: int = 1) -> np.ndarray:
    """The table without padding: (rows, dim), or (rows, slots, dim).

    Works in place, and so consumes the table.

    Arguments:
        table: (rows * slots, padded dim), or (rows, slots * padded dim).
    """
    flat, width = table.reshape(-1), padded(dim)
    rows = len(flat) // width
    for start in range(0, rows if dim < width else 0, BLOCK_ROWS):
        block = flat[start * width : (start + BLOCK_ROWS) * width].reshape(-1, width)[:, :dim].copy()
        flat[start * dim : start * dim + block.size] = block.reshape(-1)
    numbers = flat[: rows * dim]
    return numbers.reshape(-1, dim) if slots == 1 else numbers.reshape(-1, slots, dim)


def copy_into(table: np.ndarray, saved: np.ndarray) -> None:
    """Copy a saved array into an array of the same shape and type."""
    if table.shape != saved.shape or table.dtype != saved.dtype:
        raise ValueError(f"expected {table.dtype} {table.shape}, got {saved.dtype} {saved.shape}")
    table[...] = saved


def is_finite(array: np.ndarray) -> bool:
    """Whether no number is NaN or infinite."""
    flat = array.reshape(-1)
    return all(np.isfinite(flat[start : start + 2**22]).all() for start in range(0, len(flat), 2**22))
