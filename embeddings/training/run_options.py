"""`RunOptions`: initial vectors, checkpoints, callbacks, replicas and other options of a run."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from embeddings.corpora.vocabulary import VocabularyRule
from embeddings.errors import S, SettingError
from embeddings.models.model import Model
from embeddings.models.model_files import package_versions
from embeddings.settings import DocumentFrequency
from embeddings.support.records import to_jsonable
from embeddings.training import continued_training
from embeddings.training.callbacks import Callback, stateful
from embeddings.training.checkpoints import Checkpoints, check_same_run
from embeddings.training.devices import device_of
from embeddings.training.init_vectors import InitFrom
from embeddings.training.progress import Report
from embeddings.training.replicas import Replicas
from embeddings.training.trainer_declaration import TrainerDeclaration

if TYPE_CHECKING:
    from embeddings.corpora import Corpus, EncodedCorpus


class ClusterBase(ABC):
    """Base of `embeddings.training.Cluster`, which trains models outside of this process."""

    @abstractmethod
    def train(
        self, trainer: Any, corpus: Any, threads: int | None, seed: int, report: Report | None,
        run_options: "RunOptions",
    ) -> Model:  # fmt: skip
        """Train a model; see `Trainer.train` for the arguments."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of a run that do not belong to the model: arguments of `train`, built in another place.

        options = em.training.RunOptions(callbacks=[em.EarlyStopping(similarity="wordsim353")])
        model = em.SkipGram(dim=100).train("text.txt", run_options=options)

    Arguments:
        init: vectors to start from.
        continued: a model to continue training; its vocabulary grows. See `embeddings.training.continued_training`.
        checkpoints: where and how often to write checkpoints; none if not given.
        resume: continue from the last checkpoint; start from the beginning if there is none.
        callbacks: called in this order.
        replicas: copies of the tables that learn apart and are merged at regular intervals, for results that do not
            depend on the number of threads; if not given, threads update the same tables without locks.
        vocabulary_rule: which words of the corpus get vectors: a function of a word and its count that returns True to
            select the word whatever its counts are, False to drop it, or None to let the settings decide.
        cluster: an `embeddings.training.Cluster` of machines or processes to train on; by default this process trains.
        read: encodes the corpus, for example with a progress bar; called once, after all options are checked. By
            default `Corpus.encode`.

    Raises:
        SettingError: a value has the wrong type, or options exclude each other.
    """

    init: InitFrom | None = None
    continued: Model | None = None
    checkpoints: Checkpoints | None = None
    resume: bool = False
    callbacks: Sequence[Callback] = ()
    replicas: Replicas | None = None
    vocabulary_rule: VocabularyRule | None = None
    cluster: ClusterBase | None = None
    read: "Callable[[Corpus], EncodedCorpus] | None" = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "callbacks", tuple(self.callbacks))
        # without these a wrong class would show only once the corpus is read
        kinds = {"checkpoints": Checkpoints, "replicas": Replicas, "init": InitFrom}
        values = [(name, getattr(self, name), kind) for name, kind in kinds.items()]
        for name, value, kind in [*values, *(("callbacks", callback, Callback) for callback in self.callbacks)]:
            if value is not None and not isinstance(value, kind):
                raise SettingError(f"{S[name]} must be an embeddings.{kind.__name__}, got {value!r:.80}")
        if self.resume and self.checkpoints is None:
            raise SettingError(f"{S.resume} requires checkpoints to continue from")
        if self.continued is not None:
            continued_training.check_model(self.continued)
            for name in ("vocabulary_rule", "init"):
                if getattr(self, name) is not None:
                    raise SettingError(f"{S[name]} cannot be combined with continued: a model keeps words and vectors")

    def check(self, trainer: TrainerDeclaration) -> None:
        """Refuse what a trainer cannot do, in general or on this machine, before the corpus is read."""
        parts = (self.init, self.continued, self.checkpoints, self.replicas, self.cluster, self.callbacks or None)
        if not trainer.accepts_run_options and any(part is not None for part in parts):
            raise SettingError(
                f"the trainer {trainer.trainer_name} does not support checkpoints, callbacks, starting vectors, "
                "continued training, replicas or clusters"
            )
        if self.checkpoints is not None:
            self.checkpoints.check(resume=self.resume)
        if self.init is not None:
            self.init.check(trainer)
        if self.continued is not None:
            continued_training.check(self.continued, trainer)
        if self.vocabulary_rule is not None and not isinstance(trainer, DocumentFrequency):
            raise SettingError(f"the trainer {trainer.trainer_name} does not support vocabulary_rule")
        trainer.check_installation()
        if (device := device_of(trainer)) is not None:
            device.check(trainer, self)

    def check_fingerprint(self, trainer: TrainerDeclaration, threads: int, seed: int) -> None:
        """Raise an error if the checkpoint belongs to a run with other settings.

        Properties of the corpus are compared later. A cluster decides how many replicas there are: its run is checked
        once the cluster is reached.
        """
        if self.checkpoints is None or not self.resume or self.cluster is not None:
            return
        if (state := self.checkpoints.latest()) is not None:
            own = self.fingerprint(trainer.run_trainer, threads, seed)
            check_same_run(self.checkpoints.folder, {name: state.fingerprint.get(name) for name in own}, own)

    def encode(self, corpus: "Corpus", threads: int | None) -> "EncodedCorpus":
        """The encoded corpus; refuses, before it is read, a corpus that does not fit the model to continue."""
        if self.continued is not None:
            continued_training.check_corpus(self.continued, corpus)
        return corpus.encode(threads=threads) if self.read is None else self.read(corpus)

    def fingerprint(self, trainer: TrainerDeclaration, threads: int, seed: int) -> dict[str, Any]:
        """The part of `TrainingData.fingerprint` that is known before the corpus is read."""
        fingerprint: dict[str, Any] = to_jsonable(
            {
                "trainer": trainer.trainer_name,
                "settings": trainer,
                "seed": seed,
                "threads": threads if self.replicas is None else None,  # replicas learn the same with any number
                "replicas": self.replicas,
                "init": None if self.init is None else self.init.config(),
                "continued": None if self.continued is None else self.continued.vectors.fingerprint,
                "callbacks": [{type(callback).__name__: callback.config()} for callback in stateful(self.callbacks)],
                "packages": package_versions(),
            }
        )
        return fingerprint


def combine(run_options: RunOptions | None, **arguments: Any) -> RunOptions:
    """Run options merged with the options that are passed as arguments.

    Raises SettingError if an option has the wrong type, or is passed in both ways.
    """
    defaults = {one.name: one.default for one in fields(RunOptions)}
    passed = {name: value for name, value in arguments.items() if value is not defaults[name]}
    for name in passed:
        if run_options is not None and getattr(run_options, name) != defaults[name]:
            raise SettingError(f"{S[name]} is passed twice: as an argument and in run_options")
    return RunOptions(**passed) if run_options is None else replace(run_options, **passed)
