"""A block: a thread's next few thousand words, with every random choice already made.

Subsampling, window sizes and negative samples are drawn here for all models, so a model's own kernel is a
deterministic function of a block, and the naive reference implementation in the tests gets the same choices.
"""

from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point, inline
from embeddings.kernels.integers import larger, smaller
from embeddings.kernels.line_operations import line_end
from embeddings.kernels.random_numbers import UINT32_MAX, draw_word, random_bits, uniform_below, uniform_uint32
from embeddings.kernels.separate_arrays import separate_zeros

BLOCK_SIZE = 8192  # words
MAX_BLOCK_NOISE = 2**17  # negative samples
POSITION, END, LINE, HISTORY_START, FILLED, FIRST, LAST, SPACING = range(8)  # of `Block.cursor`
NO_ROWS, NO_DOCUMENTS = np.zeros(0, np.int64), np.zeros(0, np.int32)  # where lines are not documents


class BlockSource(NamedTuple):
    """The corpus and sampling tables that all threads read.

    ids: (words,) frequency ranks; `len(keep_thresholds)` and above are out of vocabulary.
    lines: (lines + 1,) sentence boundaries in `ids`.
    keep_thresholds: (vocabulary,) uint32, for subsampling.
    noise: (vocabulary,) alias table of the noise distribution.
    windows_per_draw: how many disjoint windows share one set of negative samples.
    document_rows: (lines,) the row of each line in the table of documents, where lines are documents.
    """

    ids: np.ndarray
    lines: np.ndarray
    keep_thresholds: np.ndarray
    noise: np.ndarray
    window: int
    shrink_window: bool
    windows_per_draw: int
    document_rows: np.ndarray = NO_ROWS


class Block(NamedTuple):
    """Words and the random choices made for them.

    Centres are `words[cursor[FIRST]:cursor[LAST]]`. The context of centre i is `words[start[i]:stop[i]]` without
    `words[i]`; its negative samples are `noise[i]` (negatives,). `inputs[i]` is the input row of word i: the word
    itself, unless a model composes rows. `documents[i]` is the row of centre i's document, where lines are documents.

    `cursor` also holds the position in `ids`, the end of the thread's share of them, the current line, the number of
    words filled in, where the left context of the next block starts, and how many centres apart windows may share
    negative samples.
    """

    words: np.ndarray
    inputs: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    noise: np.ndarray
    cursor: np.ndarray
    documents: np.ndarray = NO_DOCUMENTS


