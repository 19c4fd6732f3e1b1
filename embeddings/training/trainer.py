"""Base classes of trainers."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.errors import DeclarationError, EmbeddingsError, SettingError
from embeddings.models.capabilities import Capabilities
from embeddings.models.model import Model
from embeddings.setting_names import hint
from embeddings.settings import (
    ContextWindow,
    Dimension,
    DocumentFrequency,
    InitialValues,
    NegativeSampling,
    ObjectiveChoice,
    Schedule,
    Settings,
    VocabularyChoice,
    WeightTying,
)
from embeddings.training.continued_training import extend_corpus
from embeddings.training.plan import Plan
from embeddings.training.progress import Report
from embeddings.training.run import Run
from embeddings.training.run_options import RunOptions
from embeddings.training.training_data import TrainingData, prepare


@dataclass(frozen=True, kw_only=True)
class Trainer(Settings, Capabilities):
    """Base of trainers: its fields are settings, and its plan declares what it learns.

    A subclass sets `trainer_name` and defines `plan`, or `learn` if it does not learn step by step. It overrides
    `can_init`, `can_freeze` and `can_continue` if they depend on its settings, `extend_corpus` if it extends the
    vocabulary itself, and sets

    tokenizer, case: how text is tokenized by default.
    reads_labels, reads_pairs: whether it learns from texts with labels, or from pairs of texts.
    precompile_settings: settings with which it uses all of its kernels, to compile them ahead of time.
    fixed_settings: settings that continued training must not change.
    free_settings: those that it may change, though tables of other models depend on settings of the same name.
    max_threads: how many threads it can use; None for any number.
    libraries: optional libraries that it needs for training, see `check_installation`.
    has_parallel_kernel: whether its kernel runs on several threads itself, so that one worker reads the whole text.
    unsupported: what it can do with no settings, of "init", "freeze" and "continued".
    init_modes: how it can use pretrained vectors; see `embeddings.InitFrom`.
    replica_rate_factor: the factor of the default learning rate that is better for many replicas; see
        `embeddings.training.replicas`.
    accepts_run_options: whether it supports checkpoints, callbacks and initial vectors; `learn` must implement them.
    """

    trainer_name: ClassVar[str]
    tokenizer: ClassVar[str] = "words"
    case: ClassVar[str] = "lower"
    reads_labels: ClassVar[bool] = False
    reads_pairs: ClassVar[bool] = False
    precompile_settings: ClassVar[Mapping[str, Any]] = {}
    max_threads: ClassVar[int | None] = None
    has_parallel_kernel: ClassVar[bool] = False
    libraries: ClassVar[tuple[str, ...]] = ()
    accepts_run_options: ClassVar[bool] = True
    unsupported: ClassVar[frozenset[str]] = frozenset()
    init_modes: ClassVar[tuple[str, ...]] = ("initial",)
    replica_rate_factor: ClassVar[float] = 1.0
    fixed_settings: ClassVar[tuple[str, ...]] = ("dim",)
    free_settings: ClassVar[tuple[str, ...]] = ()

    @property
    def run_trainer(self) -> "Trainer":
        """The trainer that checkpoints belong to: another one, if this trainer builds on its model."""
        return self

    @property
    def can_init(self) -> bool:
        """Whether word vectors can start from given ones."""
        return "init" not in self.unsupported

    @property
    def can_freeze(self) -> bool:
        """Whether given word vectors can be kept constant."""
        is_tied = isinstance(self, WeightTying) and self.tie  # output vectors would be frozen too
        return self.can_init and "freeze" not in self.unsupported and not is_tied

    @property
    def can_continue(self) -> bool:
        """Whether a model can be trained further, on new text."""
        is_bound_to_text = isinstance(self, ObjectiveChoice) and self.word_objective.depends_on_counts
        return "continued" not in self.unsupported and not is_bound_to_text

    @property
    def predicts_words(self) -> bool:
        """Whether its models have a loss of new text; see `Capabilities.word_predictor`."""
        return self.word_predictor is not None

    def check_installation(self) -> None:
        """Refuse, before the corpus is read, what this machine cannot train; by default if a library is missing."""
        for library in self.libraries:
            if find_spec(library) is None:
                raise EmbeddingsError(f"training {self.trainer_name} models requires {library}, which is not installed")

    def extend_corpus(self, model: Model, encoded: EncodedCorpus) -> EncodedCorpus:
        """The new text for continued training: by default with the extended vocabulary of the model."""
        return extend_corpus(model, encoded, self)

    def train(
        self,
        corpus: Corpus | str | os.PathLike[str] | Iterable[Any],
        *,
        threads: int | None = None,
        seed: int = 1,
        report: Report | None = None,
        run_options: RunOptions | None = None,
        **unexpected: Any,
    ) -> Model:
        """Train a model; see `prepare` and `Run` for arguments and errors."""
        refuse_arguments(unexpected)
        if run_options is not None and run_options.cluster is not None:
            return run_options.cluster.train(self, corpus, threads, seed, report, run_options)
        return self.learn(prepare(self, corpus, threads=threads, seed=seed, report=report, run_options=run_options))

    def learn(self, data: TrainingData) -> Model:
        """Train a model on prepared data."""
        return Run(data, self.plan(data)).train()

    def plan(self, data: TrainingData) -> Plan:
        """Declare what is learned from this data."""
        raise DeclarationError(f"the trainer {self.trainer_name} must define plan or learn")


def refuse_arguments(unexpected: Iterable[str]) -> None:
    """Refuse keyword arguments that `Trainer.train` does not have."""
    for argument in unexpected:
        advice = hint(argument, ("threads", "seed", "report", "run_options"))
        raise SettingError(f"train() has no argument {argument!r}: {advice or 'pass settings to the trainer itself'}")


@dataclass(frozen=True, kw_only=True)
class WindowTrainer(
    Trainer, NegativeSampling, ContextWindow, DocumentFrequency, VocabularyChoice, Schedule, InitialValues, Dimension
):
    """Base of trainers of models that learn words from context windows by negative sampling."""
