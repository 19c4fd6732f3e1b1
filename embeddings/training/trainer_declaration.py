"""What a trainer declares about itself: what it reads and supports, and whether this machine can train its models."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.errors import EmbeddingsError
from embeddings.models.model import Capabilities, Model
from embeddings.settings import ObjectiveChoice, Settings, WeightTying
from embeddings.training.plan import Plan


@dataclass(frozen=True, kw_only=True)
class TrainerDeclaration(Settings, Capabilities):
    """What `embeddings.training.trainer.Trainer` declares, which runs are prepared by.

    tokenizer, case: how text is tokenized by default.
    reads_labels, reads_pairs, reads_vectors, reads_contexts: whether it learns from texts with labels, from pairs of
        texts, from texts with vectors, or from words with given contexts.
    precompile_settings: settings with which it uses all of its kernels, to compile them ahead of time.
    fixed_settings: settings that continued training must not change; replaces those of the base class, so include them.
    max_threads: how many threads it can use; None for any number.
    libraries: optional libraries that it needs for training, see `check_installation`.
    has_parallel_kernel: whether its kernel runs on several threads itself, so that one worker reads the whole text.
    unsupported: which of "init", "freeze" and "continued" it never supports, whatever its settings are.
    accepts_run_options: whether it supports checkpoints, callbacks, initial vectors, continued training and replicas;
        `learn` must implement them.
    """

    trainer_name: ClassVar[str]
    tokenizer: ClassVar[str] = "words"
    case: ClassVar[str] = "lower"
    reads_labels: ClassVar[bool] = False
    reads_pairs: ClassVar[bool] = False
    reads_vectors: ClassVar[bool] = False
    reads_contexts: ClassVar[bool] = False
    precompile_settings: ClassVar[Mapping[str, Any]] = {}
    max_threads: ClassVar[int | None] = None
    has_parallel_kernel: ClassVar[bool] = False
    libraries: ClassVar[tuple[str, ...]] = ()
    accepts_run_options: ClassVar[bool] = True
    unsupported: ClassVar[frozenset[str]] = frozenset()
    fixed_settings: ClassVar[tuple[str, ...]] = ("dim",)

    @classmethod
    def reads_words_alone(cls) -> bool:
        """Whether it learns from the words of a text, without labels, pairs, vectors or contexts."""
        return not (cls.reads_labels or cls.reads_pairs or cls.reads_vectors or cls.reads_contexts)

    @property
    def run_trainer(self) -> "TrainerDeclaration":
        """The trainer whose run writes the checkpoints: itself, or the trainer of the model that it post-processes."""
        return self

    @property
    def can_init(self) -> bool:
        """Whether word vectors can start from pretrained vectors."""
        return "init" not in self.unsupported

    @property
    def can_freeze(self) -> bool:
        """Whether pretrained word vectors can be frozen."""
        is_tied = isinstance(self, WeightTying) and self.tie  # output vectors would be frozen too
        return self.can_init and "freeze" not in self.unsupported and not is_tied

    @property
    def can_continue(self) -> bool:
        """Whether a model can be trained further, on new text."""
        is_bound_to_text = isinstance(self, ObjectiveChoice) and self.word_objective.depends_on_counts
        return "continued" not in self.unsupported and not is_bound_to_text

    @property
    def predicts_words(self) -> bool:
        """Whether its models can compute the loss of new text; see `Capabilities.word_predictor`."""
        return self.word_predictor is not None

    def check_installation(self) -> None:
        """Raise an error before the corpus is read if this machine cannot train the model.

        The default checks `libraries`.
        """
        for library in self.libraries:
            if find_spec(library) is None:
                raise EmbeddingsError(f"training {self.trainer_name} models requires {library}, which is not installed")

    def plan(self, data: Any) -> Plan:
        """What is learned from the `TrainingData` of a run."""
        raise NotImplementedError

    def extend_corpus(self, model: Model, encoded: EncodedCorpus) -> EncodedCorpus:
        """The new text for continued training of a model."""
        raise NotImplementedError
