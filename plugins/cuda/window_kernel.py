"""Skip-gram and CBOW with negative sampling on a GPU: a kernel for each shape of model.

The steps are those of the kernels for processors (equation 4 of Mikolov et al. 2013b): with an input row h, its target
rows o_j (the centre with label y = 1, negative samples with y = 0) and the learning rate,

    g_j = rate * (y_j - sigmoid(h · o_j))    h += sum_j g_j o_j, of o before the step    o_j += g_j h

A block of threads takes a chunk of CHUNK words and subsamples it into shared memory; windows are cut at its ends and at
those of lines. Each of its warps then learns units: up to `share` windows, 2 * window + 1 words apart so that they have
no word in common, with the same negative samples. The rows of these stay in registers, four neighbouring numbers of
each row in a lane, and what they change is added to the table at the end. Rows of contexts and centres are read and
added to at each step. All additions are atomic, so that none is lost, but their order is not fixed. Every random choice
is a hash of a key and a position in the corpus.
"""

from collections import namedtuple
from functools import cache
from math import exp, log1p
from typing import Any

import numpy as np
from numba import cuda, float32, int32

from embeddings.kernels import random_numbers as numbers
from embeddings.kernels.loss_tally import LOSS_INTERVAL
from embeddings.kernels.random_numbers import LOW_MASK
from embeddings.plugins.cuda import warp
from embeddings.plugins.cuda.warp import device, from_lane, from_other

LANES = 32
MAX_TARGETS = 8  # of a window; four lanes get the score of each
SECTOR = 8  # numbers in 32 bytes, the unit in which a GPU reads memory; rows are padded to it
CHUNK = 1024  # words that a block of threads takes at a time, before subsampling
NEW_LINE = np.int32(-(2**31))  # the bit that is set in the id of the first word of a line
LOSS, EXAMPLES, STEPS = range(3)  # of `tally`
NOISE, WINDOWS = np.uint64(1), np.uint64(2)  # added to the key, for choices of different kinds


# What a kernel is compiled for, all int, flags 0 or 1. width: numbers of a row in the memory of the card; numbers: of
# these in a lane. targets: the centre and the negative samples. share: windows with the same negative samples. shrinks:
# windows have random sizes, 1 to `window`. cbow: the mean of a window's contexts is the input, else each context is.
# vector_atomics: the card can add four numbers at a time.
Shape = namedtuple("Shape", "width numbers targets window share shrinks cbow vector_atomics")
# What a warp learns: the `n` kept words of a chunk, the first of which is word `place` of the corpus, and their lines;
# tables of inputs and outputs, the alias table of the noise, the learning rate and the key of random choices.
# In registers, a lane's parts of rows. input, following: the input row of this step and of the next one. input_change:
# of this step. targets: first the centre, then negative samples; target_changes: not yet added to the table. scores:
# (8,). tally: (3,).
Work = namedtuple(
    "Work",
    "words lines n place inputs outputs noise rate key "
    "input following input_change targets target_changes scores tally",
)


random_bits, uniform_below = (
    device(getattr(one, "py_func", one)) for one in (numbers.random_bits, numbers.uniform_below)
)


@device
def draw_word(noise: Any, bits: Any) -> Any:
    """A word by the alias table of the noise distribution."""
    i = uniform_below(bits, noise.shape[0])
    cell = noise[i]
    return np.int64(cell >> np.uint64(32)) if (bits & LOW_MASK) > (cell & LOW_MASK) else i


@device
def fill(row: Any, first: Any, end: Any) -> None:
    """Set numbers of a row to 0."""
    for k in range(first, end):
        row[k] = float32(0)


@device
def load_row(shape: Any, table: Any, row: Any, lane: Any, rows: Any, first: Any) -> None:
    """Load a lane's part of a row to `rows` from `first` on."""
    for k in range(0, shape.numbers, 4):
        at, to = 4 * lane + LANES * k, first + k
        if at < shape.width:
            rows[to], rows[to + 1], rows[to + 2], rows[to + 3] = warp.load4(table, np.int64(row) * shape.width + at)
        else:
            fill(rows, to, to + 4)


@device
def add_row(shape: Any, table: Any, row: Any, lane: Any, rows: Any, first: Any) -> None:
    """Add `rows` from `first` on to a lane's part of a row."""
    for k in range(0, shape.numbers, 4):
        at, to = 4 * lane + LANES * k, first + k
        if at < shape.width:
            place, added = np.int64(row) * shape.width + at, (rows[to], rows[to + 1], rows[to + 2], rows[to + 3])
            if shape.vector_atomics:
                warp.add4(table, place, added)
            else:
                warp.add4_scalar(table, place, added)


