"""Compiled entry points that call inlined kernel functions, and tables, buffers and blocks to call them with."""

from typing import NamedTuple

import naive
import numpy as np

from embeddings.compilation.checked_build import register_rows
from embeddings.compilation.jit import allocating_entry_point
from embeddings.kernels.block import (
    END,
    FILLED,
    FIRST,
    LAST,
    POSITION,
    BlockSource,
    fill_block,
    keep_thresholds,
    new_block,
    rewind,
)
from embeddings.kernels.gradient_steps import learn, learn_single
from embeddings.kernels.logistic import logistic_loss, scores_to_steps
from embeddings.kernels.loss_tally import UNTIL_SAMPLE
from embeddings.kernels.random_numbers import alias_table
from embeddings.kernels.row_cache import row_address
from embeddings.kernels.row_operations import (
    PADDING,
    address,
    copy_row,
    padded,
    row_stride,
    scatter_add,
    score,
    sum_rows,
    update,
)
from embeddings.kernels.row_sums import scatter_add_row_list, sum_row_list
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.models.table import uniform, zero_rows

ROW_TOLERANCE = {np.float32: 1e-5, np.float64: 1e-12}  # of one operation
BLOCK_TOLERANCE = {np.float32: 1e-3, np.float64: 1e-11}  # of a whole block
MARGIN, OUTSIDE = 40, 777  # of arrays that are parts of larger ones
VOCABULARY, DIM = 20, 13  # of blocks compared with twins
SMALL_VOCABULARY, SMALL_DIM = 9, 5  # of numerical gradients
RATE = 1e-7  # for numerical gradients: where rows repeat, a step departs from the gradient in proportion to the rate


@allocating_entry_point
def write_addresses(table, rows, out):
    for i in range(rows.shape[0]):
        out[i] = address(table, rows[i])


@allocating_entry_point
def cached_address(table, cache, row):
    return row_address(table, cache, row)


@allocating_entry_point
def score_rows(scores, inputs, m, targets, n, width):
    score(scores, inputs, m, targets, n, width)


@allocating_entry_point
def update_rows(steps, inputs, gradients, m, targets, n, width):
    update(steps, inputs, gradients, m, targets, n, width)


@allocating_entry_point
def sum_into(factor, output, rows, m, width):
    sum_rows(factor, output[0], rows, m, width)


@allocating_entry_point
def scatter_add_rows(factor, source, rows, m, width):
    scatter_add(factor, source[0], rows, m, width)


@allocating_entry_point
def sum_list_into(factor, output, rows, m, width):
    sum_row_list(factor, output[0], rows, m, width)


@allocating_entry_point
def scatter_add_list(factor, source, rows, m, width):
    scatter_add_row_list(factor, source[0], rows, m, width)


@allocating_entry_point
def copy_rows(like, output, source, width):
    for i in range(output.shape[0]):
        copy_row(like, output[i], source[i], width)


@allocating_entry_point
def learn_step(buffers, m, p, n, width, rate):
    learn(buffers, m, p, n, width, rate)


@allocating_entry_point
def learn_single_step(buffers, p, n, width, rate):
    learn_single(buffers, p, n, width, rate)


@allocating_entry_point
def loss_of_scores(scores, m, p, n, weights):
    return logistic_loss(scores, m, p, n, weights)


@allocating_entry_point
def steps_of_scores(scores, m, p, n, weights, rate):
    scores_to_steps(scores, m, p, n, weights, rate)


def cached_row_view(table, cache, row):
    """The row that a thread uses, of its cache or of the table, as an array."""
    pointer = cached_address(table, cache, row)
    for array in (cache.rows, table):
        at = (pointer - array.ctypes.data) // array.strides[0]
        if 0 <= at < len(array):
            return array[at]
    raise AssertionError("the row is in neither table")


class RowTable(NamedTuple):
    """A table, its float64 copy for the twin, and selected rows: their addresses, and views of the copy."""

    table: np.ndarray
    twin: np.ndarray
    at: np.ndarray
    views: list

    @property
    def width(self):
        return self.table.shape[1]

    def check(self, tolerance):
        scale = max(1.0, abs(self.twin).max(initial=0))
        np.testing.assert_allclose(self.table, self.twin, rtol=0, atol=tolerance * scale)


def addresses(table, rows):
    register_rows(table, table)
    out = np.zeros(len(rows), np.int64)
    write_addresses(table, np.asarray(rows, np.int64), out)
    return out


def rows(rng, count, dim, dtype, *, among=None, scale=0.3):
    """A random table and `count` of its rows: all of them in order, or drawn from a table of `among` rows."""
    size = max(count, 1) if among is None else among
    table = separate_zeros((size, padded(dim)), dtype)
    table[:, :dim] = rng.normal(size=(size, dim)) * scale
    selected = np.arange(count) if among is None else rng.integers(0, size, count)
    twin = table.astype(np.float64)
    return RowTable(table, twin, addresses(table, selected), [twin[i] for i in selected])


def score_matrix(values, dtype):
    """A score matrix in the memory layout of the kernels."""
    m, n = values.shape
    flat = np.zeros(m * row_stride(n) + PADDING, dtype)
    flat[: m * row_stride(n)].reshape(m, row_stride(n))[:, :n] = values
    return flat


def tallying_buffers(inputs, targets, width, dtype, **sizes):
    """Step buffers that tally the loss of every step."""
    buffers = new_step_buffers(inputs, targets, width, dtype=dtype, **sizes)
    buffers.tally[UNTIL_SAMPLE] = -1e9
    return buffers


