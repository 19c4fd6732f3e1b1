"""Linear algebra on rows given by address: scores, their gradients, and sums of rows.

    score         S  = X O'
    update        O += G' X  and  X += G O, with O from before the step
    sum_rows      y += f (x_1 + ... + x_m)
    scatter_add   x_i += f y, for each i
    hadamard_add  y += f (a * b), elementwise

A row has `width` numbers, a multiple of `PADDING`, with zeros beyond the dimension, so no loop has a remainder. Its
address is an int64 from `address`; the caller keeps the array alive. Score matrices are (inputs, targets) with
`row_stride(targets)` numbers from row to row.

Rows may repeat: a row is read again just before it is written, so each of its steps counts. Targets are updated
at most `UPDATE_TILE` at a time; if a target is in two tiles, the second tile sees the update of the first.
"""

from collections.abc import Callable, Sequence
from functools import partial, reduce, wraps
from inspect import signature
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from embeddings.compilation.checked_build import IS_CHECKED, CheckedEmitter, require
from embeddings.compilation.jit import inline, intrinsic
from embeddings.compilation.vector_emitter import HAS_AVX512, INT64, VECTOR_BYTES, Emitter, int64
from embeddings.kernels.integers import smaller

SCORE_TILE = 8 if HAS_AVX512 else 4  # targets scored in one pass over two inputs
UPDATE_TILE = (
    14 if HAS_AVX512 else 6
)  # targets updated in one pass over the inputs: they and their sums fit in registers
PAIR_TILE = 6 if HAS_AVX512 else 2  # targets of which two vectors, with their sums, fit in registers
SINGLE_TILE = 8 if HAS_AVX512 else 4  # targets updated in one pass over a single input
ROW_BLOCKS = (8, 4, 2, 1) if HAS_AVX512 else (4, 2, 1)  # vectors of a row that are summed or updated at a time
PARTIAL_SUMS = 4  # of a sum whose terms would otherwise wait for each other


