"""Sums of many rows given by address, such as those of a text, and updates of them. Compiled.

`row_operations` has the same operations for the few rows of a window, which stay in the first cache; they go
through all rows for each vector. Here up to `ROW_TILE` vectors of a row are read at once, so memory is read in order.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

from numba import types

from embeddings.kernels.jit import intrinsic
from embeddings.kernels.matrix_products import PARTIAL_SUMS, codegen_of, load_int64, switch_on_count
from embeddings.kernels.vector_emitter import HAS_AVX512, VECTOR_BYTES, Emitter, int64

ROW_TILE = 8 if HAS_AVX512 else 4  # vectors of a row at a time


@intrinsic
def sum_row_list(typingctx: Any, factor: Any, output: Any, rows: Any, m: Any, width: Any) -> Any:
    """Add up rows: y += f (x_1 + ... + x_m), where f is `factor[0]`."""
    return types.void(factor, types.int64, rows, types.int64, types.int64), codegen_of(write_sum)


@intrinsic
def scatter_add_row_list(typingctx: Any, factor: Any, source: Any, rows: Any, m: Any, width: Any) -> Any:
    """Add a row to each of m rows: x_i += f y, where f is `factor[0]`."""
    return types.void(factor, types.int64, rows, types.int64, types.int64), codegen_of(write_scatter)


def write_sum(emit: Emitter, factor: Any, output: Any, rows: Any, m: Any, width: Any) -> None:
    """`sum_row_list`."""
    for_each_tile(write_sum_tile, emit, width, factor, output, rows, m)


def write_scatter(emit: Emitter, factor: Any, source: Any, rows: Any, m: Any, width: Any) -> None:
    """`scatter_add_row_list`."""
    for_each_tile(write_scatter_tile, emit, width, factor, source, rows, m)


def for_each_tile(write: Callable[..., None], emit: Emitter, width: Any, *args: Any) -> None:
    """Emit `write(vectors, emit, start, *args)` for each tile of a row, which starts at byte `start`."""
    builder = emit.builder
    tile = int64(ROW_TILE * VECTOR_BYTES)
    size = builder.mul(width, int64(emit.size))
    whole = builder.sdiv(size, tile)
    with emit.for_range(whole) as block:
        write(ROW_TILE, emit, builder.mul(block, tile), *args)
    start = builder.mul(whole, tile)
    rest = builder.sdiv(builder.sub(size, start), int64(VECTOR_BYTES))
    switch_on_count(write, ROW_TILE - 1, emit, rest, start, *args)


def write_sum_tile(vectors: int, emit: Emitter, start: Any, factor: Any, output: Any, rows: Any, m: Any) -> None:
    """`write_sum` for a constant number of vectors, with several partial sums if they are few."""
    builder, scale = emit.builder, emit.broadcast(factor, int64(0))
    offsets = [builder.add(start, int64(n * VECTOR_BYTES)) for n in range(vectors)]
    parts = -(-PARTIAL_SUMS // vectors)
    totals = [[emit.variable() for _ in offsets] for _ in range(parts)]

    def add(i: Any, sums: list[Any]) -> None:
        row = load_int64(emit, rows, i)
        for offset, total in zip(offsets, sums, strict=True):
            builder.store(builder.fadd(builder.load(total), emit.load(row, offset)), total)

    blocks = builder.sdiv(m, int64(parts))
    with emit.for_range(blocks) as block:
        for part, sums in enumerate(totals):
            add(builder.add(builder.mul(block, int64(parts)), int64(part)), sums)
    done = builder.mul(blocks, int64(parts))
    with emit.for_range(builder.sub(m, done)) as i:
        add(builder.add(done, i), totals[0])
    for n, offset in enumerate(offsets):
        total = reduce(builder.fadd, [builder.load(sums[n]) for sums in totals])
        emit.store(emit.fma(scale, total, emit.load(output, offset)), output, offset)


def write_scatter_tile(vectors: int, emit: Emitter, start: Any, factor: Any, source: Any, rows: Any, m: Any) -> None:
    """`write_scatter` for a constant number of vectors."""
    builder, scale = emit.builder, emit.broadcast(factor, int64(0))
    offsets = [builder.add(start, int64(n * VECTOR_BYTES)) for n in range(vectors)]
    steps = [builder.fmul(scale, emit.load(source, offset)) for offset in offsets]
    with emit.for_range(m) as i:
        row = load_int64(emit, rows, i)
        for offset, step in zip(offsets, steps, strict=True):
            emit.store(builder.fadd(emit.load(row, offset), step), row, offset)