def new_block(window: int, noise: int, size: int = BLOCK_SIZE, *, documents: bool = False) -> Block:
    """An empty block with room for `noise` negative samples per centre, small enough for a core's own cache.

    It holds at least two full windows, so that every call of `fill_block` makes progress. `documents` is for a source
    with `document_rows`.
    """
    # With many negative samples per word, as for full windows of pairs, the block shrinks instead of leaving the cache.
    size = max(min(size, MAX_BLOCK_NOISE // max(noise, 1)), 4 * window + 2)
    bounds = np.zeros(size, np.int64)
    samples = np.zeros((size, noise), np.int32)
    words = np.zeros(size, np.int32)
    rows = np.zeros(size, np.int32) if documents else NO_DOCUMENTS
    return Block(words, words, bounds, bounds.copy(), samples, new_cursor(), rows)


def new_cursor() -> np.ndarray:
    """The `cursor` of a new block, int64."""
    return separate_zeros(SPACING + 1, np.int64)


def rewind(block: Block, source: BlockSource, begin: int, end: int) -> None:
    """Move an emptied block to the start of the share `ids[begin:end]`."""
    line = int(np.searchsorted(source.lines, begin, side="right"))
    block.cursor[:] = begin, end, line, 0, 0, 0, 0, 0


def is_valid_block(block: Block, source: BlockSource, begin: int, end: int) -> bool:
    """Whether training can continue from a restored block of `ids[begin:end]`; kernels do not check bounds."""
    size, words = len(block.words), len(source.keep_thresholds)
    start, filled, first, last = block.cursor[HISTORY_START : LAST + 1].tolist()
    is_ordered = 0 <= first <= last <= filled <= size and 0 <= start <= last
    limits = [(block.words, words), (block.inputs, words), (block.start, size), (block.stop, size + 1)]
    limits += [(block.noise, len(source.noise)), (block.documents, 1 + int(source.document_rows.max(initial=0)))]
    return (
        is_ordered
        and is_valid_cursor(block.cursor, source.lines, begin, end)
        and all(all_in_range(numbers[:filled], stop) for numbers, stop in limits)  # beyond `filled` nothing is read
    )


def is_valid_cursor(cursor: np.ndarray, lines: np.ndarray, begin: int, end: int) -> bool:
    """Whether the position is in `ids[begin:end]`, and the current line contains it or comes before it."""
    position, stop, line = cursor[: LINE + 1].tolist()
    inside = begin <= position <= stop == end
    return bool(inside and (position == end or 1 <= line <= np.searchsorted(lines, position, side="right")))


def all_in_range(numbers: np.ndarray, stop: int, start: int = 0) -> bool:
    """Whether all numbers are in `range(start, stop)`."""
    return not numbers.size or (int(numbers.min()) >= start and int(numbers.max()) < stop)


def keep_thresholds(probabilities: np.ndarray) -> np.ndarray:
    """Keep probabilities as thresholds for `uniform_uint32`, uint32 (vocabulary,); probability 1 always keeps."""
    return np.round(np.asarray(probabilities, np.float64) * UINT32_MAX).astype(np.uint32)


@entry_point
def fill_block(block: Block, source: BlockSource, rng: np.ndarray) -> int:
    """Read words until the block is full or the share ends; returns how many ids were read.

    A line that continues beyond the block is not cut: its last words stay as contexts for the next block. `rng` (2,)
    is a key and a counter.
    """
    cursor, size = block.cursor, block.words.shape[0]
    # First of all: the words of a line that the last block could not finish are still its contexts.
    move_unfinished_line(block)
    position, end, line, n = cursor[POSITION], cursor[END], cursor[LINE], cursor[FILLED]
    before, begin, first = position, 0, cursor[FIRST]
    while position < end and n < size:
        border = larger(position, line_end(source.lines, line, end))  # broken boundaries must not cause an endless loop
        position, n = subsample_words(block.words, n, source, position, border, rng)
        # If the block ended within the line, the last `window` words wait as centres until their right contexts have
        # been read.
        is_complete = position == border
        last = n if is_complete else larger(first, n - source.window)
        draw_windows(block, source, begin, first, last, n, rng)
        set_documents(block, source, first, last, line)
        first = last
        if is_complete:
            begin = n
            line += 1
    spacing = 2 * source.window + 1
    # Last, for all centres at once: the number of centres is known only now.
    draw_noise(block.noise, source.noise, spacing, source.windows_per_draw, cursor[FIRST], first, rng)
    cursor[POSITION], cursor[LINE], cursor[FILLED], cursor[LAST] = position, line, n, first
    cursor[HISTORY_START], cursor[SPACING] = larger(begin, first - source.window), spacing
    read: int = position - before
    return read


@inline
def move_unfinished_line(block: Block) -> None:
    """Move the words of an unfinished line to the front: left contexts, then the remaining centres."""
    cursor = block.cursor
    start, filled = cursor[HISTORY_START], cursor[FILLED] - cursor[HISTORY_START]
    for i in range(filled):
        block.words[i] = block.words[start + i]
    cursor[HISTORY_START], cursor[FILLED], cursor[FIRST] = 0, filled, cursor[LAST] - start


@inline
def subsample_words(
    words: np.ndarray, n: int, source: BlockSource, position: int, border: int, rng: np.ndarray
) -> tuple[int, int]:
    """Subsample ids up to a border or until the block is full; returns the next position and word count."""
    key, counter = rng[0], rng[1]
    begin, vocabulary, size = position, source.keep_thresholds.shape[0], words.shape[0]
    while position < border and n < size:
        # Through uint32: a negative id of a damaged file becomes an unknown word, not an index out of bounds.
        word = np.int64(np.uint32(source.ids[position]))
        row = smaller(word, vocabulary - 1)  # without a branch, which would often be mispredicted
        uniform = uniform_uint32(random_bits(key, counter + np.uint64(position - begin)))
        # Written always, and kept by advancing n: one store more is cheaper than a branch that depends on a random
        # number.
        words[n] = word
        n += (word < vocabulary) & (uniform <= source.keep_thresholds[row])
        position += 1
    # One number for each word read, kept or not, so that the draws of a word do not depend on those before it.
    rng[1] = counter + np.uint64(position - begin)
    return position, n


@inline
def draw_windows(
    block: Block, source: BlockSource, begin: int, first: int, last: int, end: int, rng: np.ndarray
) -> None:
    """Draw window sizes for centres first to last of a line whose words are begin to end."""
    key, counter, reach = rng[0], rng[1], source.window
    for i in range(first, last):
        if source.shrink_window:
            reach = 1 + uniform_below(random_bits(key, counter + np.uint64(i - first)), source.window)
        block.start[i] = larger(begin, i - reach)
        block.stop[i] = smaller(end, i + reach + 1)
    # Also without shrinking windows, so that both settings draw the same negative samples.
    rng[1] = counter + np.uint64(last - first)


@inline
def set_documents(block: Block, source: BlockSource, first: int, last: int, line: int) -> None:
    """Set the document of centres first to last, where lines are documents."""
    if source.document_rows.shape[0] > 0:
        # `line` counts from 1 here: it is the line whose end comes next. Broken boundaries are clipped to the last row.
        for i in range(first, last):
            block.documents[i] = source.document_rows[smaller(line, source.document_rows.shape[0]) - 1]


@inline
def draw_noise(
    samples: np.ndarray, table: np.ndarray, spacing: int, windows_per_draw: int, first: int, last: int, rng: np.ndarray
) -> None:
    """Draw negative samples for centres first to last, or reuse those of the centre `spacing` words before.

    Windows `spacing` apart do not overlap, so no context meets the same samples twice and quality does not suffer.
    Rows of negative samples are scattered in memory; reusing those still in the core's own cache is almost free.
    """
    key, counter, negatives, flat = rng[0], rng[1], samples.shape[1], samples.reshape(samples.size)
    # Centres are taken in runs of `spacing`: the next run is as far away as windows that may share.
    run = spacing if windows_per_draw > 1 else larger(last - first, 1)
    for begin in range(first, last, run):
        start, stop = begin * negatives, smaller(begin + run, last) * negatives
        if (begin - first) // run % windows_per_draw == 0:
            for i in range(start, stop):
                flat[i] = draw_word(table, random_bits(key, counter + np.uint64(i - start)))
            counter += np.uint64(stop - start)
        else:
            for i in range(start, stop):
                flat[i] = flat[i - spacing * negatives]
    rng[1] = counter