def codegen_of(write: Callable[..., None]) -> Callable[..., Any]:
    """The code generator of a void intrinsic whose body is `write(emitter, *arguments)`.

    Arrays are passed as the address of their first item; the first array's type is that of the rows.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values, sizes = list(args), {}
        for i, kind in enumerate(signature.args):
            if isinstance(kind, types.Array):
                array = context.make_array(kind)(context, builder, args[i])
                values[i] = builder.ptrtoint(array.data, INT64)
                if IS_CHECKED:
                    sizes[id(values[i])] = builder.mul(array.nitems, array.itemsize)
        dtype = signature.args[0].dtype
        write(CheckedEmitter(context, builder, dtype, sizes) if IS_CHECKED else Emitter(builder, dtype), *values)
        return context.get_dummy_value()

    return codegen


def emitted(write: Callable[..., None], *constants: int) -> Any:
    """Define a function of kernels that returns nothing, whose body is `write(*constants, emitter, *arguments)`.

    Integers become int64 and floats float64; see `codegen_of` for arrays.
    """
    body = partial(write, *constants)

    @wraps(write)
    def define(typingctx: Any, *kinds: Any) -> Any:
        converted = [
            types.int64 if isinstance(one, types.Integer) else types.float64 if isinstance(one, types.Float) else one
            for one in kinds
        ]
        return types.void(*converted), codegen_of(body)

    define.__signature__ = signature(body)  # type: ignore[attr-defined]  # numba counts its arguments
    return intrinsic(define)


def load_int64(emit: Emitter, start: Any, index: Any) -> Any:
    """Item `index` of the int64 array at `start`."""
    return emit.builder.load(emit.pointer(start, emit.builder.mul(index, int64(8)), INT64))


def score_offset(emit: Emitter, row: Any, stride: Any, column: Any) -> Any:
    """The offset of an item of the score matrix, in bytes."""
    return emit.builder.mul(emit.builder.add(emit.builder.mul(row, stride), column), int64(emit.size))


def write_scores(
    rows: int, emit: Emitter, scores: Any, inputs: Any, targets: Any, n: Any, i: Any, j: Any, stride: Any, width: Any
) -> None:
    """Scores of `rows` inputs from i on and n targets from j on, each with its own accumulator."""
    switch_on_count(partial(write_score_block, rows), SCORE_TILE, emit, n, scores, inputs, targets, i, j, stride, width)


def write_score_block(rows: int, columns: int, emit: Emitter, *args: Any) -> None:
    """`write_scores` for a constant number of targets."""
    scores, inputs, targets, i, j, stride, width = args
    builder = emit.builder
    x = [load_int64(emit, inputs, builder.add(i, int64(r))) for r in range(rows)]
    o = [load_int64(emit, targets, builder.add(j, int64(c))) for c in range(columns)]
    sums = [[emit.variable() for _ in o] for _ in x]
    with emit.for_each_vector(width) as at:
        # Targets are loaded once for all inputs of the tile.
        right = [emit.load(row, at) for row in o]
        for row, accumulators in zip(x, sums, strict=True):
            left = emit.load(row, at)
            for other, accumulator in zip(right, accumulators, strict=True):
                builder.store(emit.fma(left, other, builder.load(accumulator)), accumulator)
    # Scores are written SCORE_TILE at a time; padding keeps each run of them aligned with its row of the score matrix.
    padding = [emit.zero] * (SCORE_TILE - columns)
    flat = [value for accumulators in sums for value in [builder.load(one) for one in accumulators] + padding]
    run = min(SCORE_TILE, emit.lanes)
    for first in range(0, len(flat), emit.lanes):
        totals = emit.reduce_transpose(flat[first : first + emit.lanes])
        for part in range(0, min(emit.lanes, len(flat) - first), run):
            r, c = divmod(first + part, SCORE_TILE)
            offset = score_offset(emit, builder.add(i, int64(r)), stride, builder.add(j, int64(c)))
            emit.store(emit.shuffle(totals, totals, range(part, part + run)), scores, offset)


@emitted
def _update(
    emit: Emitter, steps: Any, inputs: Any, gradients: Any, targets: Any, n: Any, m: Any, j: Any, stride: Any,
    width: Any,
) -> None:  # fmt: skip
    """Both gradients for n targets from j on: each step is loaded once for the two products it is in."""
    switch_on_count(write_update_block, UPDATE_TILE, emit, n, steps, inputs, gradients, targets, m, j, stride, width)


def write_update_block(columns: int, emit: Emitter, *args: Any) -> None:
    """`_update` for a constant number of targets, two vectors at a time if all sums stay in registers."""
    write_in_blocks(partial(write_update_vectors, columns), (2, 1) if columns <= PAIR_TILE else (1,), emit, *args)


def write_in_blocks(write: Callable[..., None], sizes: Sequence[int], emit: Emitter, *args: Any) -> None:
    """Emit `write(emitter, places, *arguments)` for all vectors of a row, in blocks of falling sizes.

    The last argument, which `write` does not get, is the number of items of a row.
    """
    *others, width = args
    builder, done = emit.builder, int64(0)
    size = builder.mul(width, int64(emit.size))
    for vectors in sizes:
        # The whole multiples of this block size; what is left goes to the next smaller one, and nothing is left after
        # blocks of 1.
        start, done = done, builder.and_(size, int64(-vectors * VECTOR_BYTES))
        with emit.for_range(builder.sub(done, start), vectors * VECTOR_BYTES) as offset:
            first = builder.add(start, offset)
            write(emit, [builder.add(first, int64(n * VECTOR_BYTES)) for n in range(vectors)], *others)


def write_update_vectors(columns: int, emit: Emitter, places: Sequence[Any], *args: Any) -> None:
    """`write_update_block` for the vectors at some places of the rows."""
    steps, inputs, gradients, targets, m, j, stride = args
    builder, pairs = emit.builder, [(c, n) for c in range(columns) for n in range(len(places))]
    o = [load_int64(emit, targets, builder.add(j, int64(c))) for c in range(columns)]
    # O from before the step stays in registers through the loop over all inputs.
    before = {(c, n): emit.load(o[c], places[n]) for c, n in pairs}
    sums = {pair: emit.variable() for pair in pairs}
    with emit.for_range(m) as i:
        source, gradient = load_int64(emit, inputs, i), load_int64(emit, gradients, i)
        x, row_steps = [emit.load(source, at) for at in places], [emit.zero for _ in places]
        g = [emit.broadcast(steps, score_offset(emit, i, stride, builder.add(j, int64(c)))) for c in range(columns)]
        for c, n in pairs:
            # g is broadcast once for two products: G O for the input, G' X for the target.
            row_steps[n] = emit.fma(g[c], before[c, n], row_steps[n])
            builder.store(emit.fma(g[c], x[n], builder.load(sums[c, n])), sums[c, n])
        for at, step in zip(places, row_steps, strict=True):
            # The gradient row may be the input row itself, which has just been read for the last time.
            emit.store(builder.fadd(emit.load(gradient, at), step), gradient, at)
    for c, n in pairs:
        emit.store(builder.fadd(emit.load(o[c], places[n]), builder.load(sums[c, n])), o[c], places[n])


@emitted
def _update_single(
    emit: Emitter, steps: Any, inputs: Any, gradients: Any, targets: Any, n: Any, j: Any, width: Any
) -> None:
    """`_update` for a single input, whose steps stay in registers."""
    switch_on_count(write_single_update_block, SINGLE_TILE, emit, n, steps, inputs, gradients, targets, j, width)


def write_single_update_block(columns: int, emit: Emitter, *args: Any) -> None:
    """`_update_single` for a constant number of targets."""
    steps, inputs, gradients, targets, j, width = args
    builder = emit.builder
    at_column = [builder.add(j, int64(c)) for c in range(columns)]
    o = [load_int64(emit, targets, column) for column in at_column]
    g = [emit.broadcast(steps, builder.mul(column, int64(emit.size))) for column in at_column]
    source, gradient = load_int64(emit, inputs, int64(0)), load_int64(emit, gradients, int64(0))
    with emit.for_each_vector(width) as at:
        x, before, parts = emit.load(source, at), [emit.load(row, at) for row in o], [emit.zero] * PARTIAL_SUMS
        for c, (row, factor) in enumerate(zip(before, g, strict=True)):
            parts[c % PARTIAL_SUMS] = emit.fma(factor, row, parts[c % PARTIAL_SUMS])
        # The input's gradient is complete before the targets are stored.
        step = reduce(builder.fadd, parts)
        for row, factor in zip(o, g, strict=True):
            emit.store(emit.fma(factor, x, emit.load(row, at)), row, at)
        emit.store(builder.fadd(emit.load(gradient, at), step), gradient, at)


@emitted
def sum_rows(emit: Emitter, factor: Any, output: Any, rows: Any, m: Any, width: Any) -> None:
    """Add up rows: y += f (x_1 + ... + x_m), where f is `factor[0]`."""
    scale = emit.broadcast(factor, int64(0))
    write_in_blocks(write_sum_vectors, ROW_BLOCKS, emit, scale, output, rows, m, width)


def write_sum_vectors(emit: Emitter, places: Sequence[Any], scale: Any, output: Any, rows: Any, m: Any) -> None:
    """`sum_rows` for the vectors at some places."""
    builder, totals = emit.builder, [emit.variable() for _ in places]
    with emit.for_range(m) as i:
        row = load_int64(emit, rows, i)
        for at, total in zip(places, totals, strict=True):
            builder.store(builder.fadd(builder.load(total), emit.load(row, at)), total)
    for at, total in zip(places, totals, strict=True):
        emit.store(emit.fma(scale, builder.load(total), emit.load(output, at)), output, at)


@emitted
def scatter_add(emit: Emitter, factor: Any, source: Any, rows: Any, m: Any, width: Any) -> None:
    """Add a row to each of m rows: x_i += f y, where f is `factor[0]`."""
    scale = emit.broadcast(factor, int64(0))
    write_in_blocks(write_scatter_vectors, ROW_BLOCKS, emit, scale, source, rows, m, width)


def write_scatter_vectors(emit: Emitter, places: Sequence[Any], scale: Any, source: Any, rows: Any, m: Any) -> None:
    """`scatter_add` for the vectors at some places."""
    # The product f y is computed once, outside the loop over rows.
    steps = [emit.builder.fmul(scale, emit.load(source, at)) for at in places]
    with emit.for_range(m) as i:
        row = load_int64(emit, rows, i)
        for at, step in zip(places, steps, strict=True):
            emit.store(emit.builder.fadd(emit.load(row, at), step), row, at)


@emitted
def hadamard_add(emit: Emitter, factor: Any, output: Any, left: Any, right: Any, width: Any) -> None:
    """Add an elementwise product: y += f (a * b), where f is `factor[0]`."""
    scale = emit.broadcast(factor, int64(0))
    with emit.for_each_vector(width) as at:
        product = emit.builder.fmul(emit.load(left, at), emit.load(right, at))
        emit.store(emit.fma(scale, product, emit.load(output, at)), output, at)


@emitted
def add_table_rows(
    emit: Emitter, table: Any, total: Any, rows: Any, start: Any, stop: Any, stride: Any, width: Any
) -> None:
    """Add the rows `rows[start:stop]` of a table to `total`: any `width`, and `stride` bytes from row to row."""
    write_add_table_rows(emit, table, total, rows, start, stop, stride, width, None)


@emitted
def add_weighted_table_rows(
    emit: Emitter, table: Any, total: Any, rows: Any, start: Any, stop: Any, stride: Any, width: Any, weights: Any
) -> None:
    """`add_table_rows`, where each row counts by its item of `weights`, of the table's type."""
    write_add_table_rows(emit, table, total, rows, start, stop, stride, width, weights)


