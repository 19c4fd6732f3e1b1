"""A thread's next few thousand words, with every random choice made: what a model learns from.

Sub-sampling, windows and noise words are drawn here for all models alike, so a model's own kernel is a plain
function of a block, and its slow twin in the tests can be handed the very same choices.
"""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.jit import hot, piece
from embeddings.kernels.noise_sampling import pick
from embeddings.kernels.random_numbers import MOST, below, coin, random

SIZE = 8192  # words a block holds
NOISE = 2**17  # noise words it holds
POSITION, END, LINE, FROM, HELD, FIRST, LAST = range(7)  # of `Block.place`
NO_ROWS, NO_DOCUMENTS = np.zeros(0, np.int64), np.zeros(0, np.int32)  # where lines are no documents


class Source(NamedTuple):
    """What all threads read.

    `ids` (words,) are ranks; those of rank `len(keep)` and beyond are out of the vocabulary. `lines` (lines + 1,)
    are the borders of sentences in `ids`. `keep` (vocabulary,) are thresholds.
    `noise` is an alias table, (vocabulary, 2); each of its draws serves `sharing` windows that have no word in common.
    Where lines are documents `rows` (lines,) are their rows in the table of documents.
    """

    ids: np.ndarray
    lines: np.ndarray
    keep: np.ndarray
    noise: np.ndarray
    window: int
    shrink: bool
    sharing: int
    rows: np.ndarray = NO_ROWS


class Block(NamedTuple):
    """Words and the choices made for them.

    Centres are `words[place[FIRST]:place[LAST]]`; the context of centre i is `words[start[i]:stop[i]]` without
    `words[i]`; its noise words are `noise[i]` (negatives,). `place` also says where the thread is in its share.
    `inputs[i]` is the row that word i is in the table that goes in: the word's own, unless a model has it otherwise.
    Where lines are documents `documents[i]` is the row of the document of centre i.
    """

    words: np.ndarray
    inputs: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    noise: np.ndarray
    place: np.ndarray
    documents: np.ndarray = NO_DOCUMENTS


