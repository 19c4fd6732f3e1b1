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

from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from embeddings.kernels.checked_build import IS_CHECKED
from embeddings.kernels.checked_emitter import require
from embeddings.kernels.integers import smaller
from embeddings.kernels.jit import inline, intrinsic
from embeddings.kernels.matrix_products import (
    SCORE_TILE,
    SINGLE_TILE,
    UPDATE_TILE,
    codegen_of,
    write_add_table_rows,
    write_copy_row,
    write_hadamard_add,
    write_scatter_add,
    write_scores,
    write_single_update,
    write_sum_rows,
    write_update,
)
from embeddings.kernels.vector_emitter import INT64, int64

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
    return types.void(types.int64, types.int64), prefetch_codegen(1, 3)


@intrinsic
def prefetch_l2(typingctx: Any, row: Any, size: Any) -> Any:
    """Prefetch into the second-level cache: for rows so long that they would evict data in use from the first."""
    return types.void(types.int64, types.int64), prefetch_codegen(0, 2)


@intrinsic
def _score_pair(
    typingctx: Any, scores: Any, inputs: Any, targets: Any, n: Any, i: Any, j: Any, stride: Any, width: Any
) -> Any:
    return types.void(scores, inputs, targets, *[types.int64] * 5), codegen_of(partial(write_scores, 2))


@intrinsic
def _score_one(
    typingctx: Any, scores: Any, inputs: Any, targets: Any, n: Any, i: Any, j: Any, stride: Any, width: Any
) -> Any:
    return types.void(scores, inputs, targets, *[types.int64] * 5), codegen_of(partial(write_scores, 1))


@intrinsic
def _update(typingctx: Any, steps: Any, inputs: Any, gradients: Any, targets: Any, n: Any, m: Any, j: Any, stride: Any,
            width: Any) -> Any:  # fmt: skip
    return types.void(steps, inputs, gradients, targets, *[types.int64] * 5), codegen_of(write_update)


@intrinsic
def _update_single(typingctx: Any, steps: Any, inputs: Any, gradients: Any, targets: Any, n: Any, j: Any,
                   width: Any) -> Any:  # fmt: skip
    return types.void(steps, inputs, gradients, targets, *[types.int64] * 3), codegen_of(write_single_update)


@intrinsic
def sum_rows(typingctx: Any, factor: Any, output: Any, rows: Any, m: Any, width: Any) -> Any:
    """Add up rows: y += f (x_1 + ... + x_m)."""
    return types.void(factor, types.int64, rows, types.int64, types.int64), codegen_of(write_sum_rows)


@intrinsic
def scatter_add(typingctx: Any, factor: Any, source: Any, rows: Any, m: Any, width: Any) -> Any:
    """Add one row to each of m rows: x_i += f y."""
    return types.void(factor, types.int64, rows, types.int64, types.int64), codegen_of(write_scatter_add)


@intrinsic
def hadamard_add(typingctx: Any, factor: Any, output: Any, left: Any, right: Any, width: Any) -> Any:
    """Add the elementwise product of two rows: y += f (a * b)."""
    return types.void(factor, *[types.int64] * 4), codegen_of(write_hadamard_add)


@intrinsic
def copy_row(typingctx: Any, like: Any, output: Any, source: Any, width: Any) -> Any:
    """Copy a row: y = x, with numbers of the array `like`'s type."""
    return types.void(like, *[types.int64] * 3), codegen_of(write_copy_row)


@intrinsic
def add_table_rows(
    typingctx: Any, table: Any, total: Any, rows: Any, start: Any, stop: Any, stride: Any, width: Any
) -> Any:
    """Add the rows `rows[start:stop]` of a table to `total`: any `width`, and `stride` bytes from row to row."""
    return types.void(table, total, rows, *[types.int64] * 4), codegen_of(write_add_table_rows)


@intrinsic
def add_weighted_table_rows(
    typingctx: Any, table: Any, total: Any, rows: Any, start: Any, stop: Any, stride: Any, width: Any, weights: Any
) -> Any:
    """`add_table_rows`, where each row counts by its item of `weights`, of the table's type."""
    return types.void(table, total, rows, *[types.int64] * 4, weights), codegen_of(write_add_table_rows)


@inline
def score(scores: np.ndarray, inputs: np.ndarray, m: int, targets: np.ndarray, n: int, width: int) -> None:
    """S = X O' for m inputs and n targets."""
    stride = row_stride(n)
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
    tile = (n + passes - 1) // passes
    for j in range(0, n, tile):
        _update(steps, inputs, gradients, targets, smaller(tile, n - j), m, j, stride, width)
