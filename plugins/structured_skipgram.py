"""Skip-gram that models word position: structured skip-gram (Ling et al. 2015) and directional skip-gram."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.jit import entry_point
from embeddings.kernels.row_operations import padded
from embeddings.kernels.step_buffers import StepBuffers, new_step_buffers
from embeddings.kernels.window import gather_inputs_at
from embeddings.models.model import Model
from embeddings.models.table import word_vectors
from embeddings.objectives.choice import new_objective
from embeddings.objectives.objective import predict_in_slot
from embeddings.settings import FixedWindow, ObjectiveChoice
from embeddings.training.document_inference import recorded_settings
from embeddings.training.plan import Plan
from embeddings.training.trainer import WindowTrainer
from embeddings.training.training_data import TrainingData
from embeddings.training.word_predictor import Examples, Windows, WordPredictor, new_predictor, pair_examples


class Operands(NamedTuple):
    """Input vectors of words, (vocabulary, padded dim), and the objective, with an output row for each slot of a word.

    Slot s is for contexts at offsets `reach[s, 0]` to `reach[s, 1]` from the centre; `reach` is (slots, 2).
    """

    words: np.ndarray
    objective: Any
    reach: np.ndarray


@entry_point
def learn_block(block: Block, operands: Operands, buffers: StepBuffers, rate: float) -> None:
    """Equation 4 of Ling et al. (2015), in word2vec's direction: the contexts in a slot predict the centre.

    Each slot has its own output row of the centre and of each negative sample; all slots share the negative samples.
    """
    slots = operands.reach.shape[0]
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        for slot in range(slots):
            nearest, farthest = operands.reach[slot, 0], operands.reach[slot, 1]
            m = gather_inputs_at(block, operands.words, buffers, i, nearest, farthest)
            if m > 0:
                predict_in_slot(operands.objective, block, buffers, i, m, rate, slots, slot)


@dataclass(frozen=True, kw_only=True)
class SlotTrainer(ObjectiveChoice, WindowTrainer):
    """Base of trainers with output rows for each of several slots around a word."""

    def reach(self) -> np.ndarray:
        """The first and last offset of each slot, (slots, 2)."""
        raise NotImplementedError

    def plan(self, data: TrainingData) -> Plan:
        """A model with the tables "vectors" (vocabulary, dim) and those of the objective, with a row for each slot."""
        reach = self.reach()
        inputs = int((reach[:, 1] - reach[:, 0]).max()) + 1
        objective = new_objective(self, data.vocabulary, self.dim, slots=len(reach))
        return Plan(
            tables={"words": word_vectors(len(data.vocabulary), self.dim, self.initializer), **objective.tables()},
            stream=data.window_stream(objective.noise_weights, objective.noise),
            kernel=learn_block,
            operands=lambda tables: Operands(tables["words"], objective.operand(tables), reach),
            buffers=lambda: new_step_buffers(inputs, objective.max_targets, padded(self.dim)),
            loss_is_estimate=objective.estimates_loss,
        )

    @classmethod
    def word_predictor(cls, model: Model) -> WordPredictor:
        """The probabilities of words by a trained model."""
        settings = recorded_settings(cls, model)
        reach = settings.reach()

        def examples(windows: Windows) -> Iterator[Examples]:
            offsets = np.delete(np.arange(-settings.window, settings.window + 1), settings.window)
            for slot, (first, last) in enumerate(reach):
                contexts = windows.contexts[:, (first <= offsets) & (offsets <= last)]
                yield from pair_examples(model.vectors.matrix, Windows(windows.centres, contexts), slot)

        return new_predictor(settings, model, examples, slots=len(reach))


@dataclass(frozen=True, kw_only=True)
class StructuredSkipGram(FixedWindow, SlotTrainer):
    """Structured skip-gram: a word predicts each position around it with its own output table. For syntax."""

    trainer_name = "structured-skipgram"

    def reach(self) -> np.ndarray:
        """A slot for each position."""
        offsets = np.array([offset for offset in range(-self.window, self.window + 1) if offset != 0])
        return np.stack([offsets, offsets], axis=1)


@dataclass(frozen=True, kw_only=True)
class DirectionalSkipGram(SlotTrainer):
    """Directional skip-gram: a word predicts the words to its left and the words to its right separately."""

    trainer_name = "directional-skipgram"

    def reach(self) -> np.ndarray:
        """A left and a right slot."""
        return np.array([[-self.window, -1], [1, self.window]])
