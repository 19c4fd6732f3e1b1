"""Plans: what a trainer learns, declared once; training, checkpoints, resuming and saving follow from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from embeddings.compilation.checked_build import arrays_in
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, DeclarationError
from embeddings.kernels.row_operations import PADDING
from embeddings.kernels.step_buffers import StepBuffers, new_step_buffers
from embeddings.models.table import VECTORS, Arrays, Table
from embeddings.training.stream import Stream

MAX_READS_WITHOUT_UNITS = 1000  # in a row: a block may hold words of earlier units, but not for ever


class WatchedGenerator(np.random.Generator):
    """A random generator that notes whether it is used."""

    is_used = False

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_") and name != "is_used":
            self.is_used = True
        return super().__getattribute__(name)


def check_stream(stream: Stream, threads: int, *, is_shuffled: bool) -> None:
    """Refuse a stream whose units cannot be shared by threads, or shuffled if the settings say so.

    Raises:
        DeclarationError: the stream is wrong.
        CorpusError: it has no units.
    """
    name, units = type(stream).__name__, stream.units
    if not is_count(units):
        raise DeclarationError(f"units of {name} must be an int, got {units!r:.80}")
    if units < 1:
        raise CorpusError(f"the corpus has no {stream.unit} to learn from")
    bounds = list(stream.bounds(threads))
    is_sorted = all(map(is_count, bounds)) and bounds == sorted(bounds)
    if not is_sorted or len(bounds) != threads + 1 or (bounds[0], bounds[-1]) != (0, units):
        raise DeclarationError(
            f"bounds of {name} must be {threads + 1} numbers in order from 0 to {units}, got {bounds!r:.80}"
        )
    order = WatchedGenerator(np.random.PCG64(0))
    if is_shuffled and next(iter(stream.chunks(0, units, order)), None) is not None and not order.is_used:
        raise DeclarationError(f"{name} has no random order: use the `order` of chunks, or refuse the setting shuffle")


def check_block(stream: Stream, block: Any) -> None:
    """Refuse a block whose state cannot be saved."""
    if not is_named_tuple(block) or not all(isinstance(field, np.ndarray) for field in block):
        raise DeclarationError(
            f"new_block of {type(stream).__name__} must return a NamedTuple of arrays, got {block!r:.80}"
        )


def checked_units(stream: Stream, units: Any) -> int:
    """The number of units that a stream has read into a block."""
    if not is_count(units):
        raise DeclarationError(f"fill of {type(stream).__name__} must return the number of units, got {units!r:.80}")
    return int(units)


def is_count(value: Any) -> bool:
    """Whether a value is an integer >= 0, of Python or numpy."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 0


def is_named_tuple(value: Any) -> bool:
    """Whether a value is a NamedTuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


Kernel = Callable[[Any, Any, StepBuffers, float], None]  # block, operands, buffers, learning rate
NAME_OF_WORDS = "words"


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
        cached_inputs, cached_outputs: tables of whose most frequent rows each of several threads keeps copies.
        export: the arrays to save by name, from those of all tables, which it may consume; "vectors" are those of the
            words. By default all tables without padding, under the names that they declare.
        vocabulary: the items that get vectors, if these are not the words of the corpus.
        tags: a pyarrow array of strings, one for each row of the table "documents".
        composes: whether the model composes vectors, if its trainer has a composer.
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
    word_table: str = NAME_OF_WORDS
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
        if not isinstance(self.tables, Mapping) or not all(isinstance(table, Table) for table in self.tables.values()):
            raise DeclarationError(f"the tables of a plan must be a dict of Table by name, got {self.tables!r:.80}")
        for function in ("kernel", "operands", "buffers", "load", "store"):
            value = getattr(self, function)
            if not callable(value):
                raise DeclarationError(f"the {function} of a plan must be a function, got {value!r:.80}")
        for name in (self.cached_inputs, self.cached_outputs):
            if name is not None and name not in self.tables:
                raise DeclarationError(f"the plan caches rows of the table {name!r}, but declares only {self.names}")
        if self.export is None:
            self.check_saved_names()
        if not isinstance(self.stream, Stream):
            raise DeclarationError(f"the stream of a plan must be a Stream, got {self.stream!r:.80}")

    def check_saved_names(self) -> None:
        """Refuse tables of which none is saved as the vectors, or of which two have the same name in a model."""
        saved_names = [name for name in map(self.saved_name, self.tables) if name is not None]
        for name in saved_names:
            if saved_names.count(name) > 1:
                raise DeclarationError(f"two of the tables {self.names} are saved as {name!r}")
        if VECTORS not in saved_names:
            raise DeclarationError(f"none of the tables {self.names} is saved as {VECTORS!r}, and there is no export")

    def check_vectors(self, vocabulary: Vocabulary, dim: int | None) -> None:
        """Refuse a table of vectors that does not have one row of `dim` numbers for each word."""
        for name, table in self.tables.items():
            if self.export is not None or self.saved_name(name) != VECTORS:
                continue
            vectors = f"the table {name!r}, saved as {VECTORS!r}, must have"
            if (table.rows, table.slots) != (len(vocabulary), 1):
                raise DeclarationError(
                    f"{vectors} one row for each of the {len(vocabulary):,} words, got {table.rows:,} rows of "
                    f"{table.slots} slots"
                )
            if dim not in (None, table.dim):
                raise DeclarationError(f"{vectors} {dim} numbers in a row, as the setting dim says, got {table.dim}")

    def check_operands(self, operands: Any, buffers: Any, tables: Arrays) -> None:
        """Refuse operands by which a compiled kernel cannot update the rows of words, and other buffers."""
        if not isinstance(buffers, StepBuffers):
            raise DeclarationError(f"buffers of a plan must return StepBuffers, got {buffers!r:.80}")
        table = tables.get(self.word_table)
        if hasattr(self.kernel, "py_func"):
            if not is_named_tuple(operands):
                raise DeclarationError(f"operands of a compiled kernel must be a NamedTuple, got {operands!r:.80}")
            if table is not None and not any(np.may_share_memory(table, array) for array in arrays_in(operands)):
                raise DeclarationError(f"the operands do not share the memory of the table {self.word_table!r}")

    @property
    def names(self) -> str:
        """The names of the tables, for messages."""
        return ", ".join(self.tables)

    def saved_name(self, name: str) -> str | None:
        """The name of a table in a saved model; None if it is not saved."""
        saved_as = self.tables[name].saved_as
        return name if saved_as == "" else saved_as

    def allocate(self, seed: int) -> Arrays:
        """All tables with their initial values."""
        return DeclaredArrays({name: table.allocate(seed) for name, table in self.tables.items()})

    def saved_arrays(self, arrays: Arrays) -> Arrays:
        """The arrays to save, by name; consumes the tables."""
        if self.export is not None:
            exported = self.export(DeclaredArrays(arrays))
            if not isinstance(exported, dict) or VECTORS not in exported:
                names = ", ".join(exported) if isinstance(exported, dict) else repr(exported)
                raise DeclarationError(f"the export of a plan must return a dict with {VECTORS!r}, got {names:.80}")
            return exported
        saved = {self.saved_name(name): table.unpad(arrays[name]) for name, table in self.tables.items()}
        return {name: array for name, array in saved.items() if name is not None}
