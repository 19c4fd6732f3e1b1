"""The contract of a plan as a test; `embeddings.testing.check_trainer` includes it."""

from dataclasses import replace
from typing import Any

import numpy as np

from embeddings.compilation.checked_build import arrays_in
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.models.table import VECTORS
from embeddings.testing.settings_contract import refusal
from embeddings.training.plan import Plan
from embeddings.training.stream import Stream
from embeddings.training.training_data import TrainingData


class WatchedGenerator(np.random.Generator):
    """A random generator that notes whether it is used."""

    is_used = False

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_") and name != "is_used":
            self.is_used = True
        return super().__getattribute__(name)


def check_plan(data: TrainingData, plan: Plan) -> None:
    """Assert that a plan fits the data that it was declared for.

    The table of vectors must have a row for each word. Threads must be able to share the stream, whose order is random
    if the trainer accepts the setting shuffle, and to save their blocks. A compiled kernel must get operands that share
    the memory of the table of words.

    Raises:
        AssertionError: naming the violation.
    """
    vocabulary = data.vocabulary if plan.vocabulary is None else plan.vocabulary
    check_vectors(plan, len(vocabulary), getattr(data.settings, "dim", None))
    check_units(plan.stream, data.shares)
    check_block(plan.stream)
    if refusal(replace, data.settings, shuffle=True) is None:
        check_order(plan.stream)
    check_operands(plan, data.seed)


def check_vectors(plan: Plan, words: int, dim: int | None) -> None:
    """Assert that the table that is saved as the vectors has one row of `dim` numbers for each word."""
    for name, table in plan.tables.items():
        if plan.export is not None or plan.saved_name(name) != VECTORS:
            continue
        vectors = f"the table {name!r}, saved as {VECTORS!r}, must have"
        assert (table.rows, table.slots) == (words, 1), (
            f"{vectors} one row for each of the {words:,} words, got {table.rows:,} rows of {table.slots} slots"
        )
        assert dim in (None, table.dim), f"{vectors} {dim} numbers in a row, as the setting dim says, got {table.dim}"


def check_units(stream: Stream, shares: int) -> None:
    """Assert that the units of a stream can be divided into shares."""
    name, units = type(stream).__name__, stream.units
    assert is_count(units), f"units of {name} must be an int, got {units!r:.80}"
    bounds = list(stream.bounds(shares))
    is_partition = all(map(is_count, bounds)) and bounds == sorted(bounds) and len(bounds) == shares + 1
    is_partition = is_partition and (bounds[0], bounds[-1]) == (0, units)
    assert is_partition, f"bounds of {name} must be {shares + 1} numbers in order from 0 to {units}, got {bounds!r:.80}"


def check_block(stream: Stream) -> None:
    """Assert that a block can be saved, and that a stream counts the units that it reads into a block."""
    name, block = type(stream).__name__, stream.new_block()
    is_saved = is_named_tuple(block) and all(isinstance(field, np.ndarray) for field in block)
    assert is_saved, f"new_block of {name} must return a NamedTuple of arrays, got {block!r:.80}"
    stream.rewind(block, stream.empty_chunk)
    units = stream.fill(block, stream.empty_chunk, np.zeros(2, np.uint64))
    assert is_count(units), f"fill of {name} must return the number of units, got {units!r:.80}"


def check_order(stream: Stream) -> None:
    """Assert that a stream has a random order."""
    order = WatchedGenerator(np.random.PCG64(0))
    is_empty = next(iter(stream.chunks(0, stream.units, order)), None) is None
    assert is_empty or order.is_used, (
        f"{type(stream).__name__} has no random order: use the `order` of chunks, or refuse the setting shuffle"
    )


def check_operands(plan: Plan, seed: int) -> None:
    """Assert that a compiled kernel can update the rows of words."""
    tables = plan.allocate(seed)
    operands, buffers = plan.operands(tables), plan.buffers()
    assert isinstance(buffers, StepBuffers), f"buffers of a plan must return StepBuffers, got {buffers!r:.80}"
    if not hasattr(plan.kernel, "py_func"):
        return
    assert is_named_tuple(operands), f"operands of a compiled kernel must be a NamedTuple, got {operands!r:.80}"
    table = tables.get(plan.word_table)
    assert table is None or any(np.may_share_memory(table, array) for array in arrays_in(operands)), (
        f"the operands do not share the memory of the table {plan.word_table!r}"
    )


def is_count(value: Any) -> bool:
    """Whether a value is an integer >= 0, of Python or numpy."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 0


def is_named_tuple(value: Any) -> bool:
    """Whether a value is a NamedTuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")
