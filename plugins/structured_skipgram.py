"""Skip-gram that models word position: structured skip-gram (Ling et al. 2015) and directional skip-gram."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.jit import entry_point
from embeddings.kernels.row_operations import address, padded
from embeddings.kernels.step_buffers import StepBuffers, learn, new_step_buffers
from embeddings.kernels.window import gather_targets, prefetch_targets
from embeddings.models.model import Model
from embeddings.settings import FixedWindow
from embeddings.training.parameters import random_rows, unpad, zero_rows
from embeddings.training.task import Task, WindowTrainer


class Tables(NamedTuple):
    """Input vectors (vocabulary, padded dim) and output vectors (vocabulary * slots, padded dim) of words.

    Slot s is for contexts at offsets `reach[s, 0]` to `reach[s, 1]` from the centre; `reach` is (slots, 2).
    """

    words: np.ndarray
    output: np.ndarray
    reach: np.ndarray


@entry_point
def learn_block(block: Block, tables: Tables, buffers: StepBuffers, rate: float) -> None:
    """Equation 4 of Ling et al. (2015), in word2vec's direction: contexts are inputs, the centre is the positive.

    Each slot has its own output row of the centre and of each negative sample; all slots share the negative samples.
    """
    width, negatives = tables.words.shape[1], block.noise.shape[1]
    last, slots = block.cursor[LAST], tables.reach.shape[0]
    for i in range(block.cursor[FIRST], last):
        for slot in range(slots):
            prefetch_targets(block, tables.output, negatives, i, last, slots, slot)
            m = 0
            first, end = i + tables.reach[slot, 0], i + tables.reach[slot, 1] + 1
            for c in range(max(block.start[i], first), min(block.stop[i], end)):
                buffers.inputs[m] = buffers.input_gradient_rows[m] = address(tables.words, block.inputs[c])
                m += 1
            if m > 0:
                n = gather_targets(block, tables.output, buffers, i, negatives, 0, slots, slot)
                learn(buffers, m, 1, n, width, rate)


def train_slots(task: Task, dim: int, reach: np.ndarray) -> Model:
    """Train a model with these slots; its table "output" is (vocabulary, slots, dim)."""
    size, slots = len(task.vocabulary), len(reach)
    tables = Tables(random_rows(size, dim, task.seed), zero_rows(size * slots, dim), reach)
    inputs = int((reach[:, 1] - reach[:, 0]).max()) + 1
    return task.run(
        learn_block,
        tables,
        lambda: new_step_buffers(inputs, 1 + task.settings.negatives, padded(dim)),
        final_tables=lambda tables: {
            "vectors": unpad(tables.words, dim),
            "output": unpad(tables.output, dim, slots),
        },
    )


@dataclass(frozen=True, kw_only=True)
class StructuredSkipGram(FixedWindow, WindowTrainer):
    """Structured skip-gram: a word predicts each position around it with its own output table. For syntax."""

    trainer_name = "structured-skipgram"

    def train_task(self, task: Task) -> Model:
        """Train a model with a slot for each position."""
        offsets = np.array([offset for offset in range(-self.window, self.window + 1) if offset != 0])
        return train_slots(task, self.dim, np.stack([offsets, offsets], axis=1))


@dataclass(frozen=True, kw_only=True)
class DirectionalSkipGram(WindowTrainer):
    """Directional skip-gram: a word predicts the words to its left and the words to its right separately."""

    trainer_name = "directional-skipgram"

    def train_task(self, task: Task) -> Model:
        """Train a model with a left and a right slot."""
        return train_slots(task, self.dim, np.array([[-self.window, -1], [1, self.window]]))