@device
def sum_over_lanes(s: Any, lane: Any) -> Any:
    """The sums over all lanes of 8 numbers: lane l gets that of number l // 4, in 9 exchanges instead of 8 times 5."""
    half = 4
    while half > 0:  # a lane keeps one half of the sums, and gives the other half away
        for k in range(half):
            kept, given = s[k], s[half + k]
            if lane & (4 * half):
                kept, given = given, kept
            s[k] = kept + from_other(given, 4 * half)
        half //= 2
    pair = s[0] + from_other(s[0], 2)
    return pair + from_other(pair, 1)


@device
def learn_row(shape: Any, work: Any, lane: Any, is_used: Any, is_measured: Any) -> None:
    """One step of the input row with all targets, of which a lane leaves its own out if it is not used."""
    fill(work.scores, 0, MAX_TARGETS)
    fill(work.input_change, 0, shape.numbers)
    for j in range(shape.targets):
        for k in range(shape.numbers):
            work.scores[j] += work.input[k] * work.targets[j * shape.numbers + k]
    score, label = sum_over_lanes(work.scores, lane), float32(1) if lane < 4 else float32(0)
    if is_measured and is_used:
        away = -score if lane < 4 else score
        work.tally[LOSS] += max(away, float32(0)) + log1p(exp(-abs(away)))
    g = work.rate * (label - float32(1) / (float32(1) + exp(-score))) if is_used else float32(0)
    for j in range(shape.targets):
        step = from_lane(g, 4 * j)
        for k in range(shape.numbers):
            at = j * shape.numbers + k
            work.input_change[k] += step * work.targets[at]
            work.target_changes[at] += step * work.input[k]
            work.targets[at] += step * work.input[k]  # the next inputs see it


