"""Pieces as entry points, so that tests can call them; and tables, addresses and blocks to call them with."""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST, POSITION, BlockSource, fill_block, keep_thresholds, new_block, rewind
from embeddings.kernels.jit import allocating_entry_point
from embeddings.kernels.logistic import logistic_loss, scores_to_steps
from embeddings.kernels.noise_sampling import alias_table
from embeddings.kernels.random_numbers import uniform_below, uniform_uint32
from embeddings.kernels.row_cache import flush, cached_row
from embeddings.kernels.row_operations import address, copy_row, padded, score, scatter_add, sum_rows, update
from embeddings.kernels.step_buffers import aligned_zeros, learn

TOLERANCE = {np.float32: 1e-5, np.float64: 1e-12}


@allocating_entry_point
def point(table, rows, out):
    for i in range(rows.shape[0]):
        out[i] = address(table, rows[i])


@allocating_entry_point
def kept_address(table, kept, word):
    return cached_row(table, kept, word)


@allocating_entry_point
def give_back_rows(table, kept):
    flush(table, kept)


def kept_row(table, kept, word):
    """The row that a thread is to use for a word, as an array."""
    where = kept_address(table, kept, word)
    for array in (kept.rows, table):
        at = (where - array.ctypes.data) // array.strides[0]
        if 0 <= at < len(array):
            return array[at]
    raise AssertionError("it is nowhere")


@allocating_entry_point
def score_rows(scores, inputs, m, targets, n, width):
    score(scores, inputs, m, targets, n, width)


@allocating_entry_point
def update_rows(steps, read, moved, m, targets, n, width):
    update(steps, read, moved, m, targets, n, width)


@allocating_entry_point
def total_rows(factor, goal, rows, m, width):
    sum_rows(factor, goal[0], rows, m, width)


@allocating_entry_point
def share_rows(factor, source, rows, m, width):
    scatter_add(factor, source[0], rows, m, width)


@allocating_entry_point
def copy_rows(like, goal, source, width):
    for i in range(goal.shape[0]):
        copy_row(like, goal[i], source[i], width)


@allocating_entry_point
def learn_bundle(buffers, m, p, n, width, rate):
    learn(buffers, m, p, n, width, rate)


@allocating_entry_point
def loss_of_scores(scores, m, p, n, weights):
    return logistic_loss(scores, m, p, n, weights)


@allocating_entry_point
def steps_of_scores(scores, m, p, n, weights, rate):
    scores_to_steps(scores, m, p, n, weights, rate)


@allocating_entry_point
def below_each(bits, n, out):
    for i in range(bits.shape[0]):
        out[i] = uniform_below(bits[i], n)


@allocating_entry_point
def coin_each(bits, out):
    for i in range(bits.shape[0]):
        out[i] = uniform_uint32(bits[i])


class Rows(NamedTuple):
    """A table, the same in float64 for the twin, and picked rows of it: as addresses and as views."""

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
    out = np.zeros(len(rows), np.int64)
    point(table, np.asarray(rows, np.int64), out)
    return out


def rows(rng, count, dim, dtype, *, among=None, scale=0.3):
    """`count` rows picked among fewer, so that some repeat, or the very first ones if `among` is None."""
    size = max(count, 1) if among is None else among
    table = aligned_zeros(size, padded(dim), dtype)
    table[:, :dim] = rng.normal(size=(size, dim)) * scale
    picked = np.arange(count) if among is None else rng.integers(0, size, count)
    twin = table.astype(np.float64)
    return Rows(table, twin, addresses(table, picked), [twin[i] for i in picked])


def lines_of(*lengths):
    """Borders of lines of these lengths."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def source(ids, lines, vocabulary, *, keep=1.0, window=5, shrink=True, weights=None, windows_per_draw=1):
    """What `fill` reads, for ids and borders of lines."""
    chances = np.broadcast_to(np.asarray(keep, np.float64), vocabulary)
    noise = alias_table(np.ones(vocabulary) if weights is None else weights)
    return BlockSource(np.asarray(ids, np.int32), lines, keep_thresholds(chances), noise, window, shrink, windows_per_draw)


def choices(block):
    """What a filled block holds: (centre, contexts, noise) of each centre."""
    found = []
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        left, right = block.words[block.start[i] : i], block.words[i + 1 : block.stop[i]]
        found.append((int(block.words[i]), [*map(int, left), *map(int, right)], block.noise[i].tolist()))
    return found


def places(block):
    """The same with what stands where: (i, words, start, stop, noise) of each centre, at i."""
    line = block.words.tolist()
    return [
        (i, line, int(block.start[i]), int(block.stop[i]), block.noise[i].tolist())
        for i in range(block.cursor[FIRST], block.cursor[LAST])
    ]


def filled(text, begin, end, key, size, negatives):
    """The choices of each block of a share, as `fill` makes them, and the words that it says it read."""
    block, rng = new_block(text.window, negatives, size), np.array([key, 0], np.uint64)
    rewind(block, text, begin, end)
    found, read = [], 0
    while block.cursor[POSITION] < end:
        words = fill_block(block, text, rng)
        assert words > 0
        read += words
        found.append(choices(block))
    assert fill_block(block, text, rng) == 0
    assert choices(block) == []
    return found, read
