"""Continuous window (Ling et al. 2015): CBOW whose contexts are concatenated by position instead of averaged."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point
from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.row_operations import address
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.kernels.window import NO_ROW, backprop_to_slots, concatenate_contexts, gather_slots, new_slot_buffers
from embeddings.kernels.window_batch import MAX_BATCH, ZERO_ROW, learn_batch, new_window_buffers, select_batch
from embeddings.objectives.objective import predict
from embeddings.settings import FixedWindow, UnknownWords
from embeddings.training.plan import Plan
from embeddings.training.trainer import PredictionTrainer
from embeddings.training.training_data import TrainingData
from embeddings.training.word_predictor import concatenated_examples


class ContinuousWindowOperands(NamedTuple):
    """Input vectors of words, (vocabulary, padded dim), the objective, and how many windows learn in one step."""

    words: np.ndarray
    objective: Any
    window: int
    batch: int


@entry_point
def learn_block(block: Block, operands: ContinuousWindowOperands, buffers: StepBuffers, rate: float) -> None:
    """Equation 5 of Ling et al. (2015) by negative sampling: a batch of windows learns in one step.

    The input is x = (v_1, ..., v_2w), the concatenated contexts, zeros where there is none. With the output vector o of
    the centre, y = 1, or of a negative sample, y = 0:

        g = rate * (y - sigmoid(x · o))    o += g * x    x += sum of g * o: each context gets its own part
    """
    window, slots, empty = operands.window, 2 * operands.window, address(buffers.hidden_rows, ZERO_ROW)
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        # Windows `slots + 1` apart do not overlap, so no context of a batch is in two of its windows.
        m = select_batch(block, buffers, i, slots + 1, operands.batch, False)
        for k in range(m):
            gather_slots(block, operands.words, buffers, buffers.inputs, buffers.centres[k], window, k * slots, empty)
        if m > 0:
            learn_batch(block, operands.objective.output, buffers, m, slots, rate)


@entry_point
def learn_single_windows(block: Block, operands: ContinuousWindowOperands, buffers: StepBuffers, rate: float) -> None:
    """The steps of `learn_block`, one window at a time and with any objective."""
    window, width = operands.window, operands.words.shape[1]
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        if block.stop[i] - block.start[i] > 1:
            gather_slots(block, operands.words, buffers, buffers.contexts, i, window, 0, NO_ROW)
            concatenate_contexts(buffers, 2 * window, width)
            predict(operands.objective, block, buffers, i, 1, rate)
            backprop_to_slots(buffers, 2 * window, width)


@dataclass(frozen=True, kw_only=True)
class ContinuousWindow(FixedWindow, UnknownWords, PredictionTrainer):
    """Continuous window: CBOW that models word position, for syntax. Output rows are 2 x window x dim long."""

    trainer_name = "continuous-window"
    examples = concatenated_examples
    is_concatenated = True

    @property
    def slots(self) -> int:
        """How many rows are concatenated."""
        return 2 * self.window

    @property
    def in_batches(self) -> bool:
        """Whether batches of windows learn in one step."""
        return self.objective == "negative-sampling"

    def plan(self, data: TrainingData) -> Plan:
        """A model with the tables "vectors" (vocabulary, dim) and those of the objective.

        Rows of the objective's tables have 2 x window x dim numbers; "output" is (vocabulary, 2 x window, dim).
        """
        objective = self.new_objective(data.vocabulary)
        batch = min(self.windows_per_draw, MAX_BATCH)

        def buffers(targets: int, width: int) -> StepBuffers:
            if self.in_batches:
                return new_window_buffers(batch, self.negatives, width, slots=self.slots)
            return new_slot_buffers(targets, self.slots, width)

        return self.window_plan(
            data,
            objective,
            kernel=learn_block if self.in_batches else learn_single_windows,
            operands=lambda tables: ContinuousWindowOperands(
                tables["words"], objective.operand(tables), self.window, batch
            ),
            buffers=buffers,
            cached_inputs="words",
            cached_outputs=objective.cached_table,
        )
