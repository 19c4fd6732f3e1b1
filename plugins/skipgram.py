"""Skip-gram (Mikolov et al. 2013b)."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from embeddings.errors import SettingError
from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.jit import entry_point
from embeddings.kernels.row_operations import padded
from embeddings.kernels.step_buffers import StepBuffers, new_step_buffers
from embeddings.kernels.window import gather_contexts, gather_inputs
from embeddings.models.model import Model
from embeddings.models.table import word_vectors
from embeddings.objectives.choice import new_objective
from embeddings.objectives.objective import predict, predict_pair
from embeddings.settings import ObjectiveChoice, WeightTying, option
from embeddings.training.document_inference import recorded_settings
from embeddings.training.plan import Plan
from embeddings.training.trainer import WindowTrainer
from embeddings.training.training_data import TrainingData
from embeddings.training.word_predictor import WordPredictor, new_predictor, pair_examples

MAX_PAIR_NOISE = 10_000  # negative samples per centre with negative_sharing="none": they are drawn a block ahead


class Operands(NamedTuple):
    """Input vectors of words, (vocabulary, padded dim), and the objective."""

    words: np.ndarray
    objective: Any


@entry_point
def learn_block(block: Block, operands: Operands, buffers: StepBuffers, rate: float) -> None:
    """Each context is an input that predicts its centre, as in word2vec; a window shares its negative samples."""
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = gather_inputs(block, operands.words, buffers, i)
        if m > 0:
            predict(operands.objective, block, buffers, i, m, rate)


@entry_point
def learn_pairs(block: Block, operands: Operands, buffers: StepBuffers, rate: float) -> None:
    """The same pair by pair, each with its own negative samples, as in word2vec."""
    noise = block.noise.shape[1] // buffers.contexts.shape[0]
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = gather_contexts(block, operands.words, buffers, i)
        for j in range(m):
            buffers.inputs[0] = buffers.input_gradient_rows[0] = buffers.contexts[j]
            predict_pair(operands.objective, block, buffers, i, rate, j * noise)


@dataclass(frozen=True, kw_only=True)
class SkipGram(ObjectiveChoice, WeightTying, WindowTrainer):
    """Skip-gram with negative sampling: each word predicts the words around it. Good for rare words."""

    trainer_name = "skipgram"
    fixed_settings = ("dim", "tie")
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

    @property
    def can_freeze(self) -> bool:
        """Whether given word vectors can be kept constant."""
        return not self.tie

    def plan(self, data: TrainingData) -> Plan:
        """A model with the tables "vectors" (vocabulary, dim) and those of the objective."""
        contexts, in_pairs = 2 * self.window, self.negative_sharing == "none"
        objective = new_objective(self, data.vocabulary, self.dim)
        noise, targets = objective.noise * (contexts if in_pairs else 1), objective.max_targets
        tables = {"words": word_vectors(len(data.vocabulary), self.dim, self.initializer), **objective.tables()}
        if self.tie:
            del tables["output"]
        return Plan(
            tables=tables,
            stream=data.window_stream(objective.noise_weights, noise),
            kernel=learn_pairs if in_pairs else learn_block,
            operands=lambda tables: Operands(tables["words"], objective.operand({"output": tables["words"], **tables})),
            buffers=lambda: new_step_buffers(contexts, targets, padded(self.dim), contexts=contexts),
            loss_is_estimate=objective.estimates_loss,
        )

    @staticmethod
    def word_predictor(model: Model) -> WordPredictor:
        """The probabilities of words by a trained model."""
        settings = recorded_settings(SkipGram, model)
        return new_predictor(settings, model, lambda windows: pair_examples(model.vectors.matrix, windows))
