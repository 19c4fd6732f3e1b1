"""Skip-gram that models word position: structured skip-gram (Ling et al. 2015) and directional skip-gram."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point
from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.step_buffers import StepBuffers, new_step_buffers
from embeddings.kernels.window import OutputSlot, gather_inputs_at, prefetch_context
from embeddings.models.model import Model
from embeddings.objectives.objective import predict
from embeddings.settings import FixedWindow, UnknownWords
from embeddings.training.plan import Plan
from embeddings.training.trainer import PredictionTrainer
from embeddings.training.training_data import TrainingData
from embeddings.training.word_predictor import Examples, Windows, pair_examples


class SlotOperands(NamedTuple):
    """Input vectors of words, (vocabulary, padded dim), and the objective, with an output row for each slot of a word.

    Slot s is for contexts at offsets `reach[s, 0]` to `reach[s, 1]` from the centre; `reach` is (slots, 2).
    """

    words: np.ndarray
    objective: Any
    reach: np.ndarray


@entry_point
def learn_block(block: Block, operands: SlotOperands, buffers: StepBuffers, rate: float) -> None:
    """Equation 4 of Ling et al. (2015), in word2vec's direction: the contexts in a slot predict the centre.

    A context x in slot s meets the output vector o_s of the centre, y = 1, or of a negative sample, y = 0. All slots
    share the negative samples.

        g = rate * (y - sigmoid(x · o_s))    o_s += g * x    x += sum of g * o_s, of o_s before the step
    """
    slots = operands.reach.shape[0]
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        # Once for the centre: every slot would ask for the same row.
        prefetch_context(block, operands.words, buffers.input_cache, i)
        for number in range(slots):
            nearest, farthest = operands.reach[number, 0], operands.reach[number, 1]
            m = gather_inputs_at(block, operands.words, buffers, i, nearest, farthest)
            if m > 0:
                predict(operands.objective, block, buffers, i, m, rate, OutputSlot(slots, number))


@dataclass(frozen=True, kw_only=True)
class SlotTrainer(UnknownWords, PredictionTrainer):
    """Base of trainers with output rows for each of several slots around a word."""

    def reach(self) -> np.ndarray:
        """The first and last offset of each slot, (slots, 2)."""
        raise NotImplementedError

    @property
    def slots(self) -> int:
        """How many output rows a word has."""
        return len(self.reach())

    def plan(self, data: TrainingData) -> Plan:
        """A model with the tables "vectors" (vocabulary, dim) and those of the objective, with a row for each slot."""
        reach = self.reach()
        inputs = int((reach[:, 1] - reach[:, 0]).max()) + 1
        objective = self.new_objective(data.vocabulary)
        return self.window_plan(
            data,
            objective,
            kernel=learn_block,
            operands=lambda tables: SlotOperands(tables["words"], objective.operand(tables), reach),
            buffers=lambda targets, width: new_step_buffers(inputs, targets, width),
        )

    def examples(self, model: Model, windows: Windows) -> Iterator[Examples]:
        """Each context predicts the centre by the output rows of its slot."""
        offsets = np.delete(np.arange(-self.window, self.window + 1), self.window)
        for slot, (first, last) in enumerate(self.reach()):
            contexts = windows.contexts[:, (first <= offsets) & (offsets <= last)]
            yield from pair_examples(self, model, Windows(windows.centres, contexts), slot)


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
