"""Pairs of texts as the units of training: a block is a batch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from embeddings.kernels.integers import smaller
from embeddings.kernels.jit import entry_point
from embeddings.kernels.random_numbers import random_bits
from embeddings.training.shuffle import Chunk
from embeddings.training.stream import Stream

POSITION, END, FILLED = range(3)  # of `PairBlock.cursor`


class PairBlock(NamedTuple):
    """The next batch of a thread.

    cursor: int64 (3,), the position of the next pair to read, the end of the chunk, and the number of pairs here.
    pairs: int64 (batch,), their numbers. keys: uint64 (batch,), of the random numbers that drop words of each pair.
    """

    cursor: np.ndarray
    pairs: np.ndarray
    keys: np.ndarray


@entry_point
def fill_pairs(block: PairBlock, order: np.ndarray, random: np.ndarray) -> int:
    """Read the next pairs into a block; returns how many."""
    begin = block.cursor[POSITION]
    size = smaller(block.pairs.shape[0], block.cursor[END] - begin)
    for k in range(size):
        block.pairs[k] = order[begin + k]
        block.keys[k] = random_bits(random[0], random[1])
        random[1] += np.uint64(1)
    block.cursor[POSITION], block.cursor[FILLED] = begin + size, size
    return size  # type: ignore[no-any-return]


@dataclass(frozen=True)
class PairStream(Stream):
    """Pairs of texts, a batch at a time.

    Arguments:
        order: int64 (pairs,), the numbers of the pairs in the order of the corpus.
        batch_size: pairs in a batch; the last one of a share may have fewer.
        files: arrays that may be mapped from files, which are checked for truncation.
    """

    order: np.ndarray
    batch_size: int
    files: Sequence[np.ndarray] = ()
    unit: ClassVar[str] = "pairs"

    @property
    def units(self) -> int:
        """The number of pairs."""
        return len(self.order)

    @property
    def arrays(self) -> Sequence[np.ndarray]:
        """The texts."""
        return self.files

    def new_block(self) -> PairBlock:
        """A block for one thread."""
        size = self.batch_size
        return PairBlock(np.zeros(3, np.int64), np.zeros(size, np.int64), np.zeros(size, np.uint64))

    def fill(self, block: PairBlock, chunk: Chunk, random: np.ndarray) -> int:
        """Read the next batch of a chunk into a block; returns the number of pairs."""
        return fill_pairs(block, chunk.source, random)

    def is_empty(self, block: PairBlock) -> bool:
        """Whether a block holds no pairs."""
        return not block.cursor[FILLED]

    def rewind(self, block: PairBlock, chunk: Chunk) -> None:
        """Move a block to the start of a chunk."""
        block.cursor[:] = chunk.begin, chunk.end, 0

    def is_valid(self, block: PairBlock, chunk: Chunk) -> bool:
        """Whether training can continue inside a chunk from a block that was read from a file."""
        position, end, _ = block.cursor
        return bool(chunk.begin <= position <= end == chunk.end)

    @property
    def empty_chunk(self) -> Chunk:
        """A chunk of no pairs."""
        return Chunk(self.order, 0, 0)

    def chunks(self, begin: int, end: int, order: np.random.Generator | None) -> Iterator[Chunk]:
        """The share itself, or its pairs in random order."""
        if order is None:
            return iter([Chunk(self.order, begin, end)])
        return iter([Chunk(order.permutation(self.order[begin:end]), 0, end - begin)])
