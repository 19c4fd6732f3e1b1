"""Cells of co-occurrence counts as the units of training."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from embeddings.kernels.jit import entry_point
from embeddings.plugins.glove.shuffled_cells import ShuffledCells
from embeddings.training.shuffle import Chunk
from embeddings.training.stream import Stream

BLOCK_CELLS = 4096
CHUNK_CELLS = 1 << 16  # that stay together if the order is random in each epoch
POSITION, END, FILLED = range(3)  # of `CellBlock.cursor`


class CellBlock(NamedTuple):
    """The next cells of a thread.

    cursor: int64 (3,), the position of the next cell to read, the end of the chunk, and the number of cells here.
    rows, columns: int32 (cells,), the two words. log_counts: float32 (cells,), log x.
    weights: float32 (cells,), f(x) = (x / x_max)^exponent, at most 1.
    """

    cursor: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    log_counts: np.ndarray
    weights: np.ndarray


def new_cell_block(size: int) -> CellBlock:
    """An empty block."""
    ids, numbers = np.zeros((2, size), np.int32), np.zeros((2, size), np.float32)
    return CellBlock(np.zeros(3, np.int64), *ids, *numbers)


@entry_point
def fill_cells(block: CellBlock, cells: np.ndarray, x_max: float, exponent: float) -> int:
    """Read the next cells into a block; returns how many."""
    begin = block.cursor[POSITION]
    size = min(block.rows.shape[0], block.cursor[END] - begin)
    for k in range(size):
        x = cells[begin + k].count
        block.rows[k], block.columns[k] = cells[begin + k].row, cells[begin + k].column
        block.log_counts[k] = np.log(x)
        block.weights[k] = min((x / x_max) ** exponent, 1.0)
    block.cursor[POSITION], block.cursor[FILLED] = begin + size, size
    return int(size)


@dataclass(frozen=True)
class CellStream(Stream):
    """Co-occurrence counts with their weights in the loss.

    Arguments:
        x_max: counts from this one on have the weight 1. A smaller count x has the weight (x / x_max)^exponent.
    """

    cells: ShuffledCells
    x_max: float
    exponent: float
    unit: ClassVar[str] = "cells"

    @property
    def units(self) -> int:
        """The number of cells."""
        return len(self.cells.array)

    def new_block(self) -> CellBlock:
        """A block for one thread."""
        return new_cell_block(BLOCK_CELLS)

    def fill(self, block: CellBlock, chunk: Chunk, random: np.ndarray) -> int:
        """Read the next cells of a chunk into a block; returns how many."""
        return fill_cells(block, chunk.source, self.x_max, self.exponent)

    def is_empty(self, block: CellBlock) -> bool:
        """Whether a block holds no cells."""
        return not block.cursor[FILLED]

    def rewind(self, block: CellBlock, chunk: Chunk) -> None:
        """Move a block to the start of a chunk."""
        block.cursor[:] = chunk.begin, chunk.end, 0

    def is_valid(self, block: CellBlock, chunk: Chunk) -> bool:
        """Whether training can continue inside a chunk from a block that was read from a file."""
        position, end, _ = block.cursor
        return bool(chunk.begin <= position <= end == chunk.end)

    @property
    def empty_chunk(self) -> Chunk:
        """A chunk of no cells."""
        return Chunk(self.cells.array, 0, 0)

    def chunks(self, begin: int, end: int, order: np.random.Generator | None) -> Iterator[Chunk]:
        """The share itself, or pieces of it in random order."""
        if order is None:
            return iter([Chunk(self.cells.array, begin, end)])
        starts = order.permutation(np.arange(begin, end, CHUNK_CELLS)).tolist()
        return (Chunk(self.cells.array, start, min(start + CHUNK_CELLS, end)) for start in starts)

    @property
    def arrays(self) -> Sequence[np.ndarray]:
        """The cells."""
        return (self.cells.array,)