def new_block(window: int, noise: int, size: int = SIZE, *, documents: bool = False) -> Block:
    """An empty block with so many noise words for a centre; it stays small enough for a core's own cache.

    It holds at least two full windows, so that every filling goes forward. `documents` are there if asked for, as a
    source with `rows` needs them.
    """
    size = max(min(size, NOISE // noise), 4 * window + 2)
    bounds = np.zeros(size, np.int64)
    chosen = np.zeros((size, noise), np.int32)
    words = np.zeros(size, np.int32)
    rows = np.zeros(size, np.int32) if documents else NO_DOCUMENTS
    return Block(words, words, bounds, bounds.copy(), chosen, np.zeros(7, np.int64), rows)


def rewind(block: Block, source: Source, begin: int, end: int) -> None:
    """Put a block at the start of the share `ids[begin:end]`, with nothing held."""
    line = int(np.searchsorted(source.lines, begin, side="right"))
    block.place[:] = begin, end, line, 0, 0, 0, 0


def sound(block: Block, source: Source, begin: int, end: int) -> bool:
    """Whether a block that was put back can be gone on from in `ids[begin:end]`: kernels look at no bounds."""
    size, words = len(block.words), len(source.keep)
    start, held, first, last = block.place[FROM:].tolist()
    ordered = 0 <= first <= last <= held <= size and 0 <= start <= last
    limits = [(block.words, words), (block.inputs, words), (block.start, size), (block.stop, size + 1)]
    limits += [(block.noise, len(source.noise)), (block.documents, 1 + int(source.rows.max(initial=0)))]
    return (
        ordered
        and on_the_way(block.place, source.lines, begin, end)
        and all(
            within(numbers[:held], stop)
            for numbers, stop in limits  # what was held before is not looked at again
        )
    )


def on_the_way(place: np.ndarray, lines: np.ndarray, begin: int, end: int) -> bool:
    """Whether a place is one of `ids[begin:end]`, with the line that it is in, or an earlier one that is over."""
    position, stop, line = place[: LINE + 1].tolist()
    inside = begin <= position <= stop == end
    return bool(inside and (position == end or 1 <= line <= np.searchsorted(lines, position, side="right")))


def within(numbers: np.ndarray, stop: int, start: int = 0) -> bool:
    """Whether all numbers are from `start` to below `stop`."""
    return not numbers.size or (int(numbers.min()) >= start and int(numbers.max()) < stop)


def keep_thresholds(probabilities: np.ndarray) -> np.ndarray:
    """The largest coin with which a word stays, uint32 (vocabulary,): a chance of 1 keeps it always."""
    return np.round(np.asarray(probabilities, np.float64) * MOST).astype(np.uint32)


@hot
def fill(block: Block, source: Source, rng: np.ndarray) -> int:
    """Read on until the block is full or the share ends; gives how many words of the corpus were read.

    A line that goes on beyond the block is not cut: its last words stay, as contexts of the next block.
    `rng` (2,) is a key and a counter.
    """
    place, size = block.place, block.words.shape[0]
    hold_back(block)
    position, end, line, n = place[POSITION], place[END], place[LINE], place[HELD]
    before, begin, first = position, 0, place[FIRST]
    while position < end and n < size:
        border = max(position, min(source.lines[line], end))  # broken borders must not stop the clock
        position, n = keep_some(block.words, n, source, position, border, rng)
        closed = position == border
        last = n if closed else max(first, n - source.window)
        draw_windows(block, source, begin, first, last, n, rng)
        name_document(block, source, first, last, line)
        first = last
        if closed:
            begin = n
            line += 1
    apart = 2 * source.window + 1
    draw_noise(block.noise, source.noise, apart, source.sharing, place[FIRST], first, rng)
    place[POSITION], place[LINE], place[HELD], place[LAST] = position, line, n, first
    place[FROM] = max(begin, first - source.window)
    return int(position - before)


@piece
def hold_back(block: Block) -> None:
    """Move the words of an unfinished line to the front: contexts on the left, then centres still to come."""
    place = block.place
    start, held = place[FROM], place[HELD] - place[FROM]
    for i in range(held):
        block.words[i] = block.words[start + i]
    place[FROM], place[HELD], place[FIRST] = 0, held, place[LAST] - start


@piece
def keep_some(
    words: np.ndarray, n: int, source: Source, position: int, border: int, rng: np.ndarray
) -> tuple[int, int]:
    """Sub-sample ids up to a border or until the block is full; gives the next position and the words held."""
    key, counter = rng[0], rng[1]
    begin, vocabulary, size = position, source.keep.shape[0], words.shape[0]
    while position < border and n < size:
        word = source.ids[position]
        if (
            np.uint32(word) < vocabulary
            and coin(random(key, counter + np.uint64(position - begin))) <= source.keep[word]
        ):
            words[n] = word
            n += 1
        position += 1
    rng[1] = counter + np.uint64(position - begin)
    return position, n


@piece
def draw_windows(block: Block, source: Source, begin: int, first: int, last: int, end: int, rng: np.ndarray) -> None:
    """Contexts for centres first to last of a line that holds words begin to end: 1 to `window` on both sides."""
    key, counter, reach = rng[0], rng[1], source.window
    for i in range(first, last):
        if source.shrink:
            reach = 1 + int(below(random(key, counter + np.uint64(i - first)), source.window))
        block.start[i] = max(begin, i - reach)
        block.stop[i] = min(end, i + reach + 1)
    rng[1] = counter + np.uint64(last - first)


@piece
def name_document(block: Block, source: Source, first: int, last: int, border: int) -> None:
    """Write the row of the document that ends at a border for centres first to last."""
    if source.rows.shape[0] > 0:
        for i in range(first, last):
            block.documents[i] = source.rows[border - 1]


@piece
def draw_noise(
    chosen: np.ndarray, table: np.ndarray, apart: int, sharing: int, first: int, last: int, rng: np.ndarray
) -> None:
    """Noise words for centres first to last: drawn, or those of the centre `apart` before, whose window is another one.

    Rows of noise words lie anywhere in memory, and other threads move them too. Used again while they are in this
    core's own cache they cost nothing; and no context meets the same draw twice, so nothing is lost in quality.
    """
    key, counter, negatives = rng[0], rng[1], chosen.shape[1]
    for i in range(first, last):
        if (i - first) // apart % sharing == 0:
            for j in range(negatives):
                chosen[i, j] = pick(table, random(key, counter + np.uint64(j)))
            counter += np.uint64(negatives)
        else:
            for j in range(negatives):
                chosen[i, j] = chosen[i - apart, j]
    rng[1] = counter
