"""Continuous bag of words with negative sampling (Mikolov et al. 2013a, 2013b)."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.hidden_layer import backprop_to_contexts, combine_contexts
from embeddings.kernels.jit import entry_point
from embeddings.kernels.row_cache import flush
from embeddings.kernels.row_operations import padded
from embeddings.kernels.step_buffers import StepBuffers, learn, new_step_buffers, with_row_cache
from embeddings.kernels.window import gather_contexts, gather_targets, prefetch_next
from embeddings.models.model import Model
from embeddings.settings import option
from embeddings.training.parameters import random_rows, zero_rows
from embeddings.training.task import Task, WindowTrainer


class Tables(NamedTuple):
    """Input and output vectors of words, each (vocabulary, padded dim), and how contexts are combined.

    mean: the hidden row is the mean of the contexts, else their sum.
    exact: each context gets the exact gradient of the mean, else the gradient of the hidden row.
    """

    words: np.ndarray
    output: np.ndarray
    mean: bool
    exact: bool


@entry_point
def learn_block(block: Block, tables: Tables, buffers: StepBuffers, rate: float) -> None:
    """The mean or sum of the contexts is the input, the centre the positive; its gradient goes to every context."""
    width, negatives, last = tables.words.shape[1], block.noise.shape[1], block.cursor[LAST]
    for i in range(block.cursor[FIRST], last):
        m = gather_contexts(block, tables.words, buffers.input_cache, buffers.contexts, i)
        prefetch_next(block, tables.words, buffers.input_cache, tables.output, negatives, i, last)
        if m == 0:
            continue
        combine_contexts(buffers, m, width, 1 / m if tables.mean else 1)
        n = gather_targets(block, tables.output, buffers, i, negatives)
        learn(buffers, 1, 1, n, width, rate)
        backprop_to_contexts(buffers, m, width, 1 / m if tables.mean and tables.exact else 1)
    flush(tables.words, buffers.input_cache)
    flush(tables.output, buffers.output_cache)


@dataclass(frozen=True, kw_only=True)
class CBOW(WindowTrainer):
    """Continuous bag of words: the words of a context window together predict the centre."""

    trainer_name = "cbow"
    learning_rate: float = option(0.075, "Initial learning rate; it decays linearly over all epochs.", gt=0, le=100)
    combine: Literal["mean", "sum"] = option("mean", "Combine the contexts of a window by their mean or their sum.")
    context_gradient: Literal["undivided", "exact"] = option(
        "undivided",
        "Gradient of each of m averaged contexts. exact: 1/m of the mean's gradient, which needs about three times the "
        "learning rate; undivided: the whole gradient, as in word2vec, gensim and fastText. No effect with "
        "--combine sum.",
    )

    def train_task(self, task: Task) -> Model:
        """Train a model with the tables "vectors" and "output", each (vocabulary, dim)."""
        size, width = len(task.vocabulary), padded(self.dim)
        tables = Tables(
            words=random_rows(size, self.dim, task.seed),
            output=zero_rows(size, self.dim),
            mean=self.combine == "mean",
            exact=self.context_gradient == "exact",
        )

        def new_buffers() -> StepBuffers:
            buffers = new_step_buffers(1, 1 + self.negatives, width, contexts=2 * self.window, rows=2)
            return with_row_cache(buffers, task.threads, inputs=tables.words, outputs=tables.output)

        return task.run(learn_block, tables, new_buffers)