def write_add_table_rows(
    emit: Emitter, table: Any, total: Any, rows: Any, start: Any, stop: Any, stride: Any, width: Any, weights: Any
) -> None:
    """Add rows without padding: columns in blocks of 4 vectors, then of one, then of half a vector, and so on."""
    builder = emit.builder
    column, end = int64(0), builder.mul(width, int64(emit.size))
    # Rows of saved tables have no padding, so a remainder is read with ever narrower vectors, down to one number.
    halves = [(emit.lanes >> n, 1) for n in range(emit.lanes.bit_length())]
    for lanes, vectors in [(emit.lanes, 4), *halves]:
        kind, step = emit.vector_of(lanes), lanes * emit.size
        blocks = builder.sdiv(builder.sub(end, column), int64(vectors * step))
        with emit.for_range(blocks) as block:
            first = builder.add(column, builder.mul(block, int64(vectors * step)))
            offsets = [builder.add(first, int64(n * step)) for n in range(vectors)]
            write_add_columns(emit, table, rows, (start, stop), stride, weights, total, offsets, kind)
        column = builder.add(column, builder.mul(blocks, int64(vectors * step)))


def write_add_columns(
    emit: Emitter, table: Any, rows: Any, part: tuple[Any, Any], stride: Any, weights: Any, total: Any,
    offsets: Sequence[Any], kind: Any,
) -> None:  # fmt: skip
    """`write_add_table_rows` for the vectors at some offsets; if they are few, with several partial sums of each."""
    builder, parts, (start, stop) = emit.builder, PARTIAL_SUMS // len(offsets), part
    sums = [[emit.variable(kind) for _ in offsets] for _ in range(parts)]

    def add(i: Any, values: Sequence[Any]) -> None:
        number = load_int64(emit, rows, i)
        row, weight = builder.mul(number, stride), None
        if weights is not None:
            weight = emit.broadcast(weights, builder.mul(number, int64(emit.size)), kind.count)
        for offset, value in zip(offsets, values, strict=True):
            numbers = emit.load(table, builder.add(row, offset), kind)
            if weight is not None:
                numbers = builder.fmul(weight, numbers, flags=("contract",))
            builder.store(builder.fadd(builder.load(value), numbers, flags=("contract",)), value)

    blocks = builder.sdiv(builder.sub(stop, start), int64(parts))
    with emit.for_range(blocks) as block:
        for n, values in enumerate(sums):
            add(builder.add(start, builder.add(builder.mul(block, int64(parts)), int64(n))), values)
    done = builder.add(start, builder.mul(blocks, int64(parts)))
    if parts > 1:
        with emit.for_range(builder.sub(stop, done)) as i:
            add(builder.add(done, i), sums[0])
    for n, offset in enumerate(offsets):
        value = reduce(builder.fadd, [builder.load(values[n]) for values in sums])
        emit.store(builder.fadd(emit.load(total, offset, kind), value), total, offset)


