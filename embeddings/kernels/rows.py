"""The arithmetic of a bundle on rows named by address: scores, the two gradients, sums and their way back.

    score    S  = X O'
    update   O += G' X  and  X += G O, with the O of before
    total    y += f (x_1 + ... + x_m)
    share    x_i += f y, for each i

A row is `width` numbers, `width` a multiple of `PADDING`, zero beyond the dimension, so that rows of tables and
of scratch arrays are alike and no loop has a remainder. Its address is an int64 from `address`; whoever takes
one keeps the array alive. Matrices of scores are (inputs, targets), `pitch(targets)` numbers from row to row.
Rows may repeat: a row is read again just before it is written, so each of its steps counts.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from embeddings.kernels.compile import piece
from embeddings.kernels.vector import INTEGER, WIDE, Emitter, integer

PADDING = 16  # numbers: a cache line of float32
COLUMNS = 8 if WIDE else 4  # targets scored in one pass over two inputs
TARGETS = 16 if WIDE else 6  # targets whose steps are gathered in one pass over the inputs
LINE = 64  # bytes of a cache line


def padded(dim: int) -> int:
    """The width of a row that holds `dim` numbers."""
    return -(-dim // PADDING) * PADDING


@piece
def pitch(targets):
    """Numbers from one row of a score matrix to the next."""
    return (targets + COLUMNS - 1) // COLUMNS * COLUMNS


@intrinsic
def address(typingctx: Any, table: Any, row: Any) -> Any:
    """The address of a row of a two-dimensional array."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        step = cgutils.unpack_tuple(builder, array.strides, 2)[0]
        return builder.add(builder.ptrtoint(array.data, INTEGER), builder.mul(args[1], step))

    return types.int64(table, types.int64), codegen


@intrinsic
def prefetch(typingctx: Any, row: Any, size: Any) -> Any:
    """Ask for the first `size` bytes of a row that is about to be used; reads nothing."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        write, near, data = ir.Constant(flag, 1), ir.Constant(flag, 3), ir.Constant(flag, 1)
        with cgutils.for_range_slice(builder, integer(0), args[1], integer(LINE), intp=INTEGER) as (at, _):
            builder.call(function, [builder.inttoptr(builder.add(args[0], at), byte), write, near, data])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


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
    """y += f (x_1 + ... + x_m), with f the first number of `factor`."""
    scale = emit.spread(factor, integer(0))
    with emit.registers(width) as at:
        total = emit.variable()
        with emit.over(m) as i:
            emit.builder.store(emit.builder.fadd(emit.builder.load(total), emit.load(item(emit, rows, i), at)), total)
        emit.store(emit.fma(scale, emit.builder.load(total), emit.load(goal, at)), goal, at)


def write_share(emit: Emitter, factor: Any, source: Any, rows: Any, m: Any, width: Any) -> None:
    """x_i += f y for each of m rows, with f the first number of `factor`."""
    scale = emit.spread(factor, integer(0))
    with emit.registers(width) as at:
        step = emit.builder.fmul(scale, emit.load(source, at))
        with emit.over(m) as i:
            row = item(emit, rows, i)
            emit.store(emit.builder.fadd(emit.load(row, at), step), row, at)


def write_copy(emit: Emitter, like: Any, goal: Any, source: Any, width: Any) -> None:
    """y = x, with the numbers of `like`'s type."""
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


@intrinsic
def _score_pair(typingctx: Any, scores: Any, inputs: Any, targets: Any, n: Any, i: Any, j: Any, gap: Any, width: Any) -> Any:
    return types.void(scores, inputs, targets, *[types.int64] * 5), body(partial(write_scores, 2))


@intrinsic
def _score_one(typingctx: Any, scores: Any, inputs: Any, targets: Any, n: Any, i: Any, j: Any, gap: Any, width: Any) -> Any:
    return types.void(scores, inputs, targets, *[types.int64] * 5), body(partial(write_scores, 1))


@intrinsic
def _update(typingctx: Any, steps: Any, read: Any, moved: Any, targets: Any, n: Any, m: Any, j: Any, gap: Any, width: Any) -> Any:
    return types.void(steps, read, moved, targets, *[types.int64] * 5), body(write_update)


@intrinsic
def total(typingctx: Any, factor: Any, goal: Any, rows: Any, m: Any, width: Any) -> Any:
    """y += f (x_1 + ... + x_m)."""
    return types.void(factor, types.int64, rows, types.int64, types.int64), body(write_total)


@intrinsic
def share(typingctx: Any, factor: Any, source: Any, rows: Any, m: Any, width: Any) -> Any:
    """x_i += f y."""
    return types.void(factor, types.int64, rows, types.int64, types.int64), body(write_share)


@intrinsic
def copy(typingctx: Any, like: Any, goal: Any, source: Any, width: Any) -> Any:
    """y = x, rows of numbers of the type of the array `like`."""
    return types.void(like, *[types.int64] * 3), body(write_copy)


@piece
def score(scores, inputs, m, targets, n, width):
    """S = X O' for m inputs and n targets."""
    gap = pitch(n)
    for j in range(0, n, COLUMNS):
        columns = min(COLUMNS, n - j)
        for i in range(0, m - 1, 2):
            _score_pair(scores, inputs, targets, columns, i, j, gap, width)
        if m % 2 == 1:
            _score_one(scores, inputs, targets, columns, m - 1, j, gap, width)


@piece
def update(steps, read, moved, m, targets, n, width):
    """O += G' X and X += G O."""
    gap = pitch(n)
    for j in range(0, n, TARGETS):
        _update(steps, read, moved, targets, min(TARGETS, n - j), m, j, gap, width)
