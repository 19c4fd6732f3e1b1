"""GloVe: global vectors for word representation (Pennington, Socher and Manning 2014)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from embeddings import learning_rates
from embeddings.compilation.jit import entry_point, inline
from embeddings.kernels.block import END, LAST, POSITION, new_cursor
from embeddings.kernels.loss_tally import EXAMPLES, LOSS, STEPS
from embeddings.kernels.row_operations import address, prefetch
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.models.table import VECTORS, Arrays, Table, uniform
from embeddings.plugins.glove.cooccurrences import ShuffledCells, count_and_shuffle
from embeddings.settings import (
    SCHEDULE,
    Dimension,
    DocumentFrequency,
    Schedule,
    ScheduleName,
    UnknownWords,
    VocabularySize,
    option,
)
from embeddings.training.plan import Plan
from embeddings.training.stream import Chunk, ItemStream
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import TrainingData

BLOCK_CELLS = 4096
CHUNK_CELLS = 1 << 16  # cells that stay together if the order is random in each epoch
PREFETCH_DISTANCE = 6  # cells
MAX_GRADIENT = 100  # larger components of a gradient are clipped, as in the original program


class CellBlock(NamedTuple):
    """A block of cells that one thread trains on.

    cursor: see `ItemStream`.
    rows, columns: int32 (cells,), the two words. log_counts: float32 (cells,), log x.
    weights: float32 (cells,), f(x) = (x / x_max)^exponent, at most 1.
    """

    cursor: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    log_counts: np.ndarray
    weights: np.ndarray


class CellSource(NamedTuple):
    """Co-occurrence counts, and their weights in the loss: a count x has the weight min(1, (x / x_max)^exponent)."""

    cells: np.ndarray
    x_max: float
    exponent: float


@entry_point
def fill_cells(block: CellBlock, source: CellSource, random: np.ndarray) -> int:
    """Read the next cells into a block; returns how many."""
    begin = block.cursor[POSITION]
    size = min(block.rows.shape[0], block.cursor[END] - begin)
    for k in range(size):
        cell = source.cells[begin + k]
        block.rows[k], block.columns[k] = cell.row, cell.column
        # Here and not in the step: the logarithm and the power do not depend on the parameters.
        block.log_counts[k] = np.log(cell.count)
        block.weights[k] = min((cell.count / source.x_max) ** source.exponent, 1.0)
    block.cursor[POSITION], block.cursor[LAST] = begin + size, size
    return int(size)


@dataclass(frozen=True)
class CellStream(ItemStream):
    """A stream of co-occurrence counts.

    Arguments:
        cells: the counts, whose file lives as long as this object.
        block_cells: cells in a block.
    """

    source: CellSource
    cells: ShuffledCells
    block_cells: int = BLOCK_CELLS
    unit: ClassVar[str] = "cells"
    fill_from = fill_cells

    @property
    def units(self) -> int:
        """The number of cells."""
        return len(self.source.cells)

    def new_block(self) -> CellBlock:
        """An empty block for one thread."""
        ids, numbers = np.zeros((2, self.block_cells), np.int32), np.zeros((2, self.block_cells), np.float32)
        return CellBlock(new_cursor(), *ids, *numbers)

    def shuffled_chunks(self, begin: int, end: int, order: np.random.Generator) -> Iterator[Chunk]:
        """Chunks of the share in random order."""
        starts = order.permutation(np.arange(begin, end, CHUNK_CELLS)).tolist()
        return (Chunk(self.source, start, min(start + CHUNK_CELLS, end)) for start in starts)

    @property
    def arrays(self) -> Sequence[np.ndarray]:
        """The cells."""
        return (self.source.cells,)


class Side(NamedTuple):
    """Parameters of words or contexts: vectors (vocabulary, padded dim), biases (vocabulary, 16), and squared steps.

    The sums of squared steps are the state of AdaGrad. They include the learning rate and begin at 1, as in the
    original program.
    """

    vectors: np.ndarray
    biases: np.ndarray
    vector_squares: np.ndarray
    bias_squares: np.ndarray


class GloVeOperands(NamedTuple):
    """All parameters of GloVe."""

    words: Side
    contexts: Side


@entry_point
def learn_block(block: CellBlock, operands: GloVeOperands, buffers: StepBuffers, rate: float) -> None:
    """Fit w_i · c_j + b_i + b_j = log x for each cell, with weight f(x): equation 8 of Pennington et al. (2014).

    The steps of AdaGrad, with the sum s of squared steps of a parameter:

        g = f(x) * (w_i · c_j + b_i + b_j - log x)    w_i -= rate * g * c_j / sqrt(s)    b_i -= rate * g / sqrt(s)
    """
    size, loss = block.cursor[LAST], 0.0
    for k in range(size):
        ahead = min(k + PREFETCH_DISTANCE, size - 1)
        prefetch_side(operands.words, block.rows[ahead])
        prefetch_side(operands.contexts, block.columns[ahead])
        loss += learn_cell(operands, block, k, rate, buffers.frozen)
    buffers.tally[LOSS] += loss
    buffers.tally[EXAMPLES] += size
    buffers.tally[STEPS] += size


@inline
def learn_cell(operands: GloVeOperands, block: CellBlock, k: int, rate: float, frozen: np.ndarray) -> float:
    """One step of AdaGrad for cell k, as in `learn_block`; returns the loss of the cell before the step."""
    words, contexts, i, j = operands.words, operands.contexts, block.rows[k], block.columns[k]
    w, w_squares = words.vectors[i], words.vector_squares[i]
    c, c_squares = contexts.vectors[j], contexts.vector_squares[j]
    real = w.dtype.type
    # Cast before the loop: a float64 would widen every operation on the float32 rows.
    rate, limit, product = real(rate), real(MAX_GRADIENT), real(0)
    is_free = real(frozen.shape[0] == 0 or not frozen[i])
    for n in range(w.shape[0]):
        product += w[n] * c[n]
    error = product + words.biases[i, 0] + contexts.biases[j, 0] - real(block.log_counts[k])
    gradient = real(block.weights[k]) * error
    for n in range(w.shape[0]):
        # Clipped as in the original program, where a cell of a very frequent pair could otherwise throw a rare word far
        # away.
        w_step = rate * min(max(gradient * c[n], -limit), limit)
        c_step = rate * min(max(gradient * w[n], -limit), limit)
        w[n] -= is_free * w_step / np.sqrt(w_squares[n])
        c[n] -= c_step / np.sqrt(c_squares[n])
        # After the step, as in the original program: the sums start at 1, so the first division is safe.
        w_squares[n] += w_step * w_step
        c_squares[n] += c_step * c_step
    step = rate * min(max(gradient, -limit), limit)
    update_bias(words, i, step)
    update_bias(contexts, j, step)
    return 0.5 * np.float64(gradient * error)


@inline
def update_bias(side: Side, i: int, step: float) -> None:
    """One step of AdaGrad for a bias: b_i -= step / sqrt(s_i), then s_i += step^2."""
    side.biases[i, 0] -= step / np.sqrt(side.bias_squares[i, 0])
    side.bias_squares[i, 0] += step * step


@inline
def prefetch_side(side: Side, i: int) -> None:
    """Prefetch the rows of a word."""
    size = side.vectors.shape[1] * side.vectors.itemsize
    prefetch(address(side.vectors, i), size)
    prefetch(address(side.vector_squares, i), size)
    prefetch(address(side.biases, i), side.biases.itemsize)
    prefetch(address(side.bias_squares, i), side.biases.itemsize)


@dataclass(frozen=True, kw_only=True)
class GloVe(Trainer, UnknownWords, DocumentFrequency, VocabularySize, Schedule, Dimension):
    """GloVe: vectors whose products fit the logarithms of co-occurrence counts."""

    trainer_name = "glove"
    window: int = option(
        15,
        "Maximum distance between two words that co-occur. At distance d, they add 1/d to the count.",
        ge=1,
        le=10000,
        common=True,
    )
    symmetric: bool = option(
        True,
        "Count pairs of words in any order, or only with the word before the context, as the original program with "
        "-symmetric 0: the vector of a word then fits the words after it, its context vector those before it.",
        flags="--symmetric/--no-symmetric",
    )
    x_max: float = option(
        100.0, "Counts from this one on have full weight in the loss. Use about 10 for a small corpus.", gt=0
    )
    weight_exponent: float = option(
        0.75, "A smaller count x has the weight (x / x_max)^exponent; 0 gives all counts full weight.", ge=0, le=10
    )
    epochs: int = option(25, "Passes over the counts.", ge=1, le=1_000_000, common=True)
    learning_rate: float = option(
        0.05, "Learning rate of AdaGrad, which itself makes steps smaller.", gt=0, le=100, common=True
    )
    schedule: ScheduleName = option(learning_rates.CONSTANT, SCHEDULE)  # a Literal
    shuffle: bool = option(False, "Read the counts in a different random order in every epoch.")
    vectors: Literal["sum", "words"] = option(
        "sum", "Vectors of the model. sum: word vectors plus context vectors; words: word vectors only."
    )
    memory: float = option(
        2.0, "Memory in GB for counting; what does not fit is counted in several passes.", ge=0.1, le=1e6
    )
    fixed_settings = ("dim", "vectors", "symmetric")

    @property
    def can_freeze(self) -> bool:
        """Whether given word vectors can be kept constant: not in sums."""
        return self.vectors == "words"

    def plan(self, data: TrainingData) -> Plan:
        """A model with the tables "contexts" (vocabulary, dim), "word_biases" and "context_biases" (vocabulary, 1).

        If its vectors are sums, there is also "words" (vocabulary, dim), the word vectors.
        """
        size, dim = len(data.vocabulary), self.dim
        cells = count_and_shuffle(
            data.encoded,
            size,
            window=self.window,
            symmetric=self.symmetric,
            memory=int(self.memory * 1e9),
            seed=data.seed,
        )
        name_of_words = "words" if self.vectors == "sum" else VECTORS
        tables = {
            "words": Table(rows=size, dim=dim, axis="words", init=small_uniform, saved_as=name_of_words),
            "contexts": Table(rows=size, dim=dim, axis="words", init=small_uniform, seed=1),
            "word_biases": Table(rows=size, dim=1, axis="words"),
            "context_biases": Table(rows=size, dim=1, axis="words"),
        }
        state: dict[str, Any] = {"saved_as": None, "on_continue": "restart", "on_merge": "sum"}  # only in checkpoints
        squares = {f"{name}_squares": replace(table, init=ones, seed=0, **state) for name, table in tables.items()}

        def with_sums(arrays: Arrays) -> Arrays:
            return {VECTORS: arrays["words"] + arrays["contexts"], **arrays}

        return Plan(
            tables=tables | squares,
            stream=CellStream(CellSource(cells.array, self.x_max, self.weight_exponent), cells),
            kernel=learn_block,
            operands=new_operands,
            export=with_sums if self.vectors == "sum" else None,
        )


def new_operands(tables: Arrays) -> GloVeOperands:
    """The operands of the kernel."""
    words, contexts = (
        Side(*(tables[name] for name in (vectors, biases, f"{vectors}_squares", f"{biases}_squares")))
        for vectors, biases in (("words", "word_biases"), ("contexts", "context_biases"))
    )
    return GloVeOperands(words, contexts)


def small_uniform(table: np.ndarray, dim: int, seed: int) -> None:
    """Fill rows with numbers uniform in (-0.5, 0.5) / dim."""
    uniform(table, dim, seed)
    table *= 0.5


def ones(table: np.ndarray, dim: int, seed: int) -> None:
    """Fill rows with ones, padding included, because steps are divided by the values."""
    table[:] = 1
