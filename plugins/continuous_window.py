"""Continuous window (Ling et al. 2015): CBOW whose contexts are concatenated by position instead of averaged."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.hidden_layer import NO_ROW, backprop_to_slots, concatenate_contexts, new_slot_buffers
from embeddings.kernels.jit import entry_point
from embeddings.kernels.row_operations import address, padded
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.kernels.window import gather_slots
from embeddings.kernels.window_batch import MAX_BATCH, ZERO_ROW, learn_batch, new_window_buffers, select_batch
from embeddings.models.model import Model
from embeddings.models.parameters import Arrays
from embeddings.models.table import word_vectors
from embeddings.objectives.choice import new_objective
from embeddings.objectives.objective import predict
from embeddings.settings import LEARNING_RATE, FixedWindow, ObjectiveChoice, option
from embeddings.training.document_inference import recorded_settings
from embeddings.training.plan import Plan
from embeddings.training.trainer import WindowTrainer
from embeddings.training.training_data import TrainingData
from embeddings.training.word_predictor import WordPredictor, concatenated_examples, new_predictor


class Operands(NamedTuple):
    """Input vectors (vocabulary, padded dim) and output vectors (vocabulary, slots * padded dim) of words."""

    words: np.ndarray
    output: np.ndarray
    window: int
    batch: int


@entry_point
def learn_block(block: Block, operands: Operands, buffers: StepBuffers, rate: float) -> None:
    """Equation 5 of Ling et al. (2015): the concatenated contexts are the input, zeros where there is none.

    The centre is the positive. Each context gets its own part of the gradient.
    """
    window, slots, empty = operands.window, 2 * operands.window, address(buffers.hidden_rows, ZERO_ROW)
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = select_batch(block, buffers, i, slots + 1, operands.batch, False)
        for k in range(m):
            gather_slots(block, operands.words, buffers, buffers.inputs, buffers.centres[k], window, k * slots, empty)
        if m > 0:
            learn_batch(block, operands.output, buffers, m, slots, rate)


class WindowOperands(NamedTuple):
    """Input vectors of words, (vocabulary, padded dim), and the objective."""

    words: np.ndarray
    objective: Any
    window: int


@entry_point
def learn_windows(block: Block, operands: WindowOperands, buffers: StepBuffers, rate: float) -> None:
    """The same window by window, for any objective."""
    window, width = operands.window, operands.words.shape[1]
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        if block.stop[i] - block.start[i] > 1:
            gather_slots(block, operands.words, buffers, buffers.contexts, i, window, 0, NO_ROW)
            concatenate_contexts(buffers, 2 * window, width)
            predict(operands.objective, block, buffers, i, 1, rate)
            backprop_to_slots(buffers, 2 * window, width)


@dataclass(frozen=True, kw_only=True)
class ContinuousWindow(ObjectiveChoice, FixedWindow, WindowTrainer):
    """Continuous window: CBOW that models word position, for syntax. Output rows are 2 x window x dim long."""

    trainer_name = "continuous-window"
    learning_rate: float = option(0.05, LEARNING_RATE, gt=0, le=100)

    def plan(self, data: TrainingData) -> Plan:
        """A model with the tables "vectors" (vocabulary, dim) and those of the objective.

        Rows of the objective's tables have 2 x window x dim numbers; "output" is (vocabulary, 2 x window, dim).
        """
        slots, batch, width = 2 * self.window, min(self.windows_per_draw, MAX_BATCH), padded(self.dim)
        objective = new_objective(self, data.vocabulary, self.dim, slots=slots, is_concatenated=True)
        in_batches = self.objective == "negative-sampling"

        def operands(tables: Arrays) -> Operands | WindowOperands:
            if in_batches:
                return Operands(tables["words"], tables["output"], self.window, batch)
            return WindowOperands(tables["words"], objective.operand(tables), self.window)

        def buffers() -> StepBuffers:
            if in_batches:
                return new_window_buffers(batch, self.negatives, width, slots=slots)
            return new_slot_buffers(objective.max_targets, slots, width)

        return Plan(
            tables={"words": word_vectors(len(data.vocabulary), self.dim, self.initializer), **objective.tables()},
            stream=data.window_stream(objective.noise_weights, objective.noise),
            kernel=learn_block if in_batches else learn_windows,
            operands=operands,
            buffers=buffers,
            cached_inputs="words",
            cached_outputs=objective.cached_table,
            loss_is_estimate=objective.estimates_loss,
        )

    @staticmethod
    def word_predictor(model: Model) -> WordPredictor:
        """The probabilities of words by a trained model."""
        settings, vectors = recorded_settings(ContinuousWindow, model), model.vectors.matrix
        return new_predictor(
            settings,
            model,
            lambda windows: concatenated_examples(vectors, windows),
            slots=2 * settings.window,
            is_concatenated=True,
        )
