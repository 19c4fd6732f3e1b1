"""Parameter tables that a model learns: declaration, allocation, initial values, and saved form.

In training a row is padded with zeros to a multiple of a cache line: tables are (rows, padded dim).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from embeddings.errors import DeclarationError, SettingError
from embeddings.kernels.merge_rows import RULES
from embeddings.kernels.row_operations import padded
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.settings import check_value
from embeddings.support.system import total_memory

Arrays = dict[str, np.ndarray]
VECTORS = "vectors"  # the key of the word vectors in `Arrays`
BLOCK_NUMBERS = 65536  # drawn at a time, so that they stay in the cache
BLOCK_ROWS = 65536  # processed at a time, so that no second table is ever in memory


def uniform(table: np.ndarray, dim: int, seed: int) -> None:
    """Fill rows with numbers uniform in (-1, 1) / dim, as in gensim and fastText.

    word2vec uses half this range; the whole range gives CBOW better vectors in few epochs.
    """
    rng = np.random.default_rng(seed)
    size = max(1, BLOCK_NUMBERS // dim)
    buffer = np.empty((min(size, len(table)), dim), np.float32)
    for start in range(0, len(table), size):
        block = table[start : start + size, :dim]
        numbers = rng.random(dtype=np.float32, out=buffer[: len(block)])
        # In this order, in place and in float32: other orders round differently, and change trained vectors.
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
    return separate_zeros((rows, padded(dim)))


def copy_into(table: np.ndarray, saved: np.ndarray) -> None:
    """Copy a saved array into an array of the same shape and type."""
    if table.shape != saved.shape or table.dtype != saved.dtype:
        raise ValueError(f"expected {table.dtype} {table.shape}, got {saved.dtype} {saved.shape}")
    table[...] = saved


def is_finite(array: np.ndarray) -> bool:
    """Whether no number is NaN or infinite."""
    flat = array.reshape(-1)
    return all(np.isfinite(flat[start : start + 2**22]).all() for start in range(0, len(flat), 2**22))


Initializer = Callable[[np.ndarray, int, int], None]  # table, dim, seed


def ones(table: np.ndarray, dim: int, seed: int) -> None:
    """Fill rows with ones."""
    table[:, :dim] = 1


Axis = Literal["words", "subwords", "documents", "labels", "other"]
Continuation = Literal["grow", "copy", "restart", "refuse"]
CONTINUATIONS: dict[str, Continuation] = {
    "words": "grow",
    "subwords": "copy",
    "documents": "restart",
    "labels": "refuse",
    "other": "refuse",
}


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of float32 parameters: `rows` items, each of `slots` rows of `dim` numbers.

    In training it is (rows * slots, padded dim), or (rows, slots * padded dim) if the slots are concatenated; `padded`
    is `embeddings.kernels.row_operations.padded`. In a saved model it is (rows, dim), or (rows, slots, dim).

    Arguments:
        axis: what an item is: a word of the vocabulary, a hash bucket of subwords, a document, a label, or other.
        init: sets the initial values; zeros if not given.
        seed: added to the seed of the run: tables with random initial values need different ones.
        saved_as: name in a saved model, by default the table's own; None for a table that only checkpoints hold.
        on_continue: what continued training does. grow: the rows of old words move to their new ranks; copy: all rows
            are taken over; restart: the table starts again; refuse: the model cannot be continued. By default "restart"
            for a table that is not saved and for documents, "grow" for words, "copy" for subwords, otherwise "refuse".
        on_merge: how replicas merge their changes, a rule of `embeddings.kernels.merge_rows`; by default that of the
            run. The state of an optimizer needs one: "sum" for sums of squares, "mean-changed" for moving averages.
        zeros: makes the array of zeros, for a table that does not fit into memory.

    Raises:
        DeclarationError: the axis is unknown, or a size is out of range.
    """

    rows: int
    dim: int
    axis: Axis
    slots: int = 1
    is_concatenated: bool = False
    init: Initializer | None = None
    seed: int = 0
    saved_as: str | None = ""
    on_continue: Continuation | None = None
    on_merge: str | None = None
    zeros: Callable[[], np.ndarray] | None = None

    def __post_init__(self) -> None:
        check_value("axis", self.axis, Axis, {})
        check_value("on_continue", self.on_continue, Continuation | None, {})
        check_value("on_merge", self.on_merge, Literal[(None, *RULES)], {})
        for name, lowest in (("rows", 0), ("dim", 1), ("slots", 1)):
            check_value(name, getattr(self, name), int, {"ge": lowest})

    @property
    def continuation(self) -> Continuation:
        """The treatment of the table in continued training."""
        return self.on_continue or ("restart" if self.saved_as is None else CONTINUATIONS[self.axis])

    @property
    def saved_shape(self) -> tuple[int, ...]:
        """The shape of the table in a saved model."""
        return (self.rows, self.dim) if self.slots == 1 else (self.rows, self.slots, self.dim)

    def allocate(self, seed: int) -> np.ndarray:
        """The table with its initial values, as in training."""
        table = zero_rows(self.rows * self.slots, self.dim) if self.zeros is None else self.zeros()
        shape = self.rows * self.slots, padded(self.dim)
        if table.shape != shape or table.dtype != np.float32:  # kernels write to its addresses
            raise DeclarationError(f"zeros of a table must return float32 {shape}, got {table.dtype} {table.shape}")
        if self.init is not None:
            self.init(table, self.dim, seed + self.seed)
        return self.concatenate(table)

    def concatenate(self, table: np.ndarray) -> np.ndarray:
        """The rows of slots (rows * slots, padded dim) as in training, one after another if they are concatenated."""
        return table.reshape(self.rows, self.slots * table.shape[1]) if self.is_concatenated else table

    def unpad(self, table: np.ndarray) -> np.ndarray:
        """The table as in a saved model; works in place, and so consumes the table."""
        flat, dim, width = table.reshape(-1), self.dim, padded(self.dim)
        rows = len(flat) // width
        # Rows move towards the start, in order, so that none is overwritten before it has moved; blocks bound the
        # memory.
        for start in range(0, rows if dim < width else 0, BLOCK_ROWS):
            block = flat[start * width : (start + BLOCK_ROWS) * width].reshape(-1, width)[:, :dim].copy()
            flat[start * dim : start * dim + block.size] = block.reshape(-1)
        numbers = flat[: rows * dim]
        return numbers.reshape(-1, dim) if self.slots == 1 else numbers.reshape(-1, self.slots, dim)

    def set_rows(self, table: np.ndarray, rows: np.ndarray | slice, values: np.ndarray) -> None:
        """Set items of the table in training from items of a saved table."""
        table.reshape(self.rows, self.slots, padded(self.dim))[rows, :, : self.dim] = values.reshape(
            len(values), self.slots, self.dim
        )


def word_vectors(rows: int, dim: int) -> Table:
    """The table of the word vectors that a model is for."""
    return Table(rows=rows, dim=dim, axis="words", init=uniform, saved_as=VECTORS)
