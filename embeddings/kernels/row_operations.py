"""The arithmetic of a bundle on rows named by address: scores, the two gradients, sums and their way back.

    score    S  = X O'
    update   O += G' X  and  X += G O, with the O of before
    total    y += f (x_1 + ... + x_m)
    share    x_i += f y, for each i
    weigh    y += f (a * b), number by number

A row is `width` numbers, `width` a multiple of `PADDING`, zero beyond the dimension, so that rows of tables and
of scratch arrays are alike and no loop has a remainder. Its address is an int64 from `address`; whoever takes
one keeps the array alive. Matrices of scores are (inputs, targets), `pitch(targets)` numbers from row to row.
Rows may repeat: a row is read again just before it is written, so each of its steps counts.
Targets are updated `TARGETS` at a time, so one that stands in two such passes is read by the second as the first
left it.
"""

from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from embeddings.kernels.jit import instruction, piece
from embeddings.kernels.matrix_products import (
    COLUMNS,
    TARGETS,
    body,
    write_copy,
    write_scores,
    write_share,
    write_total,
    write_update,
    write_weigh,
)
from embeddings.kernels.vector_emitter import INTEGER, integer

PADDING = 16  # numbers: a cache line of float32
LINE = 64  # bytes of a cache line


def padded(dim: int) -> int:
    """The width of a row that holds `dim` numbers."""
    return -(-dim // PADDING) * PADDING


@piece
def pitch(targets: int) -> int:
    """Numbers from one row of a score matrix to the next."""
    return (targets + COLUMNS - 1) // COLUMNS * COLUMNS


@instruction
def address(typingctx: Any, table: Any, row: Any) -> Any:
    """The address of a row of a two-dimensional array."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        step = cgutils.unpack_tuple(builder, array.strides, 2)[0]
        return builder.add(builder.ptrtoint(array.data, INTEGER), builder.mul(args[1], step))

    return types.int64(table, types.int64), codegen


def asking(write: int, near: int) -> Any:
    """The code generator of an instruction that asks for a row: to be written or not, into which cache (3: first)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        how = [ir.Constant(flag, value) for value in (write, near, 1)]
        with cgutils.for_range_slice(builder, integer(0), args[1], integer(LINE), intp=INTEGER) as (at, _):
            builder.call(function, [builder.inttoptr(builder.add(args[0], at), byte), *how])
        return context.get_dummy_value()

    return codegen


@instruction
def prefetch(typingctx: Any, row: Any, size: Any) -> Any:
    """Ask for the first `size` bytes of a row that is about to be used; reads nothing."""
    return types.void(types.int64, types.int64), asking(1, 3)


@instruction
def prefetch_long(typingctx: Any, row: Any, size: Any) -> Any:
    """The same for a row so long that it would push what is in use out of the first cache: into the second."""
    return types.void(types.int64, types.int64), asking(0, 2)


@instruction
def _score_pair(
    typingctx: Any, scores: Any, inputs: Any, targets: Any, n: Any, i: Any, j: Any, gap: Any, width: Any
) -> Any:
    return types.void(scores, inputs, targets, *[types.int64] * 5), body(partial(write_scores, 2))


@instruction
def _score_one(
    typingctx: Any, scores: Any, inputs: Any, targets: Any, n: Any, i: Any, j: Any, gap: Any, width: Any
) -> Any:
    return types.void(scores, inputs, targets, *[types.int64] * 5), body(partial(write_scores, 1))


@instruction
def _update(
    typingctx: Any, steps: Any, read: Any, moved: Any, targets: Any, n: Any, m: Any, j: Any, gap: Any, width: Any
) -> Any:
    return types.void(steps, read, moved, targets, *[types.int64] * 5), body(write_update)


@instruction
def total(typingctx: Any, factor: Any, goal: Any, rows: Any, m: Any, width: Any) -> Any:
    """Add up rows: y += f (x_1 + ... + x_m)."""
    return types.void(factor, types.int64, rows, types.int64, types.int64), body(write_total)


@instruction
def share(typingctx: Any, factor: Any, source: Any, rows: Any, m: Any, width: Any) -> Any:
    """Give to each of m rows: x_i += f y."""
    return types.void(factor, types.int64, rows, types.int64, types.int64), body(write_share)


@instruction
def weigh(typingctx: Any, factor: Any, goal: Any, left: Any, right: Any, width: Any) -> Any:
    """Add a product of two rows number by number: y += f (a * b)."""
    return types.void(factor, *[types.int64] * 4), body(write_weigh)


@instruction
def copy(typingctx: Any, like: Any, goal: Any, source: Any, width: Any) -> Any:
    """Copy a row: y = x, rows of numbers of the type of the array `like`."""
    return types.void(like, *[types.int64] * 3), body(write_copy)


@piece
def score(scores: np.ndarray, inputs: np.ndarray, m: int, targets: np.ndarray, n: int, width: int) -> None:
    """S = X O' for m inputs and n targets."""
    gap = pitch(n)
    for j in range(0, n, COLUMNS):
        columns = min(COLUMNS, n - j)
        for i in range(0, m - 1, 2):
            _score_pair(scores, inputs, targets, columns, i, j, gap, width)
        if m % 2 == 1:
            _score_one(scores, inputs, targets, columns, m - 1, j, gap, width)


@piece
def update(
    steps: np.ndarray, read: np.ndarray, moved: np.ndarray, m: int, targets: np.ndarray, n: int, width: int
) -> None:
    """O += G' X and X += G O."""
    gap = pitch(n)
    for j in range(0, n, TARGETS):
        _update(steps, read, moved, targets, min(TARGETS, n - j), m, j, gap, width)
