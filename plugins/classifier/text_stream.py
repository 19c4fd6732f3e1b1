"""Labelled texts as the units of training, with all random choices of a step made when a block is filled."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from embeddings.kernels.block import LAST, SPACING
from embeddings.kernels.integers import smaller
from embeddings.kernels.jit import entry_point
from embeddings.kernels.noise_sampling import draw_word
from embeddings.kernels.random_numbers import random_bits, uniform_below
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.training.shuffle import Chunk
from embeddings.training.stream import Stream

BLOCK_TEXTS = 64
MAX_DRAWS = 100  # of a negative sample that is none of the text's label
POSITION, END, FILLED = 0, 1, LAST  # of `LabelledBlock.cursor`; objectives of words read LAST and SPACING


class LabelSource(NamedTuple):
    """Texts in the order in which they are read, and their labels.

    order: int64 (texts,). starts, labels: the labels of text i are `labels[starts[i]:starts[i + 1]]`.
    noise: the alias table of negative samples; empty if the objective draws none.
    """

    order: np.ndarray
    starts: np.ndarray
    labels: np.ndarray
    noise: np.ndarray


class LabelledBlock(NamedTuple):
    """The next texts of a thread.

    cursor: int64, the position of the next text to read, the end of the chunk, and the number of texts here.
    texts: int64 (texts,), their numbers. words: int64 (texts,), a random label of each.
    noise: int64 (texts, negatives), negative samples for it.
    """

    cursor: np.ndarray
    texts: np.ndarray
    words: np.ndarray
    noise: np.ndarray


@entry_point
def fill_texts(block: LabelledBlock, source: LabelSource, random: np.ndarray) -> int:
    """Read the next texts into a block; returns how many."""
    begin, key, counter = block.cursor[POSITION], random[0], random[1]
    size = smaller(block.texts.shape[0], block.cursor[END] - begin)
    for k in range(size):
        text = source.order[begin + k]
        first = source.starts[text]
        label = source.labels[first + uniform_below(random_bits(key, counter), source.starts[text + 1] - first)]
        counter += np.uint64(1)
        block.texts[k], block.words[k] = text, label
        for j in range(block.noise.shape[1]):
            for _ in range(MAX_DRAWS):
                block.noise[k, j] = draw_word(source.noise, random_bits(key, counter))
                counter += np.uint64(1)
                if block.noise[k, j] != label:
                    break
    random[1] = counter
    block.cursor[POSITION], block.cursor[FILLED] = begin + size, size
    return size  # type: ignore[no-any-return]


@dataclass(frozen=True)
class TextStream(Stream):
    """Labelled texts.

    Arguments:
        source: the texts in the order of the corpus.
        negatives: negative samples drawn for each text.
        weights: float64 (texts,), how often each text is read in an epoch, on average, up to a factor; None for once.
    """

    source: LabelSource
    negatives: int = 0
    weights: np.ndarray | None = None
    unit: ClassVar[str] = "texts"

    @property
    def units(self) -> int:
        """The number of texts."""
        return len(self.source.order)

    def new_block(self) -> LabelledBlock:
        """A block for one thread."""
        texts, words = np.zeros((2, BLOCK_TEXTS), np.int64)
        return LabelledBlock(
            separate_zeros(SPACING + 1, np.int64), texts, words, np.zeros((BLOCK_TEXTS, self.negatives), np.int64)
        )

    def fill(self, block: LabelledBlock, chunk: Chunk, random: np.ndarray) -> int:
        """Read the next texts of a chunk into a block; returns how many."""
        return fill_texts(block, chunk.source, random)

    def is_empty(self, block: LabelledBlock) -> bool:
        """Whether a block holds no texts."""
        return not block.cursor[FILLED]

    def rewind(self, block: LabelledBlock, chunk: Chunk) -> None:
        """Move a block to the start of a chunk."""
        block.cursor[[POSITION, END, FILLED]] = chunk.begin, chunk.end, 0

    def is_valid(self, block: LabelledBlock, chunk: Chunk) -> bool:
        """Whether training can continue inside a chunk from a block that was read from a file."""
        position, end = block.cursor[[POSITION, END]]
        return bool(chunk.begin <= position <= end == chunk.end)

    @property
    def empty_chunk(self) -> Chunk:
        """A chunk of no texts."""
        return Chunk(self.source, 0, 0)

    def chunks(self, begin: int, end: int, order: np.random.Generator | None) -> Iterator[Chunk]:
        """The share itself, or its texts in random order, as often as their weights say."""
        if order is None:
            return iter([Chunk(self.source, begin, end)])
        texts = np.arange(begin, end)
        if self.weights is not None:
            texts = systematic_sample(texts, self.weights[begin:end], order.random())
        return iter([Chunk(self.source._replace(order=order.permutation(texts)), 0, end - begin)])


def systematic_sample(texts: np.ndarray, weights: np.ndarray, offset: float) -> np.ndarray:
    """As many texts, each in proportion to its weight, rounded up or down at random.

    Arguments:
        offset: uniform in [0, 1).
    """
    ends = np.cumsum(weights) * (len(texts) / weights.sum()) if len(texts) else weights
    places = np.searchsorted(ends, np.arange(len(texts)) + offset, side="right")
    return np.asarray(texts[np.minimum(places, len(texts) - 1)])
