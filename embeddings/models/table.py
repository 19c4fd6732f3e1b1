"""Declarations of the parameter tables that a model learns."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from embeddings.errors import DeclarationError
from embeddings.kernels.merge_rows import RULES
from embeddings.kernels.row_operations import padded
from embeddings.models.initializers import INITIALIZERS, Initializer
from embeddings.models.initializers import uniform as uniform
from embeddings.models.parameters import VECTORS, unpad, zero_rows

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
        if self.axis not in get_args(Axis):
            raise DeclarationError(f"the axis of a table must be one of {', '.join(get_args(Axis))}, got {self.axis!r}")
        if self.on_continue not in (None, *get_args(Continuation)):
            raise DeclarationError(f"on_continue must be one of {', '.join(get_args(Continuation))}")
        if self.on_merge not in (None, *RULES):
            raise DeclarationError(f"on_merge must be one of {', '.join(RULES)}, got {self.on_merge!r}")
        if self.saved_as is None and self.on_continue in ("grow", "copy"):
            raise DeclarationError(f"on_continue={self.on_continue!r} requires a table that is saved")
        if not all(isinstance(size, int | np.integer) for size in (self.rows, self.dim, self.slots)) or (
            self.rows < 0 or self.dim < 1 or self.slots < 1
        ):
            raise DeclarationError(f"a table cannot have {self.rows} rows of {self.slots} x {self.dim} numbers")
        if self.init is not None and not callable(self.init):
            raise DeclarationError(f"init of a table must be a function, such as uniform, got {self.init!r:.80}")

    @property
    def continuation(self) -> Continuation:
        """What continued training does with it."""
        return self.on_continue or ("restart" if self.saved_as is None else CONTINUATIONS[self.axis])

    @property
    def saved_shape(self) -> tuple[int, ...]:
        """Its shape in a saved model."""
        return (self.rows, self.dim) if self.slots == 1 else (self.rows, self.slots, self.dim)

    def allocate(self, seed: int) -> np.ndarray:
        """The table with its initial values, as in training."""
        table = zero_rows(self.rows * self.slots, self.dim) if self.zeros is None else self.zeros()
        shape = self.rows * self.slots, padded(self.dim)
        if not isinstance(table, np.ndarray) or table.shape != shape or table.dtype != np.float32:
            problem = f"{table.dtype} {table.shape}" if isinstance(table, np.ndarray) else f"{table!r:.80}"
            raise DeclarationError(f"zeros of a table must return float32 {shape}, got {problem}")
        if self.init is not None:
            self.init(table, self.dim, seed + self.seed)
        return self.concatenate(table)

    def concatenate(self, table: np.ndarray) -> np.ndarray:
        """The rows of slots (rows * slots, padded dim) as in training, one after another if they are concatenated."""
        return table.reshape(self.rows, self.slots * table.shape[1]) if self.is_concatenated else table

    def unpad(self, table: np.ndarray) -> np.ndarray:
        """The table as in a saved model; works in place, and so consumes the table."""
        return unpad(table, self.dim, self.slots)

    def set_rows(self, table: np.ndarray, rows: np.ndarray | slice, values: np.ndarray) -> None:
        """Set items of the table in training from items of a saved table."""
        table.reshape(self.rows, self.slots, padded(self.dim))[rows, :, : self.dim] = values.reshape(
            len(values), self.slots, self.dim
        )


def word_vectors(rows: int, dim: int, initializer: str = "uniform") -> Table:
    """The table of the word vectors that a model is for; `initializer` is a key of `INITIALIZERS`."""
    if initializer not in INITIALIZERS:
        raise DeclarationError(f"initializer must be one of {', '.join(INITIALIZERS)}, got {initializer!r}")
    return Table(rows=rows, dim=dim, axis="words", init=INITIALIZERS[initializer], saved_as=VECTORS)
