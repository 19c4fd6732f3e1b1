"""The texts of a batch as scratch memory, and products of their matrices.

The texts of a batch of n pairs are numbered by side: the left texts are 0 to n, the right ones n to 2n, then the
negative ones if there are any.

A tile of C stays in registers while one column of A and one row of B are read at a time. B is read in blocks that fit
into the first-level cache. Numbers are added in a fixed order, so that results do not depend on threads.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from embeddings.compilation.jit import inline, noinline
from embeddings.compilation.vector_emitter import HAS_AVX512, VECTOR_BYTES, Emitter, int64
from embeddings.kernels.integers import smaller
from embeddings.kernels.row_operations import emitted, switch_on_count

TILE_ROWS = 6
TILE_VECTORS = 4 if HAS_AVX512 else 2  # columns of a tile of C, in vectors: with its rows they fill the registers
BLOCK_DEPTH = 128  # rows of B that are read for one tile: 32 KiB
TRANSPOSE_TILE = 16


def write_product(
    rows: int, emit: Emitter, c: Any, a: Any, b: Any, vectors: Any, at_c: Any, at_a: Any, at_b: Any, stride_c: Any,
    row_a: Any, step_a: Any, stride_b: Any, depth: Any,
) -> None:  # fmt: skip
    """C += A B for a tile of `rows` rows and up to `TILE_VECTORS` vectors."""
    numbers = at_c, at_a, at_b, stride_c, row_a, step_a, stride_b, depth
    switch_on_count(partial(write_product_tile, rows), TILE_VECTORS, emit, vectors, c, a, b, *numbers)


def write_product_tile(rows: int, vectors: int, emit: Emitter, *args: Any) -> None:
    """`write_product` for a constant number of vectors; offsets and strides are numbers of items."""
    c, a, b, at_c, at_a, at_b, stride_c, row_a, step_a, stride_b, depth = args
    builder, size = emit.builder, int64(emit.size)
    sums = [[emit.variable() for _ in range(vectors)] for _ in range(rows)]
    with emit.for_range(depth) as k:
        first = builder.mul(builder.add(at_b, builder.mul(k, stride_b)), size)
        right = [emit.load(b, builder.add(first, int64(n * VECTOR_BYTES))) for n in range(vectors)]
        column = builder.add(at_a, builder.mul(k, step_a))
        for r, accumulators in enumerate(sums):
            item = builder.add(column, builder.mul(int64(r), row_a))
            factor = emit.broadcast(a, builder.mul(item, size))
            for other, accumulator in zip(right, accumulators, strict=True):
                builder.store(emit.fma(factor, other, builder.load(accumulator)), accumulator)
    for r, accumulators in enumerate(sums):
        row = builder.mul(builder.add(at_c, builder.mul(int64(r), stride_c)), size)
        for n, accumulator in enumerate(accumulators):
            offset = builder.add(row, int64(n * VECTOR_BYTES))
            emit.store(builder.fadd(emit.load(c, offset), builder.load(accumulator)), c, offset)


_product_tile, _product_row = emitted(write_product, TILE_ROWS), emitted(write_product, 1)


@noinline
def add_product(
    c: np.ndarray, a: np.ndarray, b: np.ndarray, m: int, n: int, depth: int, row_a: int, step_a: int
) -> None:
    """C += A B for the first m rows and n columns of C; n is rounded up to whole vectors.

    Arguments:
        c, b: matrices with contiguous rows; those of `b` and `c` have room for n rounded up to whole vectors.
        a: item (i, k) of A is item `i * row_a + k * step_a` of this matrix.
        depth: the number of columns of A and rows of B.
    """
    lanes = VECTOR_BYTES // c.itemsize
    vectors = (n + lanes - 1) // lanes
    for first in range(0, vectors, TILE_VECTORS):
        count, at = smaller(TILE_VECTORS, vectors - first), first * lanes
        for k in range(0, depth, BLOCK_DEPTH):
            size, at_b = smaller(BLOCK_DEPTH, depth - k), k * b.shape[1] + at
            i = 0
            while i + TILE_ROWS <= m:
                at_c, at_a = i * c.shape[1] + at, i * row_a + k * step_a
                _product_tile(c, a, b, count, at_c, at_a, at_b, c.shape[1], row_a, step_a, b.shape[1], size)
                i += TILE_ROWS
            while i < m:
                at_c, at_a = i * c.shape[1] + at, i * row_a + k * step_a
                _product_row(c, a, b, count, at_c, at_a, at_b, c.shape[1], row_a, step_a, b.shape[1], size)
                i += 1


@inline
def transpose(output: np.ndarray, matrix: np.ndarray, rows: int, columns: int) -> None:
    """Write the transpose of the first rows and columns of a matrix, a tile at a time."""
    for i in range(0, rows, TRANSPOSE_TILE):
        for j in range(0, columns, TRANSPOSE_TILE):
            for k in range(i, smaller(i + TRANSPOSE_TILE, rows)):
                for n in range(j, smaller(j + TRANSPOSE_TILE, columns)):
                    output[n, k] = matrix[k, n]


class TextBatch(NamedTuple):
    """The texts of one batch, as scratch memory of a thread.

    rows: int32 (words of a batch,), the words of all texts. starts: int64 (texts + 1,), where each text begins in it.
    hashes: uint64 (texts,), of the words of each text, before any are dropped.
    sums, sum_gradients: (texts, width), the sum of the rows of each text, and its gradient.
    units, unit_gradients: (texts, width), the sums divided by their norms, and their gradients.
    norms: (texts,), these norms.
    addresses: int64 (words of a batch,), of rows to sum up.
    counts: int32 (vocabulary,), zeros between batches. touched: int32 (words of a batch,), the different words.
    begins: int64 (words of a batch + 1,), where the texts of each of them begin in `addresses`.
    numbers: int64 (texts,), 0, 1, and so on.
    weights: (pairs,), of the losses of pairs.
    gradient: (1, width), of a row. factor: (1,), an argument of row operations.
    """

    rows: np.ndarray
    starts: np.ndarray
    hashes: np.ndarray
    sums: np.ndarray
    sum_gradients: np.ndarray
    units: np.ndarray
    unit_gradients: np.ndarray
    norms: np.ndarray
    addresses: np.ndarray
    counts: np.ndarray
    touched: np.ndarray
    begins: np.ndarray
    numbers: np.ndarray
    weights: np.ndarray
    gradient: np.ndarray
    factor: np.ndarray
