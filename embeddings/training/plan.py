"""Plans: what a trainer learns, declared once; training, checkpoints, resuming and saving follow from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import DeclarationError
from embeddings.kernels.row_operations import PADDING
from embeddings.kernels.step_buffers import StepBuffers, new_step_buffers
from embeddings.models.table import VECTORS, Arrays, Table
from embeddings.training.stream import Stream

Kernel = Callable[[Any, Any, StepBuffers, float], None]  # block, operands, buffers, learning rate


class DeclaredArrays(Arrays):
    """The arrays of the tables that a plan declares, by name."""

    def __missing__(self, name: str) -> np.ndarray:
        raise DeclarationError(f"the plan uses the table {name!r}, but declares only {', '.join(self)}")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What one run learns, from what, and by which kernel.

    Arguments:
        tables: the tables to learn, by name.
        stream: what is read.
        kernel: learns from one block: `kernel(block, operands, buffers, learning_rate)`. A compiled kernel tallies the
            loss of sampled steps, see `embeddings.kernels.step_buffers`; a Python function calls `report_loss`.
            A run that counts no step is refused, as it has learned nothing.
        operands: makes what the kernel of one thread works on from the arrays of all tables, whose memory it shares: a
            NamedTuple of arrays, or for a Python function any object. What is carried from block to block must be in a
            table, else it would not be in checkpoints.
        buffers: makes the step buffers of one thread.
        load, store: called with the operands before and after each segment of a run, for operands that learn on copies
            of the tables, such as those on a GPU: `load` reads the tables, `store` writes them. Tables are saved,
            merged and averaged only between segments.
        word_table: the table whose rows `--init` sets and `--freeze` keeps constant.
        set_vectors: sets the tables so that words have given vectors: called with the arrays of all tables, the rows of
            these words and the vectors (n, dim). By default the vectors become the rows of `word_table`.
        cached_inputs, cached_outputs: tables of whose most frequent rows each of many threads keeps copies.
        export: computes the arrays to save by name, of which "vectors" are those of the words, from the tables without
            padding, under the names that they declare. By default these are saved.
        vocabulary: the items that get vectors, if these are not the words of the corpus.
        tags: a pyarrow array of strings, one for each row of the table "documents".
        composes: False if the model composes no vectors although its trainer has a composer.
        loss_is_estimate: whether the loss estimates one over all words.
        labels: the labels of texts with the number of texts of each, for a model that predicts labels.
        record: further JSON values for the record of the model.
    """

    tables: Mapping[str, Table]
    stream: Stream
    kernel: Kernel
    operands: Callable[[Arrays], Any]
    buffers: Callable[[], StepBuffers] = lambda: new_step_buffers(1, 1, PADDING)
    load: Callable[[Any], None] = lambda operands: None
    store: Callable[[Any], None] = lambda operands: None
    word_table: str = "words"
    set_vectors: Callable[[Arrays, np.ndarray, np.ndarray], None] | None = None
    cached_inputs: str | None = None
    cached_outputs: str | None = None
    export: Callable[[Arrays], Arrays] | None = None
    vocabulary: Vocabulary | None = None
    tags: Any = None
    composes: bool = True
    loss_is_estimate: bool = False
    labels: Vocabulary | None = None
    record: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # a run would notice these at its end only
        saved_names = [name for name in map(self.saved_name, self.tables) if name is not None]
        if self.export is None and VECTORS not in saved_names:
            names = ", ".join(self.tables)
            raise DeclarationError(f"none of the tables {names} is saved as {VECTORS!r}, and there is no export")
        if len(set(saved_names)) < len(saved_names):
            raise DeclarationError(f"two tables of the plan are saved under one name: {', '.join(saved_names)}")

    def saved_name(self, name: str) -> str | None:
        """The name of a table in a saved model; None if it is not saved."""
        saved_as = self.tables[name].saved_as
        return name if saved_as == "" else saved_as

    def allocate(self, seed: int) -> Arrays:
        """All tables with their initial values."""
        return DeclaredArrays({name: table.allocate(seed) for name, table in self.tables.items()})

    def saved_arrays(self, arrays: Arrays) -> Arrays:
        """The arrays to save, by name; consumes the tables."""
        names = {name: saved_name for name in self.tables if (saved_name := self.saved_name(name)) is not None}
        saved = DeclaredArrays({names[name]: self.tables[name].unpad(arrays[name]) for name in names})
        if self.export is None:
            return saved
        return DeclaredArrays(self.export(saved))
