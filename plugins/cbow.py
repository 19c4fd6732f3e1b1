"""Continuous bag of words (Mikolov et al. 2013a, 2013b)."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.hidden_layer import backprop_to_contexts, combine_contexts
from embeddings.kernels.jit import entry_point
from embeddings.kernels.row_operations import padded
from embeddings.kernels.step_buffers import StepBuffers, new_step_buffers
from embeddings.kernels.window import gather_contexts
from embeddings.models.model import Model
from embeddings.models.table import word_vectors
from embeddings.objectives.choice import new_objective
from embeddings.objectives.objective import predict
from embeddings.settings import LEARNING_RATE, ObjectiveChoice, WeightTying, option
from embeddings.training.document_inference import recorded_settings
from embeddings.training.plan import Plan
from embeddings.training.trainer import WindowTrainer
from embeddings.training.training_data import TrainingData
from embeddings.training.word_predictor import WordPredictor, mean_examples, new_predictor


class Operands(NamedTuple):
    """Input vectors of words, (vocabulary, padded dim), the objective, and how contexts are combined.

    mean: the hidden row is the mean of the contexts, else their sum.
    exact: each context gets the exact gradient of the mean, else the gradient of the hidden row.
    """

    words: np.ndarray
    objective: Any
    mean: bool
    exact: bool


@entry_point
def learn_block(block: Block, operands: Operands, buffers: StepBuffers, rate: float) -> None:
    """The mean or sum of the contexts predicts the centre; its gradient goes to every context."""
    width = operands.words.shape[1]
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = gather_contexts(block, operands.words, buffers, i)
        if m > 0:
            combine_contexts(buffers, m, width, 1 / m if operands.mean else 1)
            predict(operands.objective, block, buffers, i, 1, rate)
            backprop_to_contexts(buffers, m, width, 1 / m if operands.mean and operands.exact else 1)


@dataclass(frozen=True, kw_only=True)
class CBOW(ObjectiveChoice, WeightTying, WindowTrainer):
    """Continuous bag of words: the words of a context window together predict the centre."""

    trainer_name = "cbow"
    fixed_settings = ("dim", "tie")
    learning_rate: float = option(0.075, LEARNING_RATE, gt=0, le=100)
    combine: Literal["mean", "sum"] = option("mean", "Combine the contexts of a window by their mean or their sum.")
    context_gradient: Literal["undivided", "exact"] = option(
        "undivided",
        "Gradient of each of m averaged contexts. exact: 1/m of the mean's gradient, which needs about three times the "
        "learning rate; undivided: the whole gradient, as in word2vec, gensim and fastText. No effect with "
        "--combine sum.",
    )

    @property
    def can_freeze(self) -> bool:
        """Whether given word vectors can be kept constant."""
        return not self.tie

    def plan(self, data: TrainingData) -> Plan:
        """A model with the tables "vectors" (vocabulary, dim) and those of the objective."""
        objective, contexts = new_objective(self, data.vocabulary, self.dim), 2 * self.window
        mean, exact = self.combine == "mean", self.context_gradient == "exact"
        tables = {"words": word_vectors(len(data.vocabulary), self.dim, self.initializer), **objective.tables()}
        if self.tie:
            del tables["output"]
        return Plan(
            tables=tables,
            stream=data.window_stream(objective.noise_weights, objective.noise),
            kernel=learn_block,
            operands=lambda tables: Operands(
                tables["words"], objective.operand({"output": tables["words"], **tables}), mean, exact
            ),
            buffers=lambda: new_step_buffers(1, objective.max_targets, padded(self.dim), contexts=contexts, rows=2),
            cached_inputs="words",
            cached_outputs="words" if self.tie else objective.cached_table,
            loss_is_estimate=objective.estimates_loss,
        )

    @staticmethod
    def word_predictor(model: Model) -> WordPredictor:
        """The probabilities of words by a trained model."""
        settings, vectors = recorded_settings(CBOW, model), model.vectors.matrix
        mean = settings.combine == "mean"
        return new_predictor(settings, model, lambda windows: mean_examples(vectors, windows, mean=mean))
