"""Skip-gram (Mikolov et al. 2013b)."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point
from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.step_buffers import StepBuffers, new_step_buffers
from embeddings.kernels.window import gather_contexts, gather_inputs
from embeddings.objectives.objective import predict
from embeddings.settings import PairSampling, UnknownWords, WeightTying
from embeddings.training.devices import DeviceChoice
from embeddings.training.plan import Plan
from embeddings.training.trainer import PredictionTrainer
from embeddings.training.training_data import TrainingData
from embeddings.training.word_predictor import pair_examples


class SkipGramOperands(NamedTuple):
    """Input vectors of words, (vocabulary, padded dim), and the objective."""

    words: np.ndarray
    objective: Any


@entry_point
def learn_block(block: Block, operands: SkipGramOperands, buffers: StepBuffers, rate: float) -> None:
    """Skip-gram by equation 4 of Mikolov et al. (2013b), or by another objective; a window shares its negative samples.

    Each context x is an input that predicts the centre, as in word2vec. With the output vector o of the centre, y = 1,
    or of a negative sample, y = 0:

        g = rate * (y - sigmoid(x · o))    o += g * x    x += sum of g * o, of o before the step
    """
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = gather_inputs(block, operands.words, buffers, i)
        # A centre can have no context: a sentence of one word, or all others dropped by subsampling.
        if m > 0:
            predict(operands.objective, block, buffers, i, m, rate)


@entry_point
def learn_pairs(block: Block, operands: SkipGramOperands, buffers: StepBuffers, rate: float) -> None:
    """The steps of `learn_block` pair by pair, each with its own negative samples, as in word2vec."""
    noise = block.noise.shape[1] // buffers.contexts.shape[0]
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = gather_contexts(block, operands.words, buffers, i)
        # Each pair takes the next `noise` of the negative samples drawn for its centre.
        for j in range(m):
            buffers.inputs[0] = buffers.input_gradient_rows[0] = buffers.contexts[j]
            predict(operands.objective, block, buffers, i, 1, rate, first=j * noise)


@dataclass(frozen=True, kw_only=True)
class SkipGram(DeviceChoice, PairSampling, WeightTying, UnknownWords, PredictionTrainer):
    """Skip-gram with negative sampling: each word predicts the words around it. Good for rare words."""

    trainer_name = "skipgram"
    examples = pair_examples

    def plan(self, data: TrainingData) -> Plan:
        """A model with the tables "vectors" (vocabulary, dim) and those of the objective."""
        objective, contexts = self.new_objective(data.vocabulary), 2 * self.window
        in_pairs = self.negative_sharing == "none"
        noise = objective.noise * contexts if in_pairs else objective.noise
        return self.window_plan(
            data,
            objective,
            stream=data.window_stream(objective.noise_weights, noise),
            kernel=learn_pairs if in_pairs else learn_block,
            operands=lambda tables: SkipGramOperands(tables["words"], objective.operand(tables)),
            buffers=lambda targets, width: new_step_buffers(contexts, targets, width, contexts=contexts),
            cached_inputs="words",
            cached_outputs=objective.cached_table,
        )
