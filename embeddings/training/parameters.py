"""Tables of parameters as training starts and as it ends."""

from typing import Any

import numpy as np

from embeddings.errors import SettingError
from embeddings.kernels.row_operations import padded
from embeddings.kernels.step_buffers import aligned_zeros
from embeddings.support.system import total_memory

Arrays = dict[str, np.ndarray]
VECTORS = "vectors"  # of `Arrays`, what words get


def random_rows(rows: int, dim: int, seed: int, table: np.ndarray | None = None) -> np.ndarray:
    """Rows uniform in (-1, 1) / dim, as gensim and fastText begin; float32 (rows, padded dim), zero beyond `dim`.

    word2vec begins with half of it; the whole gives CBOW better vectors in few epochs. A table of zeros may be given.
    """
    table = zero_rows(rows, dim) if table is None else table
    rng = np.random.default_rng(seed)
    for start in range(0, rows, 65536):  # a block at a time, so that no second table is ever in memory
        part = table[start : start + 65536, :dim]
        part[:] = (rng.random(part.shape, dtype=np.float32) - np.float32(0.5)) * np.float32(2 / dim)
    return table


def zero_rows(rows: int, dim: int) -> np.ndarray:
    """Rows of zeros; float32 (rows, padded dim).

    Raises:
        SettingError: the machine has less memory than they take.
    """
    size, room = 4 * rows * padded(dim), total_memory()
    if room is not None and size > room:  # else the system might say so by ending the process, hours later
        raise SettingError(
            f"a table of {rows:,} rows of {dim} numbers takes {size / 1e9:,.1f} GB, and this machine has "
            f"{room / 1e9:,.1f}; fewer words, components, buckets or a smaller window make it smaller"
        )
    return aligned_zeros(rows, padded(dim))


def unpad(table: np.ndarray, dim: int, slots: int = 1) -> np.ndarray:
    """A table as it is kept: (rows, dim), or (rows, slots, dim) if that many rows belong to each.

    `table` is (rows * slots, padded dim) or (rows, slots * padded dim): the same numbers in the same order. Its own
    memory is used, so that no second table is ever needed: the table itself is spoilt.
    """
    flat, width = table.reshape(-1), padded(dim)
    rows = len(flat) // width
    for start in range(0, rows if dim < width else 0, 65536):
        part = flat[start * width : (start + 65536) * width].reshape(-1, width)[:, :dim].copy()
        flat[start * dim : start * dim + part.size] = part.reshape(-1)
    kept = flat[: rows * dim]
    return kept.reshape(-1, dim) if slots == 1 else kept.reshape(-1, slots, dim)


def unpad_all(tables: Any, dim: int) -> Arrays:
    """The arrays of a NamedTuple, `trimmed`, by the names they are kept by: "words" become the vectors."""
    found = {name: unpad(array, dim) for name, array in tables._asdict().items() if isinstance(array, np.ndarray)}
    return {VECTORS if name == "words" else name: array for name, array in found.items()}


def parameters(tables: Any) -> Arrays:
    """The arrays of a NamedTuple, and of those within it, that are learned: those of floats, each once, by name.

    Raises:
        ValueError: two have the same name.
    """
    found: Arrays = {}
    for name, value in tables._asdict().items():
        inner = parameters(value) if hasattr(value, "_asdict") else {name: value} if is_learned(value) else {}
        for one, array in inner.items():
            if any(array is other for other in found.values()):
                continue
            if one in found:
                raise ValueError(f"two tables are called {one!r}")
            found[one] = array
    return found


def is_learned(value: Any) -> bool:
    """Whether it is an array of floats."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def copy_tables(tables: Any, known: dict[int, np.ndarray] | None = None) -> Any:
    """A NamedTuple with copies of what is learned; an array that stands in it twice does so in the copy."""
    known = {} if known is None else known
    values = []
    for value in tables:
        if is_learned(value):
            if id(value) not in known:
                known[id(value)] = np.array(value, subok=False)
            values.append(known[id(value)])
        else:
            values.append(copy_tables(value, known) if hasattr(value, "_asdict") else value)
    return type(tables)(*values)


def copy_into(table: np.ndarray, saved: np.ndarray) -> None:
    """Copy what was saved of an array into it.

    Raises:
        ValueError: they are of different shapes or types.
    """
    if table.shape != saved.shape or table.dtype != saved.dtype:
        raise ValueError(f"{saved.dtype} {saved.shape} stands where {table.dtype} {table.shape} belongs")
    table[...] = saved


def is_finite(array: np.ndarray) -> bool:
    """Whether no number is NaN or infinite."""
    flat = array.reshape(-1)
    return all(np.isfinite(flat[start : start + 2**22]).all() for start in range(0, len(flat), 2**22))
