"""Sums, updates and scores of rows of dense and of quantised matrices. Compiled.

`row_operations` has the same operations for the few rows of a window, which stay in the first cache; they go
through all rows for each vector. Here up to `ROW_TILE` vectors of a row are read at once, so memory is read in order.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from embeddings.compilation.jit import dispatched, entry_point, implements, inline
from embeddings.compilation.vector_emitter import HAS_AVX512, VECTOR_BYTES, Emitter, int64
from embeddings.kernels.integers import smaller
from embeddings.kernels.matrix_rows import CENTROIDS, DenseRows, QuantisedRows, Rows
from embeddings.kernels.row_operations import PARTIAL_SUMS, add_table_rows, emitted, load_int64, switch_on_count

TILE = 128  # quantised rows at a time, so that their codes stay in the first cache


@dispatched
def add_rows(matrix: Rows, rows: np.ndarray, start: int, stop: int, total: np.ndarray) -> None:
    """Add the rows `rows[start:stop]`, int64, to `total`, float32 (dim,)."""


@implements(DenseRows)
@inline
def add_dense_rows(matrix: DenseRows, rows: np.ndarray, start: int, stop: int, total: np.ndarray) -> None:
    """Add rows of a dense matrix."""
    add_table_rows(matrix.table, total, rows, start, stop, matrix.table.strides[0], total.shape[0])


@implements(QuantisedRows)
@inline
def add_quantised_rows(matrix: QuantisedRows, rows: np.ndarray, start: int, stop: int, total: np.ndarray) -> None:
    """Add rows of a quantised matrix, part by part for a few rows at a time: the centroids of a part stay in cache."""
    # Part by part within a tile: the 256 centroids of one part stay in the first cache, those of all parts do not.
    for first in range(start, stop, TILE):
        last, component = smaller(first + TILE, stop), 0
        for part in range(matrix.table.shape[1]):
            width = smaller(matrix.part_size, matrix.dim - component)
            if width == 2:
                add_pairs(matrix, rows, first, last, part, component, total)
            else:
                add_part(matrix, rows, first, last, part, component, width, total)
            component += width


@inline
def row_norm(matrix: QuantisedRows, row: int) -> np.float32:
    """By what a row is multiplied."""
    return matrix.norms[matrix.norm_codes[row]] if matrix.norm_codes.shape[0] > 0 else np.float32(1)


@inline
def add_pairs(
    matrix: QuantisedRows, rows: np.ndarray, first: int, last: int, part: int, component: int, total: np.ndarray
) -> None:
    """Add a part of two components, of two rows at a time, whose sums do not wait for each other."""
    start, values = CENTROIDS * component, matrix.centroids
    left, right, other_left, other_right = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for i in range(first, last - 1, 2):
        row, other = rows[i], rows[i + 1]
        norm, other_norm = row_norm(matrix, row), row_norm(matrix, other)
        place = start + 2 * np.int64(matrix.table[row, part])
        other_place = start + 2 * np.int64(matrix.table[other, part])
        left += norm * values[place]
        right += norm * values[place + 1]
        other_left += other_norm * values[other_place]
        other_right += other_norm * values[other_place + 1]
    if (last - first) % 2 == 1:
        row = rows[last - 1]
        norm, place = row_norm(matrix, row), start + 2 * np.int64(matrix.table[row, part])
        left += norm * values[place]
        right += norm * values[place + 1]
    total[component] += left + other_left
    total[component + 1] += right + other_right


@inline
def add_part(
    matrix: QuantisedRows, rows: np.ndarray, first: int, last: int, part: int, component: int, width: int,
    total: np.ndarray,
) -> None:  # fmt: skip
    """Add a part of any number of components."""
    for i in range(first, last):
        row = rows[i]
        norm, place = row_norm(matrix, row), CENTROIDS * component + np.int64(matrix.table[row, part]) * width
        for d in range(width):
            total[component + d] += norm * matrix.centroids[place + d]


@entry_point
def decode_rows(matrix: QuantisedRows, numbers: np.ndarray, output: np.ndarray) -> None:
    """Add all rows of a quantised matrix, whose `numbers` are 0, 1, ..., int64, to `output`, float32 (rows, dim)."""
    for row in range(output.shape[0]):
        add_rows(matrix, numbers, row, row + 1, output[row])


@entry_point
def score_dense_rows(matrix: DenseRows, output: np.ndarray, start: int, stop: int, scores: np.ndarray) -> None:
    """Set `scores[start:stop]`, float32 (rows, labels), to products of rows with those of `output`, (labels, dim)."""
    for row in range(start, stop):
        for label in range(output.shape[0]):
            total = np.float32(0)
            for d in range(output.shape[1]):
                total += matrix.table[row, d] * output[label, d]
            scores[row, label] = total


@entry_point
def score_quantised_rows(
    matrix: QuantisedRows, centroid_scores: np.ndarray, start: int, stop: int, scores: np.ndarray
) -> None:
    """Likewise for quantised rows, given the scores of all centroids of all parts, float32 (labels, 256 * parts)."""
    for row in range(start, stop):
        norm = row_norm(matrix, row)
        for label in range(centroid_scores.shape[0]):
            total = np.float32(0)
            for part in range(matrix.table.shape[1]):
                total += centroid_scores[label, CENTROIDS * part + np.int64(matrix.table[row, part])]
            scores[row, label] = total * norm


ROW_TILE = 8 if HAS_AVX512 else 4  # vectors of a row at a time


@emitted
def sum_row_list(emit: Emitter, factor: Any, output: Any, rows: Any, m: Any, width: Any) -> None:
    """Add up rows: y += f (x_1 + ... + x_m), where f is `factor[0]`."""
    for_each_tile(write_sum_tile, emit, width, factor, output, rows, m)


@emitted
def scatter_add_row_list(emit: Emitter, factor: Any, source: Any, rows: Any, m: Any, width: Any) -> None:
    """Add a row to each of m rows: x_i += f y, where f is `factor[0]`."""
    for_each_tile(write_scatter_tile, emit, width, factor, source, rows, m)


def for_each_tile(write: Callable[..., None], emit: Emitter, width: Any, *args: Any) -> None:
    """Emit `write(vectors, emit, start, *args)` for each tile of a row, which starts at byte `start`."""
    builder = emit.builder
    tile = int64(ROW_TILE * VECTOR_BYTES)
    size = builder.mul(width, int64(emit.size))
    # Whole tiles in a loop, the rest by a switch on its length, so that both keep their sums in registers.
    whole = builder.sdiv(size, tile)
    with emit.for_range(whole) as block:
        write(ROW_TILE, emit, builder.mul(block, tile), *args)
    start = builder.mul(whole, tile)
    rest = builder.sdiv(builder.sub(size, start), int64(VECTOR_BYTES))
    switch_on_count(write, ROW_TILE - 1, emit, rest, start, *args)


def write_sum_tile(vectors: int, emit: Emitter, start: Any, factor: Any, output: Any, rows: Any, m: Any) -> None:
    """`sum_row_list` for a constant number of vectors, with several partial sums if they are few."""
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
    """`scatter_add_row_list` for a constant number of vectors."""
    builder, scale = emit.builder, emit.broadcast(factor, int64(0))
    offsets = [builder.add(start, int64(n * VECTOR_BYTES)) for n in range(vectors)]
    steps = [builder.fmul(scale, emit.load(source, offset)) for offset in offsets]
    with emit.for_range(m) as i:
        row = load_int64(emit, rows, i)
        for offset, step in zip(offsets, steps, strict=True):
            emit.store(builder.fadd(emit.load(row, offset), step), row, offset)
