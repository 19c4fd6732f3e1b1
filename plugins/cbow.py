"""Continuous bag of words (Mikolov et al. 2013a, 2013b)."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point
from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.step_buffers import StepBuffers, new_step_buffers
from embeddings.kernels.window import backprop_to_contexts, combine_contexts, gather_contexts
from embeddings.objectives.objective import predict
from embeddings.settings import LEARNING_RATE, RATE_RANGE, UnknownWords, WeightTying, option
from embeddings.training.devices import DeviceChoice
from embeddings.training.plan import Plan
from embeddings.training.trainer import PredictionTrainer
from embeddings.training.training_data import TrainingData
from embeddings.training.word_predictor import mean_examples


class CBOWOperands(NamedTuple):
    """Input vectors of words, (vocabulary, padded dim), the objective, and how contexts are combined.

    mean: the hidden row is the mean of the contexts, else their sum.
    exact: each context gets the exact gradient of the mean, else the gradient of the hidden row.
    """

    words: np.ndarray
    objective: Any
    mean: bool
    exact: bool


@entry_point
def learn_block(block: Block, operands: CBOWOperands, buffers: StepBuffers, rate: float) -> None:
    """CBOW (Mikolov et al. 2013a, section 3.1) by equation 4 of Mikolov et al. (2013b), or by another objective.

    The mean or sum h of the contexts v_1 to v_m predicts the centre. With the output vector o of the centre, y = 1, or
    of a negative sample, y = 0:

        h = (v_1 + ... + v_m) / m    g = rate * (y - sigmoid(h · o))    o += g * h    e = sum of g * o
        v_c += e                     or e / m, the exact gradient of the mean
    """
    width = operands.words.shape[1]
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = gather_contexts(block, operands.words, buffers, i)
        if m > 0:
            combine_contexts(buffers, m, width, 1 / m if operands.mean else 1)
            predict(operands.objective, block, buffers, i, 1, rate)
            # word2vec adds the gradient of the mean to each context undivided; learning rates in use are made for that.
            backprop_to_contexts(buffers, m, width, 1 / m if operands.mean and operands.exact else 1)


@dataclass(frozen=True, kw_only=True)
class CBOW(DeviceChoice, WeightTying, UnknownWords, PredictionTrainer):
    """Continuous bag of words: the words of a context window together predict the centre."""

    trainer_name = "cbow"
    learning_rate: float = option(0.075, LEARNING_RATE, gt=0, le=100, search=RATE_RANGE, common=True)
    combine: Literal["mean", "sum"] = option("mean", "Combine the contexts of a window by their mean or their sum.")
    context_gradient: Literal["undivided", "exact"] = option(
        "undivided",
        "Gradient of each of m averaged contexts. exact: 1/m of the mean's gradient, which needs about three times the "
        "learning rate; undivided: the whole gradient, as in word2vec, gensim and fastText. No effect with "
        "--combine sum.",
    )

    examples = mean_examples

    def plan(self, data: TrainingData) -> Plan:
        """A model with the tables "vectors" (vocabulary, dim) and those of the objective."""
        objective = self.new_objective(data.vocabulary)
        mean, exact = self.combine == "mean", self.context_gradient == "exact"
        return self.window_plan(
            data,
            objective,
            kernel=learn_block,
            operands=lambda tables: CBOWOperands(tables["words"], objective.operand(tables), mean, exact),
            buffers=lambda targets, width: new_step_buffers(1, targets, width, contexts=2 * self.window, rows=2),
            cached_inputs="words",
            cached_outputs=objective.cached_table,
        )