def within(values, dtype=np.int64):
    """An array of these values, and the larger one that surrounds it with OUTSIDE."""
    larger = np.full(len(values) + 2 * MARGIN, OUTSIDE, dtype)
    larger[MARGIN:-MARGIN] = values
    return larger[MARGIN:-MARGIN], larger


def line_bounds(*lengths):
    """The boundaries of lines of these lengths."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def block_source(ids, lines, vocabulary, *, keep=1.0, window=5, shrink=True, weights=None, windows_per_draw=1):
    """A `BlockSource` with these keep probabilities and noise weights."""
    thresholds = keep_thresholds(np.broadcast_to(np.asarray(keep, np.float64), vocabulary))
    noise = alias_table(np.ones(vocabulary) if weights is None else weights)
    return BlockSource(np.asarray(ids, np.int32), lines, thresholds, noise, window, shrink, windows_per_draw)


def windows_of(block):
    """(centre, contexts, noise) of each centre of a block."""
    windows = []
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        left, right = block.words[block.start[i] : i], block.words[i + 1 : block.stop[i]]
        windows.append((int(block.words[i]), [*map(int, left), *map(int, right)], block.noise[i].tolist()))
    return windows


def positions_of(block):
    """(i, line, start, stop, noise) of each centre i of a block."""
    line = block.words.tolist()
    return [
        (i, line, int(block.start[i]), int(block.stop[i]), block.noise[i].tolist())
        for i in range(block.cursor[FIRST], block.cursor[LAST])
    ]


def fill_all(source, begin, end, key, size, negatives):
    """The windows of each block of a share, and the number of ids that `fill_block` reports as read."""
    return read_share(new_block(source.window, negatives, size), fill_block, windows_of, source, begin, end, key)


def read_share(block, fill, contents, source, begin, end, key):
    """The contents of each block of a share, and the number of units that `fill` reports as read."""
    rng = np.array([key, 0], np.uint64)
    rewind(block, source, begin, end)
    blocks, read = [], 0
    while block.cursor[POSITION] < end:
        count = fill(block, source, rng)
        assert count > 0
        read += count
        blocks.append(contents(block))
    assert fill(block, source, rng) == 0
    assert contents(block) == []
    return blocks, read


def block_and_tables(dtype, negatives, **settings):
    """A block of lines of all lengths over few words, so that rows repeat everywhere, and two tables of words."""
    rng = np.random.default_rng(negatives)
    ids, lines = rng.integers(0, VOCABULARY, 300), line_bounds(40, 1, 0, 2, 100, 157)
    keep, weights = np.linspace(0.5, 1, VOCABULARY), np.arange(1.0, VOCABULARY + 1)
    source = block_source(ids, lines, VOCABULARY, keep=keep, weights=weights, **settings)
    block = new_block(5, negatives, 200)
    rewind(block, source, 0, 300)
    fill_block(block, source, np.array([7, 0], np.uint64))
    words, output = (rows(rng, VOCABULARY, DIM, dtype, scale=0.4) for _ in range(2))
    return block, words, output


# For numerical gradients: a context that is the centre, a repeated one, one that is a negative sample; a negative
# sample that is the centre, and a repeated one.
POSITIONS = {
    "both sides": ([1, 2, 2, 3, 5, 3, 4, 4, 0, 6, 8], 5, 0, 11, [1, 3, 3, 7]),
    "right": ([4, 0, 1], 0, 0, 3, [4, 8, 8, 1]),
    "repeated": ([8, 8, 6, 8], 2, 0, 4, [0, 2, 6, 8]),
}


def position_and_block(line, i, start, stop, noise):
    """A block with one centre, and the same position for its twin."""
    block = new_block(len(line), len(noise))
    block.words[: len(line)] = line
    block.start[i], block.stop[i], block.noise[i] = start, stop, noise
    block.cursor[FIRST], block.cursor[LAST], block.cursor[FILLED] = i, i + 1, len(line)
    block.cursor[END] = len(line)
    return block, (i, line, start, stop, noise)


def small_table(rng, count, width=None):
    """A random float64 table of `SMALL_DIM` components, padded with zeros."""
    table = separate_zeros((count, padded(SMALL_DIM) if width is None else width), np.float64)
    table[:, :SMALL_DIM] = rng.normal(size=(count, SMALL_DIM)) * 0.7
    return table


def assert_gradient(step, gradient):
    """A step over its rate is minus the numerical gradient, to a millionth of its largest number; padding is zero."""
    expected = -gradient[:, :SMALL_DIM]
    np.testing.assert_allclose(step[:, :SMALL_DIM], expected, rtol=0, atol=1e-6 * abs(gradient).max())
    assert (step[:, SMALL_DIM:] == 0).all()
    assert abs(gradient).max() > 0.01


def check_gradients(learn_block, block, arguments, buffers, loss, tables, factors=None):
    """Assert that one step of a kernel is minus the numerical gradient of `loss()` in each table, times a factor."""
    gradients = [naive.numerical_gradient(loss, table[:, :SMALL_DIM]) for table in tables]
    before = [table.copy() for table in tables]
    learn_block(block, arguments, buffers, RATE)
    for table, old, gradient, factor in zip(tables, before, gradients, factors or [1] * len(tables), strict=True):
        assert_gradient((table - old) / RATE, gradient * factor)


def random_rows(rows, dim, seed):
    """A table with the usual initial values; float32 (rows, padded dim), zero beyond `dim`."""
    table = zero_rows(rows, dim)
    uniform(table, dim, seed)
    return table
