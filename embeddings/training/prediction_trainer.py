"""Base of trainers whose models predict words by an objective of choice."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.kernels.row_operations import padded
from embeddings.kernels.step_buffers import StepBuffers, new_step_buffers
from embeddings.models.model import Model
from embeddings.models.table import Table, word_vectors
from embeddings.models.text_settings import model_settings
from embeddings.objectives.objective import Objective
from embeddings.settings import ObjectiveChoice
from embeddings.training.plan import Kernel, Plan
from embeddings.training.stream import Stream
from embeddings.training.trainer import WindowTrainer
from embeddings.training.training_data import TrainingData
from embeddings.training.word_predictor import WordPredictor, new_predictor


@dataclass(frozen=True, kw_only=True)
class PredictionTrainer(ObjectiveChoice, WindowTrainer):
    """Base of trainers of models that predict words from their context windows by the objective that settings choose.

    A subclass whose words have several output rows overrides `slots` or `is_concatenated`; see `Objective`.

    examples: which predictions a trained model makes in windows of text, for perplexity and probabilities of words: a
        method, or a function such as `embeddings.training.word_predictor.pair_examples`. None: it predicts no words.
    """

    examples: ClassVar[Any] = None

    @property
    def predicts_words(self) -> bool:
        """Whether it declares `examples`."""
        return self.examples is not None

    @property
    def slots(self) -> int:
        """How many output rows a word has, or how many rows are concatenated."""
        return 1

    @property
    def is_concatenated(self) -> bool:
        """Whether hidden rows are concatenations."""
        return False

    def new_objective(self, vocabulary: Vocabulary) -> Objective:
        """The objective that the settings choose."""
        kind: type[Objective] = self.word_objective.implementation()
        return kind(self, vocabulary, self.dim, self.slots, self.is_concatenated)

    def word_tables(self, objective: Objective) -> dict[str, Table]:
        """The tables of input vectors of words and of the objective."""
        return {"words": word_vectors(len(objective.vocabulary), self.dim, self.initializer), **objective.tables()}

    def window_plan(
        self,
        data: TrainingData,
        objective: Objective,
        *,
        kernel: Kernel,
        buffers: Callable[[int, int], StepBuffers] = lambda targets, width: new_step_buffers(1, targets, width),
        tables: Mapping[str, Table] | None = None,
        stream: Stream | None = None,
        **others: Any,
    ) -> Plan:
        """The plan of a model of input vectors and an objective that learns from context windows.

        Arguments:
            buffers: makes the step buffers of one thread, given the objective's number of targets and the padded dim.
            tables: by default `word_tables`.
            stream: by default windows with the random words of the objective.
            others: other fields of the plan, such as `operands`, which include the `operand` of the objective.
        """
        targets, width = objective.max_targets, padded(self.dim)
        return Plan(
            tables=tables or self.word_tables(objective),
            stream=stream or data.window_stream(objective.noise_weights, objective.noise),
            kernel=kernel,
            buffers=lambda: buffers(targets, width),
            loss_is_estimate=objective.estimates_loss,
            **others,
        )

    @classmethod
    def word_predictor(cls, model: Model) -> WordPredictor | None:
        """The probabilities of words by a trained model."""
        if cls.examples is None:
            return None
        settings = model_settings(cls, model)
        return new_predictor(model, settings, settings.new_objective(model.vocabulary))
