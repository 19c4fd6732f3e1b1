"""A lattice block: a thread's next few thousand text positions, with the n-grams that start at each.

N-grams that end at a position and n-grams that start there are adjacent. All n-grams are the edges of a lattice
that holds every segmentation of the text into n-grams. All random choices are made here.
"""

from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point, inline
from embeddings.corpora.token_trie import NONE, TokenTrie, find_sequences
from embeddings.kernels.block import (
    END,
    FIRST,
    LAST,
    LINE,
    MAX_BLOCK_NOISE,
    POSITION,
    all_in_range,
    draw_noise,
    is_valid_cursor,
    new_cursor,
)
from embeddings.kernels.line_operations import line_end
from embeddings.kernels.random_numbers import random_bits, uniform_uint32
from embeddings.kernels.row_operations import address
from embeddings.kernels.step_buffers import StepBuffers, new_step_buffers

LATTICE_SIZE = 8192  # positions in a block
BORDER = NONE - 1  # in place of n-grams, between two lines
POSITIVES_PER_NOISE = 2  # positives per shared negative sample


class LatticeSource(NamedTuple):
    """The corpus and sampling tables that all threads read.

    ids: (tokens,); lines: (lines + 1,) line boundaries in `ids`.
    trie: finds n-grams in `ids`.
    keep_thresholds: (vocabulary,) uint32, for subsampling.
    noise: (vocabulary,) alias table of the noise distribution.
    windows_per_draw: how many positions, too far apart for one n-gram, share one set of negative samples.
    window: how many boundaries of n-grams, from a position backwards, are its contexts.
    """

    ids: np.ndarray
    lines: np.ndarray
    trie: TokenTrie
    keep_thresholds: np.ndarray
    noise: np.ndarray
    windows_per_draw: int
    window: int = 1


class LatticeBlock(NamedTuple):
    """Positions `cursor[FIRST]` to `cursor[LAST]` of a text, after a history of the previous positions.

    `starts[i, n - 1]` is the n-gram of n tokens that starts at position i, or -1. `noise[i]` (negatives * groups,) are
    the negative samples of position i: enough for as many n-grams as can start or end there.
    """

    starts: np.ndarray
    noise: np.ndarray
    cursor: np.ndarray


