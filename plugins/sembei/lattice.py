"""A thread's next few thousand places of text, with all n-grams that start there and every random choice made.

The n-grams that end at a place and those that start there are neighbours; together they are the edges of a lattice
that holds every way to cut the text into n-grams.
"""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.block import END, FIRST, LAST, LINE, NOISE, POSITION, draw_noise, on_the_way, within
from embeddings.kernels.jit import hot, piece
from embeddings.kernels.random_numbers import coin, random
from embeddings.kernels.row_operations import address
from embeddings.kernels.step_buffers import Bundle, new_bundle
from embeddings.plugins.sembei.ngram_trie import NONE, NgramTable, walk

SIZE = 8192  # places a block holds
SHARED = 2  # positives that a noise word stands for


class LatticeSource(NamedTuple):
    """What all threads read.

    `ids` (tokens,) and `lines` (lines + 1,) are the corpus, `table` finds its n-grams, `keep` (vocabulary,) are
    thresholds and `noise` is an alias table, (vocabulary, 2); each of its draws serves `sharing` places that no n-gram
    reaches two of. `both` tells whether an n-gram is left out as the right one of two neighbours too.
    """

    ids: np.ndarray
    lines: np.ndarray
    table: NgramTable
    keep: np.ndarray
    noise: np.ndarray
    sharing: int
    both: bool


class LatticeBlock(NamedTuple):
    """Places `place[FIRST]` to `place[LAST]` of a text, and the last ones before.

    starts[i, n - 1] is the n-gram of n tokens that starts at place i, or -1; `lefts` are the same but for those left
    out as left neighbours by sub-sampling. noise[i] (negatives * groups,) are the noise words of place i, as many as
    the more of the n-grams that start and end there need.
    """

    starts: np.ndarray
    lefts: np.ndarray
    noise: np.ndarray
    place: np.ndarray


def new_lattice(longest: int, negatives: int, size: int = SIZE) -> LatticeBlock:
    """An empty block for n-grams of up to `longest` tokens, small enough for a core's own cache."""
    noise = groups(longest) * negatives
    size = max(min(size, NOISE // noise), longest + 1)
    rows = np.full((longest + size + 1, longest), NONE, np.int32)
    return LatticeBlock(rows, rows.copy(), np.zeros((len(rows), noise), np.int32), np.zeros(7, np.int64))


def sound_lattice(block: LatticeBlock, source: LatticeSource, begin: int, end: int) -> bool:
    """Whether a block that was put back can be gone on from in `ids[begin:end]`: kernels look at no bounds."""
    longest, words = block.starts.shape[1], len(source.keep)
    first, last = block.place[FIRST:].tolist()
    ordered = first == last == 0 or longest == first <= last <= len(block.starts)
    held = within(block.starts, words, NONE) and within(block.lefts, words, NONE)
    noise = within(block.noise, len(source.noise))
    return ordered and held and noise and on_the_way(block.place, source.lines, begin, end)


@piece
def groups(positives: int) -> int:
    """How often the noise words of one positive are drawn for so many that share them."""
    return (positives + SHARED - 1) // SHARED


@hot
def fill_lattice(block: LatticeBlock, source: LatticeSource, rng: np.ndarray) -> int:
    """Read on until the block is full or the share ends; gives how many tokens of the corpus were read.

    `rng` (2,) is a key and a counter.
    """
    place, longest, size = block.place, block.starts.shape[1], block.starts.shape[0] - 1
    position, end, line = place[POSITION], place[END], place[LINE]
    before, n = position, longest
    look_back(block, source, rng)
    while position < end and n < size:
        whole = max(position, min(source.lines[line], source.ids.shape[0]))
        begin, border = position, min(whole, end)
        while position < border and n < size:
            find_starts(block, source, n, position, whole, rng)
            position += 1
            n += 1
        if position == whole:
            line += 1
            if position > begin:  # the last of this line and the first of the next are no neighbours
                block.starts[n, :] = block.lefts[n, :] = NONE
                n += 1
    draw_noise(block.noise, source.noise, longest + 1, source.sharing, longest, n, rng)
    place[POSITION], place[LINE], place[FIRST], place[LAST] = position, line, longest, n
    return int(position - before)


@piece
def look_back(block: LatticeBlock, source: LatticeSource, rng: np.ndarray) -> None:
    """Put the last places that were read, or those before the share, in front: from there n-grams may reach here."""
    place, longest = block.place, block.starts.shape[1]
    fresh, last = place[LAST] == 0, place[LAST]
    line = place[LINE]
    for i in range(longest):
        position = place[POSITION] - longest + i
        if not fresh:
            for n in range(longest):
                block.starts[i, n] = block.starts[last - longest + i, n]
                block.lefts[i, n] = block.lefts[last - longest + i, n]
        elif place[POSITION] < place[END] and position >= source.lines[line - 1]:
            find_starts(block, source, i, position, min(source.lines[line], source.ids.shape[0]), rng)
        else:
            block.starts[i, :] = block.lefts[i, :] = NONE


@piece
def find_starts(block: LatticeBlock, source: LatticeSource, i: int, position: int, end: int, rng: np.ndarray) -> None:
    """Find the n-grams that start at a position, as place i of the block, and sub-sample them."""
    found, lefts = block.starts[i], block.lefts[i]
    if walk(source.table, source.ids, position, end, found) == 0:
        lefts[:] = NONE
        return
    for n in range(source.table.longest):
        word = found[n]
        lefts[n] = word
        if word >= 0:
            if coin(random(rng[0], rng[1])) > source.keep[word]:
                lefts[n] = NONE
                if source.both:
                    found[n] = NONE
            rng[1] += np.uint64(1)


@piece
def meeting(block: LatticeBlock, bundle: Bundle, i: int) -> tuple[int, int]:
    """Write the n-grams that end at place i to `bundle.context`, and behind them those that start there.

    Gives how many there are of both.
    """
    lefts = rights = 0
    for n in range(block.lefts.shape[1]):
        word = block.lefts[i - n - 1, n]
        if word >= 0:
            bundle.context[lefts] = word
            lefts += 1
    for n in range(block.starts.shape[1]):
        word = block.starts[i, n]
        if word >= 0:
            bundle.context[lefts + rights] = word
            rights += 1
    return lefts, rights


@piece
def score_against(output: np.ndarray, bundle: Bundle, positives: np.ndarray, noise: np.ndarray) -> int:
    """Put the positives and the noise words they share in a bundle; gives how many rows these are.

    So many noise words are drawn that each stands for one or two positives, but not for itself.
    """
    p = positives.shape[0]
    count = groups(p) * (noise.shape[0] // groups(bundle.read.shape[0]))
    for j in range(p):
        bundle.targets[j], bundle.weights[j] = address(output, positives[j]), 1
    for j in range(count):
        others = 0
        for q in range(p):
            others += positives[q] != noise[j]
        bundle.targets[p + j], bundle.weights[p + j] = address(output, noise[j]), others / groups(p)
    return int(p + count)


def scratch(longest: int, negatives: int, width: int, *, most: int = 0, dtype: type = np.float32) -> Bundle:
    """A thread's bundle for n-grams of up to `longest` tokens, and where they are sums of `most` parts, if of any."""
    targets = longest + groups(longest) * negatives
    contexts, rows = 2 * longest + most, 2 * longest if most else 0
    return new_bundle(longest, targets, width, contexts=contexts, rows=rows, dtype=dtype)
