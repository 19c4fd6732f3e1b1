"""The texts of a batch: their words, their means, and the steps of the rows of words. Compiled.

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
from embeddings.kernels.random_numbers import random_bits, uniform_uint32
from embeddings.kernels.row_operations import address, emitted, prefetch_l2, sum_rows, switch_on_count
from embeddings.kernels.sparse_steps import StepRates, step_row
from embeddings.plugins.text_pairs.pair_stream import PairBlock

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


class PairTexts(NamedTuple):
    """The texts of all pairs, as words.

    Side s of pair p is text p * sides + s, whose words are `ids[starts[text]:starts[text + 1]]`, of which only the
    first `limit` are read. Ids that are not below `words` are unknown. dropout: the share of words to drop, times 2^32.
    """

    ids: np.ndarray
    starts: np.ndarray
    sides: int
    words: int
    limit: int
    dropout: int


class TextBatch(NamedTuple):
    """The texts of one batch, as scratch memory of a thread.

    rows: int32 (words of a batch,), the words of all texts. starts: int64 (texts + 1,), where each text begins in it.
    hashes: uint64 (texts,), of the words of each text, before any are dropped.
    sums, sum_gradients: (texts, width), the sum of the rows of each text, and its gradient.
    outputs, output_gradients: (texts, width), the same after the linear map; the same memory if there is none.
    units, unit_gradients: (texts, width), the outputs divided by their norms, and their gradients.
    norms: (texts,), these norms.
    addresses: int64 (words of a batch,), of rows to sum up.
    counts: int32 (vocabulary,), zeros between batches. touched: int32 (words of a batch,), the different words.
    begins: int64 (words of a batch + 1,), where the texts of each of them begin in `addresses`.
    gradient: (1, width), of a row; weight_gradient: (16,), of a weight. factor: (1,), an argument of row operations.
    map_transposed, map_gradient: (padded dim, width) of the linear map; empty if there is none.
    """

    rows: np.ndarray
    starts: np.ndarray
    hashes: np.ndarray
    sums: np.ndarray
    sum_gradients: np.ndarray
    outputs: np.ndarray
    output_gradients: np.ndarray
    units: np.ndarray
    unit_gradients: np.ndarray
    norms: np.ndarray
    addresses: np.ndarray
    counts: np.ndarray
    touched: np.ndarray
    begins: np.ndarray
    gradient: np.ndarray
    weight_gradient: np.ndarray
    map_transposed: np.ndarray
    map_gradient: np.ndarray
    factor: np.ndarray


@inline
def gather_words(batch: TextBatch, source: PairTexts, block: PairBlock, size: int) -> None:
    """Collect the known words of the texts of a block, without dropped words; no text loses all of its words."""
    at = 0
    for side in range(source.sides):
        for k in range(size):
            text = block.pairs[k] * source.sides + side
            first, code = at, np.uint64(0)
            for position in range(source.starts[text], text_end(source, text)):
                word = source.ids[position]
                if word < source.words:
                    code = random_bits(code, np.uint64(word) + np.uint64(1))
                    bits = random_bits(block.keys[k], np.uint64(position))
                    if source.dropout == 0 or uniform_uint32(bits) >= source.dropout:
                        batch.rows[at] = word
                        at += 1
            if at == first:
                at = gather_all_words(batch, source, text, at)
            batch.starts[side * size + k] = first
            batch.hashes[side * size + k] = code
    batch.starts[source.sides * size] = at


@inline
def text_end(source: PairTexts, text: int) -> int:
    """Where the words of a text that are read end."""
    return smaller(source.starts[text + 1], source.starts[text] + source.limit)  # type: ignore[no-any-return]


@noinline
def gather_all_words(batch: TextBatch, source: PairTexts, text: int, at: int) -> int:
    """Collect all known words of a text; returns where they end."""
    for position in range(source.starts[text], text_end(source, text)):
        if source.ids[position] < source.words:
            batch.rows[at] = source.ids[position]
            at += 1
    return at


@inline
def sum_words(batch: TextBatch, words: np.ndarray, weights: np.ndarray, texts: int) -> None:
    """The sum of the rows of each text, each times the weight of its word if there are weights."""
    width, size = words.shape[1], words.shape[1] * words.itemsize
    batch.sums[:texts] = 0
    batch.factor[0] = 1
    for text in range(texts):
        begin, end = batch.starts[text], batch.starts[text + 1]
        if text + 1 < texts:
            for k in range(end, batch.starts[text + 2]):
                prefetch_l2(address(words, batch.rows[k]), size)
        if weights.shape[0] == 0:
            for k in range(begin, end):
                batch.addresses[k - begin] = address(words, batch.rows[k])
            sum_rows(batch.factor, address(batch.sums, text), batch.addresses, end - begin, width)
        else:
            for k in range(begin, end):
                batch.factor[0] = weights[batch.rows[k], 0]
                batch.addresses[0] = address(words, batch.rows[k])
                sum_rows(batch.factor, address(batch.sums, text), batch.addresses, 1, width)


@inline
def normalize_outputs(batch: TextBatch, texts: int, dim: int) -> None:
    """Divide the first `dim` components of each output by their norm; a text of zeros remains."""
    width = batch.units.shape[1]
    for text in range(texts):
        output, unit = batch.outputs[text], batch.units[text]
        total = unit.dtype.type(0)
        for d in range(dim):
            total += output[d] * output[d]
        norm = np.sqrt(total)
        batch.norms[text] = norm
        scale = unit.dtype.type(1) / norm if norm > 0 else unit.dtype.type(0)
        for d in range(dim):
            unit[d] = scale * output[d]
        for d in range(dim, width):
            unit[d] = 0


@inline
def backprop_norms(batch: TextBatch, texts: int, dim: int, weight: float) -> None:
    """Add the gradients of outputs, from the gradients of units, times a weight."""
    for text in range(texts):
        if batch.norms[text] > 0:
            unit, gradient, output = batch.units[text], batch.unit_gradients[text], batch.output_gradients[text]
            product = unit.dtype.type(0)
            for d in range(dim):
                product += unit[d] * gradient[d]
            scale = unit.dtype.type(weight) / batch.norms[text]
            for d in range(dim):
                output[d] += scale * (gradient[d] - product * unit[d])


@inline
def group_texts_by_word(batch: TextBatch, texts: int) -> int:
    """Sort the addresses of the gradients of texts by word, into `addresses`; returns the number of words."""
    n, total = 0, 0
    for k in range(batch.starts[texts]):
        row = batch.rows[k]
        if batch.counts[row] == 0:
            batch.touched[n] = row
            n += 1
        batch.counts[row] += 1
    for i in range(n):
        row = batch.touched[i]
        count = batch.counts[row]
        batch.begins[i] = batch.counts[row] = total
        total += count
    batch.begins[n] = total
    for text in range(texts):
        for k in range(batch.starts[text], batch.starts[text + 1]):
            row = batch.rows[k]
            batch.addresses[batch.counts[row]] = address(batch.sum_gradients, text)
            batch.counts[row] += 1
    for i in range(n):
        batch.counts[batch.touched[i]] = 0
    return n


@inline
def sum_word_gradients(batch: TextBatch, i: int, width: int) -> None:
    """Sum up the gradients of the texts with the i-th different word of the batch, in `gradient`."""
    begin, end = batch.begins[i], batch.begins[i + 1]
    batch.gradient[0, :] = 0
    batch.factor[0] = 1
    sum_rows(batch.factor, address(batch.gradient, 0), batch.addresses[begin:end], end - begin, width)


@inline
def step_weight(batch: TextBatch, values: np.ndarray, weights: Any, row: int, rates: StepRates) -> None:
    """One step of the weight of a word; the gradient of its sum becomes that of its row."""
    gradient, weight = batch.gradient[0], weights.values[row, 0]
    product = gradient.dtype.type(0)
    for d in range(gradient.shape[0]):
        product += gradient[d] * values[row, d]
        gradient[d] *= weight
    step = batch.weight_gradient
    step[0] = product
    step_row(weights, row, step, rates)


@inline
def map_sums(batch: TextBatch, matrix: np.ndarray, texts: int) -> None:
    """Apply the linear map, if there is one: outputs = sums M."""
    if matrix.shape[0] > 0:
        batch.outputs[:texts] = 0
        width = batch.sums.shape[1]
        add_product(batch.outputs, batch.sums, matrix, texts, width, matrix.shape[0], width, 1)


@inline
def step_map(batch: TextBatch, matrix: Any, texts: int, rates: StepRates) -> None:
    """Backpropagate the gradients of outputs to sums through the map, if there is one, and learn it."""
    values = matrix.values
    rows = values.shape[0]
    if rows > 0:
        width = values.shape[1]
        transpose(batch.map_transposed, values, rows, width)
        batch.sum_gradients[:texts] = 0
        add_product(batch.sum_gradients, batch.output_gradients, batch.map_transposed, texts, width, width, width, 1)
        batch.map_gradient[:] = 0
        add_product(batch.map_gradient, batch.sums, batch.output_gradients, rows, width, texts, 1, width)
        for i in range(rows):
            step_row(matrix, i, batch.map_gradient[i], rates)