def new_lattice(longest: int, negatives: int, size: int = LATTICE_SIZE, window: int = 1) -> LatticeBlock:
    """An empty block for n-grams of up to `longest` tokens, small enough for a core's private cache."""
    noise, history = noise_groups(window * longest) * negatives, longest + window - 1
    size = max(min(size, MAX_BLOCK_NOISE // max(noise, 1)), history + 1)
    rows = np.full((history + size + 1, longest), NONE, np.int32)
    return LatticeBlock(rows, np.zeros((len(rows), noise), np.int32), new_cursor())


def is_valid_lattice(block: LatticeBlock, source: LatticeSource, begin: int, end: int) -> bool:
    """Whether training can continue from a restored block of the share `ids[begin:end]`: kernels check no bounds."""
    history = block.starts.shape[1] + source.window - 1
    first, last = block.cursor[FIRST : LAST + 1].tolist()
    is_ordered = first == last == 0 or history == first <= last <= len(block.starts)
    has_valid_ngrams = all_in_range(block.starts, len(source.keep_thresholds), BORDER)
    has_valid_noise = all_in_range(block.noise, len(source.noise))
    return (
        is_ordered and has_valid_ngrams and has_valid_noise and is_valid_cursor(block.cursor, source.lines, begin, end)
    )


@inline
def noise_groups(positives: int) -> int:
    """The number of groups of negative samples for positives that share them."""
    return (positives + POSITIVES_PER_NOISE - 1) // POSITIVES_PER_NOISE


@entry_point
def fill_lattice(block: LatticeBlock, source: LatticeSource, rng: np.ndarray) -> int:
    """Read tokens until the block is full or the share ends; returns how many were read.

    `rng` (2,) is a key and a counter.
    """
    cursor, size = block.cursor, block.starts.shape[0] - 1
    history = block.starts.shape[1] + source.window - 1
    position, end, line = cursor[POSITION], cursor[END], cursor[LINE]
    before, n = position, history
    carry_over(block, source, rng)
    while position < end and n < size:
        stop = max(position, line_end(source.lines, line, source.ids.shape[0]))
        begin, border = position, min(stop, end)
        while position < border and n < size:
            find_starts(block, source, n, position, stop, rng)
            position += 1
            n += 1
        if position == stop:
            line += 1
            if position > begin:  # the last n-grams of a line and the first of the next are not adjacent
                block.starts[n, :] = BORDER
                n += 1
    draw_noise(block.noise, source.noise, history + 1, source.windows_per_draw, history, n, rng)
    cursor[POSITION], cursor[LINE], cursor[FIRST], cursor[LAST] = position, line, history, n
    return int(position - before)


@inline
def carry_over(block: LatticeBlock, source: LatticeSource, rng: np.ndarray) -> None:
    """Copy the history to the start of the block: the n-grams of earlier positions may end in this block."""
    cursor, longest = block.cursor, block.starts.shape[1]
    last, line, history = cursor[LAST], cursor[LINE], longest + source.window - 1
    for i in range(history):
        position = cursor[POSITION] - history + i
        if last != 0:
            for n in range(longest):
                block.starts[i, n] = block.starts[last - history + i, n]
        elif cursor[POSITION] < cursor[END] and position >= max(line_end(source.lines, line - 1, cursor[END]), 0):
            find_starts(block, source, i, position, line_end(source.lines, line, source.ids.shape[0]), rng)
        else:
            block.starts[i, :] = NONE


@inline
def find_starts(block: LatticeBlock, source: LatticeSource, i: int, position: int, end: int, rng: np.ndarray) -> None:
    """Find and subsample the n-grams that start at a position of the text, which is position i of the block."""
    ngrams = block.starts[i]
    if find_sequences(source.trie, source.ids, position, end, ngrams) == 0:
        return
    for n in range(source.trie.longest):
        ngram = ngrams[n]
        if ngram >= 0:
            if uniform_uint32(random_bits(rng[0], rng[1])) > source.keep_thresholds[ngram]:
                ngrams[n] = NONE
            rng[1] += np.uint64(1)


@inline
def adjacent_ngrams(block: LatticeBlock, buffers: StepBuffers, i: int, window: int) -> tuple[int, int]:
    """Write the n-grams that end at position i, then the n-grams that start at i, to `contexts`; returns both counts.

    With a window of more than 1, n-grams that end up to `window` - 1 positions earlier on the line count too.
    """
    lefts = rights = 0
    for gap in range(window):
        if gap > 0 and block.starts[i - gap, 0] == BORDER:
            break
        for n in range(block.starts.shape[1]):
            ngram = block.starts[i - gap - n - 1, n]
            if ngram >= 0:
                buffers.contexts[lefts] = ngram
                lefts += 1
    for n in range(block.starts.shape[1]):
        ngram = block.starts[i, n]
        if ngram >= 0:
            buffers.contexts[lefts + rights] = ngram
            rights += 1
    return lefts, rights


@inline
def fill_targets(output: np.ndarray, buffers: StepBuffers, positives: np.ndarray, noise: np.ndarray) -> int:
    """Write the rows and weights of positives and of their shared negative samples; returns the number of rows.

    Each negative sample stands for one or two positives, but not for an equal positive.
    """
    p = positives.shape[0]
    count = noise_groups(p) * (noise.shape[0] // noise_groups(buffers.inputs.shape[0]))
    for j in range(p):
        buffers.targets[j], buffers.weights[j] = address(output, positives[j]), 1
    for j in range(count):
        others = 0
        for q in range(p):
            others += positives[q] != noise[j]
        buffers.targets[p + j], buffers.weights[p + j] = address(output, noise[j]), others / noise_groups(p)
    return int(p + count)


def new_lattice_buffers(
    longest: int, negatives: int, width: int, *, max_parts: int = 0, dtype: type = np.float32, window: int = 1
) -> StepBuffers:
    """Step buffers for n-grams of up to `longest` tokens; `max_parts` is for n-grams that are sums of rows."""
    longest *= window
    targets = longest + noise_groups(longest) * negatives
    contexts, rows = 2 * longest + max_parts, 2 * longest if max_parts else 0
    return new_step_buffers(longest, targets, width, contexts=contexts, rows=rows, dtype=dtype)
