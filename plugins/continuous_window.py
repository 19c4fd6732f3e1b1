"""Continuous window (Ling et al. 2015): CBOW whose contexts are concatenated by position instead of averaged."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.jit import entry_point, inline
from embeddings.kernels.row_cache import flush
from embeddings.kernels.row_operations import address, padded
from embeddings.kernels.step_buffers import StepBuffers, with_row_cache
from embeddings.kernels.window import gather_slots, prefetch_context
from embeddings.kernels.window_batch import MAX_BATCH, ZERO_ROW, learn_batch, new_window_buffers, select_batch
from embeddings.models.model import Model
from embeddings.settings import FixedWindow, option
from embeddings.training.parameters import random_rows, unpad, zero_rows
from embeddings.training.task import Task, WindowTrainer


class Tables(NamedTuple):
    """Input vectors (vocabulary, padded dim) and output vectors (vocabulary, slots * padded dim) of words."""

    words: np.ndarray
    output: np.ndarray
    window: int
    batch: int


@entry_point
def learn_block(block: Block, tables: Tables, buffers: StepBuffers, rate: float) -> None:
    """Equation 5 of Ling et al. (2015): the concatenated contexts are the input, zeros where there is none.

    The centre is the positive. Each context gets its own part of the gradient.
    """
    slots = 2 * tables.window
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = select_batch(block, buffers, i, slots + 1, tables.batch, False)
        for k in range(m):
            gather_window(block, tables, buffers, k)
        if m > 0:
            learn_batch(block, tables.output, buffers, m, slots, rate)
    flush(tables.words, buffers.input_cache)
    flush(tables.output, buffers.output_cache)


@inline
def gather_window(block: Block, tables: Tables, buffers: StepBuffers, k: int) -> None:
    """Write the rows of the k-th centre's contexts into `inputs`, by position."""
    i, first = buffers.centres[k], k * 2 * tables.window
    empty = address(buffers.hidden_rows, ZERO_ROW)
    gather_slots(block, tables.words, buffers, i, tables.window, first, empty)
    prefetch_context(block, tables.words, buffers.input_cache, i, block.cursor[LAST])


@dataclass(frozen=True, kw_only=True)
class ContinuousWindow(FixedWindow, WindowTrainer):
    """Continuous window: CBOW that models word position, for syntax. Output rows are 2 x window x dim long."""

    trainer_name = "continuous-window"
    learning_rate: float = option(0.05, "Initial learning rate; it decays linearly over all epochs.", gt=0, le=100)

    def train_task(self, task: Task) -> Model:
        """Train a model with the tables "vectors" (vocabulary, dim) and "output" (vocabulary, 2 x window, dim)."""
        size, slots, batch = len(task.vocabulary), 2 * self.window, min(self.windows_per_draw, MAX_BATCH)
        output = zero_rows(size * slots, self.dim).reshape(size, slots * padded(self.dim))
        tables = Tables(random_rows(size, self.dim, task.seed), output, self.window, batch)

        def new_buffers() -> StepBuffers:
            buffers = new_window_buffers(batch, self.negatives, padded(self.dim), slots=slots)
            return with_row_cache(buffers, task.threads, inputs=tables.words, outputs=tables.output)

        return task.run(
            learn_block,
            tables,
            new_buffers,
            final_tables=lambda tables: {
                "vectors": unpad(tables.words, self.dim),
                "output": unpad(tables.output, self.dim, slots),
            },
        )
