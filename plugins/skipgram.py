"""Skip-gram with negative sampling (Mikolov et al. 2013b)."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from embeddings.errors import SettingError
from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.jit import entry_point
from embeddings.kernels.row_cache import flush
from embeddings.kernels.row_operations import padded
from embeddings.kernels.step_buffers import StepBuffers, learn, new_step_buffers
from embeddings.kernels.window import gather_contexts, gather_targets, prefetch_next
from embeddings.models.model import Model
from embeddings.settings import option
from embeddings.training.parameters import random_rows, zero_rows
from embeddings.training.task import Task, WindowTrainer

MAX_PAIR_NOISE = 10_000  # negative samples per centre with negative_sharing="none": they are drawn a block ahead


class Tables(NamedTuple):
    """Input and output vectors of words, each (vocabulary, padded dim)."""

    words: np.ndarray
    output: np.ndarray


@entry_point
def learn_block(block: Block, tables: Tables, buffers: StepBuffers, rate: float) -> None:
    """Equation 4 of Mikolov et al. (2013b): each context is an input, its centre the positive, as in word2vec.

    All contexts in a window share one set of negative samples, so a window is a product of two small matrices.
    """
    width, negatives, last = tables.words.shape[1], block.noise.shape[1], block.cursor[LAST]
    for i in range(block.cursor[FIRST], last):
        m = gather_contexts(block, tables.words, buffers.input_cache, buffers.inputs, i)
        if m == 0:
            continue
        for j in range(m):
            buffers.input_gradient_rows[j] = buffers.inputs[j]
        n = gather_targets(block, tables.output, buffers, i, negatives)
        prefetch_next(block, tables.words, buffers.input_cache, tables.output, negatives, i, last)
        learn(buffers, m, 1, n, width, rate)
    flush(tables.words, buffers.input_cache)
    flush(tables.output, buffers.output_cache)


@entry_point
def learn_pairs(block: Block, tables: Tables, buffers: StepBuffers, rate: float) -> None:
    """The same pair by pair, each with its own negative samples, as in word2vec."""
    width, negatives, last = tables.words.shape[1], buffers.targets.shape[0] - 1, block.cursor[LAST]
    for i in range(block.cursor[FIRST], last):
        m = gather_contexts(block, tables.words, buffers.input_cache, buffers.contexts, i)
        prefetch_next(block, tables.words, buffers.input_cache, tables.output, negatives, i, last)
        for j in range(m):
            n = gather_targets(block, tables.output, buffers, i, negatives, j * negatives)
            buffers.inputs[0] = buffers.input_gradient_rows[0] = buffers.contexts[j]
            learn(buffers, 1, 1, n, width, rate)
    flush(tables.words, buffers.input_cache)
    flush(tables.output, buffers.output_cache)


@dataclass(frozen=True, kw_only=True)
class SkipGram(WindowTrainer):
    """Skip-gram with negative sampling: each word predicts the words around it. Good for rare words."""

    trainer_name = "skipgram"
    negative_sharing: Literal["batch", "window", "none"] = option(  # type: ignore[assignment]  # wider, but frozen
        "batch",
        "Which positives share one set of negative samples. batch: those of 8 windows without common words, which "
        "is fastest; window: those of one window; none: each draws its own, as in word2vec, which is several times "
        "slower without better vectors.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        noise = 2 * self.window * self.negatives
        if self.negative_sharing == "none" and noise > MAX_PAIR_NOISE:
            limit = f"2 x window x negatives must be at most {MAX_PAIR_NOISE}"
            raise SettingError(f"with negative_sharing=none {limit}, got {noise}")

    def train_task(self, task: Task) -> Model:
        """Train a model with the tables "vectors" and "output", each (vocabulary, dim)."""
        size, contexts, width = len(task.vocabulary), 2 * self.window, padded(self.dim)
        tables = Tables(words=random_rows(size, self.dim, task.seed), output=zero_rows(size, self.dim))
        if self.negative_sharing == "none":
            return task.run(
                learn_pairs,
                tables,
                lambda: new_step_buffers(1, 1 + self.negatives, width, contexts=contexts),
                stream=task.window_stream(noise=contexts * self.negatives),
            )
        return task.run(learn_block, tables, lambda: new_step_buffers(contexts, 1 + self.negatives, width))
