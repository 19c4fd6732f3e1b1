"""Pieces as entry points, so that tests can call them; and tables, addresses and blocks to call them with."""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST, POSITION, Source, fill, keep_thresholds, new_block, rewind
from embeddings.kernels.jit import kernel
from embeddings.kernels.logistic import loss, to_steps
from embeddings.kernels.noise_sampling import alias_table
from embeddings.kernels.random_numbers import below, coin
from embeddings.kernels.row_cache import give_back, row_of
from embeddings.kernels.row_operations import address, copy, padded, score, share, total, update
from embeddings.kernels.step_buffers import aligned, learn

TOLERANCE = {np.float32: 1e-5, np.float64: 1e-12}


@kernel
def point(table, rows, out):
    for i in range(rows.shape[0]):
        out[i] = address(table, rows[i])


@kernel
def kept_address(table, kept, word):
    return row_of(table, kept, word)


@kernel
def give_back_rows(table, kept):
    give_back(table, kept)


def kept_row(table, kept, word):
    """The row that a thread is to use for a word, as an array."""
    where = kept_address(table, kept, word)
    for array in (kept.rows, table):
        at = (where - array.ctypes.data) // array.strides[0]
        if 0 <= at < len(array):
            return array[at]
    raise AssertionError("it is nowhere")


@kernel
def score_rows(scores, inputs, m, targets, n, width):
    score(scores, inputs, m, targets, n, width)


@kernel
def update_rows(steps, read, moved, m, targets, n, width):
    update(steps, read, moved, m, targets, n, width)


@kernel
def total_rows(factor, goal, rows, m, width):
    total(factor, goal[0], rows, m, width)


@kernel
def share_rows(factor, source, rows, m, width):
    share(factor, source[0], rows, m, width)


@kernel
def copy_rows(like, goal, source, width):
    for i in range(goal.shape[0]):
        copy(like, goal[i], source[i], width)


@kernel
def learn_bundle(bundle, m, p, n, width, rate):
    learn(bundle, m, p, n, width, rate)


@kernel
def loss_of_scores(scores, m, p, n, weights):
    return loss(scores, m, p, n, weights)


@kernel
def steps_of_scores(scores, m, p, n, weights, rate):
    to_steps(scores, m, p, n, weights, rate)


@kernel
def below_each(bits, n, out):
    for i in range(bits.shape[0]):
        out[i] = below(bits[i], n)


@kernel
def coin_each(bits, out):
    for i in range(bits.shape[0]):
        out[i] = coin(bits[i])


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
    table = aligned(size, padded(dim), dtype)
    table[:, :dim] = rng.normal(size=(size, dim)) * scale
    picked = np.arange(count) if among is None else rng.integers(0, size, count)
    twin = table.astype(np.float64)
    return Rows(table, twin, addresses(table, picked), [twin[i] for i in picked])


def lines_of(*lengths):
    """Borders of lines of these lengths."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def source(ids, lines, vocabulary, *, keep=1.0, window=5, shrink=True, weights=None, sharing=1):
    """What `fill` reads, for ids and borders of lines."""
    chances = np.broadcast_to(np.asarray(keep, np.float64), vocabulary)
    noise = alias_table(np.ones(vocabulary) if weights is None else weights)
    return Source(np.asarray(ids, np.int32), lines, keep_thresholds(chances), noise, window, shrink, sharing)


def choices(block):
    """What a filled block holds: (centre, contexts, noise) of each centre."""
    found = []
    for i in range(block.place[FIRST], block.place[LAST]):
        left, right = block.words[block.start[i] : i], block.words[i + 1 : block.stop[i]]
        found.append((int(block.words[i]), [*map(int, left), *map(int, right)], block.noise[i].tolist()))
    return found


def places(block):
    """The same with what stands where: (i, words, start, stop, noise) of each centre, at i."""
    line = block.words.tolist()
    return [
        (i, line, int(block.start[i]), int(block.stop[i]), block.noise[i].tolist())
        for i in range(block.place[FIRST], block.place[LAST])
    ]


def filled(text, begin, end, key, size, negatives):
    """The choices of each block of a share, as `fill` makes them, and the words that it says it read."""
    block, rng = new_block(text.window, negatives, size), np.array([key, 0], np.uint64)
    rewind(block, text, begin, end)
    found, read = [], 0
    while block.place[POSITION] < end:
        words = fill(block, text, rng)
        assert words > 0
        read += words
        found.append(choices(block))
    assert fill(block, text, rng) == 0
    assert choices(block) == []
    return found, read