@device
def read_chunk(ids: Any, begin: Any, base: Any, keep: Any, key: Any, words: Any, lines: Any, counts: Any) -> Any:
    """Write the kept words of a chunk and their lines; returns how many. All threads of the block take part."""
    thread, threads = int32(cuda.threadIdx.x), int32(cuda.blockDim.x)
    lane, own, n, line = thread % LANES, thread // LANES, int32(0), int32(0)
    for start in range(begin, begin + CHUNK, threads):
        p = start + thread
        word = ids[p] if p < ids.shape[0] else int32(-1)
        is_new, word = word < 0 and p < ids.shape[0], word & ~NEW_LINE
        is_kept = word < keep.shape[0] and np.uint32(random_bits(key, np.uint64(base + p)) & LOW_MASK) <= keep[word]
        before, count = warp.count_lanes(is_kept, lane)
        lines_before, line_count = warp.count_lanes(is_new, lane)
        if lane == 0:
            counts[own], counts[LANES + own] = count, line_count
        cuda.syncthreads()
        place, own_line = n + before, line + lines_before + (1 if is_new else 0)
        for other in range(threads // LANES):
            if other < own:
                place, own_line = place + counts[other], own_line + counts[LANES + other]
            n, line = n + counts[other], line + counts[LANES + other]
        if is_kept:
            words[place], lines[place] = word, own_line
        cuda.syncthreads()
    return n


@device
def window_bounds(shape: Any, work: Any, i: Any) -> Any:
    """Where the window of centre i begins and ends; it does not cross the border of a line."""
    reach = shape.window
    if shape.shrinks:
        reach = 1 + uniform_below(random_bits(work.key + WINDOWS, np.uint64(work.place + i)), shape.window)
    start, stop = max(0, i - reach), min(work.n, i + reach + 1)
    while work.lines[start] != work.lines[i]:
        start += 1
    while work.lines[stop - 1] != work.lines[i]:
        stop -= 1
    return start, stop


@device
def context(work: Any, start: Any, x: Any, i: Any) -> Any:
    """Context x of a window that begins at `start`, without its centre i."""
    return work.words[start + x + (start + x >= i)]


@device
def learn_window(shape: Any, work: Any, start: Any, m: Any, i: Any, lane: Any, is_used: Any) -> None:
    """Learn from the m contexts of centre i: each is an input of skip-gram, and their mean is the one of CBOW."""
    is_measured = (work.place + i) % LOSS_INTERVAL == 0
    fill(work.input, 0, shape.numbers)
    load_row(shape, work.inputs, context(work, start, 0, i), lane, work.following, 0)
    for x in range(m):
        for k in range(shape.numbers):
            work.input[k] = work.input[k] + work.following[k] / float32(m) if shape.cbow else work.following[k]
        if x + 1 < m:  # the next row is loaded while this one is learned
            load_row(shape, work.inputs, context(work, start, x + 1, i), lane, work.following, 0)
        if not shape.cbow:
            learn_row(shape, work, lane, is_used, is_measured)
            add_row(shape, work.inputs, context(work, start, x, i), lane, work.input_change, 0)
    if shape.cbow:
        learn_row(shape, work, lane, is_used, is_measured)
        for x in range(m):  # each context gets the whole gradient of the mean
            add_row(shape, work.inputs, context(work, start, x, i), lane, work.input_change, 0)
    work.tally[EXAMPLES] += float32(is_measured) * float32(1 if shape.cbow else m)
    work.tally[STEPS] += float32(1)


@device
def learn_unit(shape: Any, work: Any, first: Any) -> None:
    """Learn the windows that share the negative samples of centre `first`."""
    lane, spacing = int32(cuda.threadIdx.x) % LANES, 2 * shape.window + 1
    # Each lane draws the target whose score it gets.
    draw = np.uint64((work.place + first) * MAX_TARGETS + (lane >> 2))
    own = draw_word(work.noise, random_bits(work.key + NOISE, draw))
    for j in range(1, shape.targets):
        load_row(shape, work.outputs, from_lane(own, 4 * j), lane, work.targets, j * shape.numbers)
    fill(work.target_changes, 0, shape.targets * shape.numbers)
    for i in range(first, min(work.n, first + shape.share * spacing), spacing):
        start, stop = window_bounds(shape, work, i)
        centre = work.words[i]
        if stop - start > 1:
            load_row(shape, work.outputs, centre, lane, work.targets, 0)
            fill(work.target_changes, 0, shape.numbers)
            # A negative sample equal to the centre is left out, as in word2vec.
            is_used = lane < 4 or (lane < 4 * shape.targets and own != centre)
            learn_window(shape, work, start, stop - start - 1, i, lane, is_used)
            add_row(shape, work.outputs, centre, lane, work.target_changes, 0)
    for j in range(1, shape.targets):
        add_row(shape, work.outputs, from_lane(own, 4 * j), lane, work.target_changes, j * shape.numbers)


def row_width(dim: int) -> int:
    """Numbers of a row in the memory of the card."""
    return -(-dim // SECTOR) * SECTOR


@cache
def window_kernel(
    dim: int, negatives: int, window: int, share: int, shrinks: int, cbow: int, vector_atomics: int
) -> Any:
    """The kernel for a model; see `Shape` for the arguments.

    It learns from `ids`, (words,) int32, the part of the corpus from word `base` on, in which `NEW_LINE` marks first
    words of lines, with the sampling tables of `embeddings.kernels.block.BlockSource`, the rows of `inputs` and
    `outputs`, padded to `row_width` and flat, and the `key` of all random choices. It counts chunks in `counter`, (1,)
    int32, and adds the loss and the number of examples of sampled windows and the steps to `total`, (3,) float32.
    """
    width, spacing, group = row_width(dim), 2 * window + 1, (2 * window + 1) * share
    row = 4 * -(-width // (4 * LANES))
    shape = Shape(width, row, 1 + negatives, window, share, int(shrinks), int(cbow), int(vector_atomics))
    targets, both_counts = shape.targets * row, 2 * LANES  # sizes of arrays must be constants

    @cuda.jit(fastmath=True)  # type: ignore[untyped-decorator]
    def learn(
        ids: Any, base: Any, keep: Any, noise: Any, inputs: Any, outputs: Any, counter: Any, total: Any, rate: Any,
        key: Any,
    ) -> None:  # fmt: skip
        # each on a line of its own, by which the simulator tells shared arrays apart
        words = cuda.shared.array(CHUNK, int32)
        lines = cuda.shared.array(CHUNK, int32)
        counts = cuda.shared.array(both_counts, int32)
        chosen = cuda.shared.array(1, int32)
        tally = cuda.local.array(3, float32)
        rows = (
            cuda.local.array(row, float32), cuda.local.array(row, float32), cuda.local.array(row, float32),
            cuda.local.array(targets, float32), cuda.local.array(targets, float32),
            cuda.local.array(MAX_TARGETS, float32), tally,
        )  # fmt: skip
        fill(tally, 0, 3)
        thread, warps = int32(cuda.threadIdx.x), int32(cuda.blockDim.x) // LANES
        while True:
            cuda.syncthreads()
            if thread == 0:
                chosen[0] = cuda.atomic.add(counter, 0, 1)
            cuda.syncthreads()
            begin = chosen[0] * CHUNK
            if begin >= ids.shape[0]:
                break
            n = np.int64(read_chunk(ids, begin, base, keep, key, words, lines, counts))
            work = Work(words, lines, n, np.int64(base + begin), inputs, outputs, noise, rate, key, *rows)
            for unit in range(thread // LANES, -(-n // group) * spacing, warps):
                first = unit // spacing * group + unit % spacing
                if first < n:
                    learn_unit(shape, work, first)
        if thread % 4 == 0:  # four lanes have the loss of the same target, and all lanes of a warp the same counts
            for k in range(3):
                cuda.atomic.add(total, k, tally[k] / float32(1 if k == LOSS else LANES // 4))

    return learn