@emitted
def copy_row(emit: Emitter, like: Any, output: Any, source: Any, width: Any) -> None:
    """Copy a row: y = x, with numbers of the array `like`'s type."""
    with emit.for_each_vector(width) as at:
        emit.store(emit.load(source, at), output, at)


def switch_on_count(write: Callable[..., None], limit: int, emit: Emitter, count: Any, *args: Any) -> None:
    """Emit a switch on `count`, with the code that `write` emits for each constant from 1 to `limit`."""
    builder = emit.builder
    after = builder.append_basic_block("after")
    switch = builder.switch(count, after)
    # A loop over a count known only at run time would keep its accumulators in memory; code for each count keeps them
    # in registers.
    for number in range(1, limit + 1):
        block = builder.append_basic_block(f"case{number}")
        switch.add_case(int64(number), block)
        builder.position_at_end(block)
        write(number, emit, *args)
        builder.branch(after)
    builder.position_at_end(after)


PADDING = 16  # numbers: a cache line of float32
CACHE_LINE = 64  # bytes


def padded(dim: int) -> int:
    """The width of a row that holds `dim` numbers."""
    return -(-dim // PADDING) * PADDING


@inline
def row_stride(targets: int) -> int:
    """Numbers from one row of a score matrix to the next."""
    return (targets + SCORE_TILE - 1) // SCORE_TILE * SCORE_TILE


@intrinsic
def address(typingctx: Any, table: Any, row: Any) -> Any:
    """The address of a row of a two-dimensional array, or of an item of a one-dimensional one."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        ndim = signature.args[0].ndim
        stride = cgutils.unpack_tuple(builder, array.strides, ndim)[0]
        if IS_CHECKED:
            rows = cgutils.unpack_tuple(builder, array.shape, ndim)[0]
            require(context, builder, builder.icmp_unsigned("<", args[1], rows), "a row is outside its table")
        return builder.add(builder.ptrtoint(array.data, INT64), builder.mul(args[1], stride))

    return types.int64(table, types.int64), codegen


def prefetch_codegen(write: int, locality: int) -> Any:
    """The code generator of a prefetch, for writing or not; locality 3 is the first-level cache."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        hints = [ir.Constant(flag, value) for value in (write, locality, 1)]
        with cgutils.for_range_slice(builder, int64(0), args[1], int64(CACHE_LINE), intp=INT64) as (at, _):
            builder.call(function, [builder.inttoptr(builder.add(args[0], at), byte), *hints])
        return context.get_dummy_value()

    return codegen


@intrinsic
def prefetch(typingctx: Any, row: Any, size: Any) -> Any:
    """Prefetch the first `size` bytes of a row."""
    # For writing: the row is updated, and a second request for ownership of the line would cost as much as the first.
    return types.void(types.int64, types.int64), prefetch_codegen(1, 3)


@intrinsic
def prefetch_l2(typingctx: Any, row: Any, size: Any) -> Any:
    """Prefetch into the second-level cache: for rows so long that they would evict data in use from the first."""
    return types.void(types.int64, types.int64), prefetch_codegen(0, 2)


_score_pair, _score_one = emitted(write_scores, 2), emitted(write_scores, 1)


@inline
def score(scores: np.ndarray, inputs: np.ndarray, m: int, targets: np.ndarray, n: int, width: int) -> None:
    """S = X O' for m inputs and n targets."""
    stride = row_stride(n)
    # Two inputs at a time: each target that is loaded is used twice, and the accumulators still fit in registers.
    for j in range(0, n, SCORE_TILE):
        columns = smaller(SCORE_TILE, n - j)
        for i in range(0, m - 1, 2):
            _score_pair(scores, inputs, targets, columns, i, j, stride, width)
        if m % 2 == 1:
            _score_one(scores, inputs, targets, columns, m - 1, j, stride, width)


@inline
def update(
    steps: np.ndarray, inputs: np.ndarray, gradients: np.ndarray, m: int, targets: np.ndarray, n: int, width: int
) -> None:
    """O += G' X and X += G O."""
    if m == 1:
        for j in range(0, n, SINGLE_TILE):
            _update_single(steps, inputs, gradients, targets, smaller(SINGLE_TILE, n - j), j, width)
        return
    stride, passes = row_stride(n), (n + UPDATE_TILE - 1) // UPDATE_TILE
    # Tiles of equal size rather than full ones and a small rest.
    tile = (n + passes - 1) // passes
    for j in range(0, n, tile):
        _update(steps, inputs, gradients, targets, smaller(tile, n - j), m, j, stride, width)
