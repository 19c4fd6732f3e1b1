"""A block of whole sentences, for models that read them word by word, with every random choice already made."""

from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point, inline
from embeddings.kernels.block import (
    END,
    FILLED,
    FIRST,
    HISTORY_START,
    LAST,
    LINE,
    POSITION,
    all_in_range,
    is_valid_cursor,
    new_cursor,
)
from embeddings.kernels.integers import larger, smaller
from embeddings.kernels.line_operations import line_end
from embeddings.kernels.random_numbers import draw_word, random_bits, uniform_uint32


class SentenceSource(NamedTuple):
    """The corpus and sampling tables that all threads read.

    ids, lines, keep_thresholds, noise: as in `embeddings.kernels.block.BlockSource`.
    max_length: words of a sentence; longer lines are cut into several sentences.
    """

    ids: np.ndarray
    lines: np.ndarray
    keep_thresholds: np.ndarray
    noise: np.ndarray
    max_length: int


class SentenceBlock(NamedTuple):
    """Sentences and the random choices made for their words.

    Sentence k, below `cursor[LAST]`, is `words[starts[k]:starts[k + 1]]`: ids of the corpus, in the vocabulary or not.
    `is_target[i]` says whether word i is in the vocabulary and is to be predicted, and not dropped by subsampling; then
    `noise[i]` (negatives,) are its random words. `cursor` is that of `embeddings.kernels.block.Block`.
    """

    words: np.ndarray
    starts: np.ndarray
    is_target: np.ndarray
    noise: np.ndarray
    cursor: np.ndarray


def new_sentence_block(size: int, noise: int) -> SentenceBlock:
    """An empty block for `size` words with `noise` random words each."""
    return SentenceBlock(
        words=np.zeros(size, np.int32),
        starts=np.zeros(size + 1, np.int64),
        is_target=np.zeros(size, np.bool_),
        noise=np.zeros((size, noise), np.int32),
        cursor=new_cursor(),
    )


def is_valid_sentences(block: SentenceBlock, source: SentenceSource, begin: int, end: int) -> bool:
    """Whether training can continue from a restored block of `ids[begin:end]`."""
    start, filled, first, last = block.cursor[HISTORY_START : LAST + 1].tolist()
    return (
        start == first == 0 <= last <= filled <= len(block.words)
        and is_valid_cursor(block.cursor, source.lines, begin, end)
        and all_in_range(block.starts, len(block.words) + 1)
        and all_in_range(block.noise, len(source.noise))
    )


@entry_point
def fill_sentences(block: SentenceBlock, source: SentenceSource, rng: np.ndarray) -> int:
    """Read sentences until the next one might not fit or the share ends; returns how many ids were read.

    `rng` (2,) is a key and a counter.
    """
    cursor, size = block.cursor, block.words.shape[0]
    position, end, line = cursor[POSITION], cursor[END], cursor[LINE]
    before, n, count = position, 0, 0
    # Only whole sentences: stop when the longest one might not fit.
    while position < end and n + source.max_length <= size:
        border = larger(position, line_end(source.lines, line, end))
        stop = smaller(border, position + source.max_length)
        # A line longer than `max_length` continues in the next sentence.
        if stop == border:
            line += 1
        if stop > position:
            read_words(block, source, position, stop, n, rng)
            n += stop - position
            count += 1
            block.starts[count] = n
        position = stop
    cursor[POSITION], cursor[LINE], cursor[FILLED], cursor[FIRST], cursor[LAST] = position, line, n, 0, count
    read: int = position - before
    return read


@inline
def read_words(block: SentenceBlock, source: SentenceSource, start: int, stop: int, n: int, rng: np.ndarray) -> None:
    """Read a sentence to place n of the block, and draw which words to predict and their random words."""
    key, counter, vocabulary = rng[0], rng[1], source.keep_thresholds.shape[0]
    for position in range(start, stop):
        word, i = source.ids[position], n + position - start
        block.words[i] = word
        block.is_target[i] = (
            np.uint32(word) < vocabulary and uniform_uint32(random_bits(key, counter)) <= source.keep_thresholds[word]
        )
        counter += np.uint64(1)
        if block.is_target[i]:
            for j in range(block.noise.shape[1]):
                block.noise[i, j] = draw_word(source.noise, random_bits(key, counter + np.uint64(j)))
            counter += np.uint64(block.noise.shape[1])
    rng[1] = counter
