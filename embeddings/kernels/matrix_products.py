"""The innermost loops, emitted: bodies of the instructions of `rows`, for rows named by address."""

from collections.abc import Callable
from functools import partial
from typing import Any

from numba import types

from embeddings.kernels.vector_emitter import INTEGER, WIDE, Emitter, integer

COLUMNS = 8 if WIDE else 4  # targets scored in one pass over two inputs
TARGETS = 16 if WIDE else 6  # targets whose steps are gathered in one pass over the inputs


class Arguments:
    """The arguments of an intrinsic: addresses of the first items of arrays, then int64 numbers."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self.emit = Emitter(builder, signature.args[0].dtype)
        self.values = [
            builder.ptrtoint(context.make_array(kind)(context, builder, value).data, INTEGER)
            if isinstance(kind, types.Array)
            else value
            for kind, value in zip(signature.args, args, strict=True)
        ]


def body(write: Callable[..., None]) -> Callable[..., Any]:
    """The code generator of an intrinsic without result whose body is `write(emitter, *arguments)`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        taken = Arguments(context, builder, signature, args)
        write(taken.emit, *taken.values)
        return context.get_dummy_value()

    return codegen


def item(emit: Emitter, start: Any, index: Any) -> Any:
    """An int64 of the array that begins at `start`."""
    where = emit.builder.add(start, emit.builder.mul(index, integer(8)))
    return emit.builder.load(emit.builder.inttoptr(where, INTEGER.as_pointer()))


def place(emit: Emitter, line: Any, gap: Any, column: Any) -> Any:
    """Where a score lies from the start of its matrix, in bytes."""
    return emit.builder.mul(emit.builder.add(emit.builder.mul(line, gap), column), integer(emit.size))


def write_scores(rows: int, emit: Emitter, scores: Any, inputs: Any, targets: Any, n: Any, *numbers: Any) -> None:
    """Scores of `rows` inputs from i on and n targets from j on, each with an accumulator of its own."""
    cases(partial(write_score_block, rows), COLUMNS, emit, n, scores, inputs, targets, *numbers)


def write_score_block(rows: int, columns: int, emit: Emitter, *args: Any) -> None:
    """The same for a known number of targets."""
    scores, inputs, targets, i, j, gap, width = args
    builder = emit.builder
    x = [item(emit, inputs, builder.add(i, integer(r))) for r in range(rows)]
    o = [item(emit, targets, builder.add(j, integer(c))) for c in range(columns)]
    sums = [[emit.variable() for _ in o] for _ in x]
    with emit.registers(width) as at:
        right = [emit.load(row, at) for row in o]
        for row, line in zip(x, sums, strict=True):
            left = emit.load(row, at)
            for other, total in zip(right, line, strict=True):
                builder.store(emit.fma(left, other, builder.load(total)), total)
    spare = [emit.zero] * (COLUMNS - columns)
    flat = [value for line in sums for value in [builder.load(total) for total in line] + spare]
    run = min(COLUMNS, emit.lanes)
    for first in range(0, len(flat), emit.lanes):
        totals = emit.totals(flat[first : first + emit.lanes])
        for part in range(0, min(emit.lanes, len(flat) - first), run):
            r, c = divmod(first + part, COLUMNS)
            where = place(emit, builder.add(i, integer(r)), gap, builder.add(j, integer(c)))
            emit.store(emit.shuffle(totals, totals, range(part, part + run)), scores, where)


def write_update(emit: Emitter, steps: Any, read: Any, moved: Any, targets: Any, n: Any, *numbers: Any) -> None:
    """Both gradients of n targets from j on: one load of a step serves the two products it is in."""
    cases(write_update_block, TARGETS, emit, n, steps, read, moved, targets, *numbers)


def write_update_block(columns: int, emit: Emitter, *args: Any) -> None:
    """The same for a known number of targets."""
    steps, read, moved, targets, m, j, gap, width = args
    builder = emit.builder
    o = [item(emit, targets, builder.add(j, integer(c))) for c in range(columns)]
    with emit.registers(width) as at:
        before = [emit.load(row, at) for row in o]
        sums = [emit.variable() for _ in o]
        with emit.over(m) as i:
            x, step = emit.load(item(emit, read, i), at), emit.zero
            for c, (row, total) in enumerate(zip(before, sums, strict=True)):
                g = emit.spread(steps, place(emit, i, gap, builder.add(j, integer(c))))
                step = emit.fma(g, row, step)
                builder.store(emit.fma(g, x, builder.load(total)), total)
            goal = item(emit, moved, i)
            emit.store(builder.fadd(emit.load(goal, at), step), goal, at)
        for row, total in zip(o, sums, strict=True):
            emit.store(builder.fadd(emit.load(row, at), builder.load(total)), row, at)


def write_total(emit: Emitter, factor: Any, goal: Any, rows: Any, m: Any, width: Any) -> None:
    """Add up rows: y += f (x_1 + ... + x_m), with f the first number of `factor`."""
    scale = emit.spread(factor, integer(0))
    with emit.registers(width) as at:
        total = emit.variable()
        with emit.over(m) as i:
            emit.builder.store(emit.builder.fadd(emit.builder.load(total), emit.load(item(emit, rows, i), at)), total)
        emit.store(emit.fma(scale, emit.builder.load(total), emit.load(goal, at)), goal, at)


def write_share(emit: Emitter, factor: Any, source: Any, rows: Any, m: Any, width: Any) -> None:
    """Give to each of m rows: x_i += f y, with f the first number of `factor`."""
    scale = emit.spread(factor, integer(0))
    with emit.registers(width) as at:
        step = emit.builder.fmul(scale, emit.load(source, at))
        with emit.over(m) as i:
            row = item(emit, rows, i)
            emit.store(emit.builder.fadd(emit.load(row, at), step), row, at)


def write_weigh(emit: Emitter, factor: Any, goal: Any, left: Any, right: Any, width: Any) -> None:
    """Add a product number by number: y += f (a * b), with f the first number of `factor`."""
    scale = emit.spread(factor, integer(0))
    with emit.registers(width) as at:
        product = emit.builder.fmul(emit.load(left, at), emit.load(right, at))
        emit.store(emit.fma(scale, product, emit.load(goal, at)), goal, at)


def write_copy(emit: Emitter, like: Any, goal: Any, source: Any, width: Any) -> None:
    """Copy a row: y = x, with the numbers of `like`'s type."""
    with emit.registers(width) as at:
        emit.store(emit.load(source, at), goal, at)


def cases(write: Callable[..., None], most: int, emit: Emitter, count: Any, *args: Any) -> None:
    """The body that `write` emits for each `count` from 1 to `most`, chosen at run time."""
    builder = emit.builder
    after = builder.append_basic_block("after")
    switch = builder.switch(count, after)
    for number in range(1, most + 1):
        block = builder.append_basic_block(f"case{number}")
        switch.add_case(integer(number), block)
        builder.position_at_end(block)
        write(number, emit, *args)
        builder.branch(after)
    builder.position_at_end(after)
