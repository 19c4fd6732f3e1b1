"""Base classes of trainers, and training in one call: by a trainer's name, on new text, or of a group of models."""

import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from embeddings import registry
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.document_counts import document_counts
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.vocabulary import Vocabulary, VocabularyRule
from embeddings.errors import OutputError, SettingError
from embeddings.kernels.row_operations import padded
from embeddings.kernels.step_buffers import StepBuffers, new_step_buffers
from embeddings.models.model import Model
from embeddings.models.model_files import GROUP_JSON, check_target
from embeddings.models.model_group import ModelGroup
from embeddings.models.table import Table, word_vectors
from embeddings.models.text_settings import continued_corpus_settings, model_settings
from embeddings.objectives.objective import Objective
from embeddings.settings import (
    ContextWindow,
    Dimension,
    DocumentFrequency,
    NegativeSampling,
    ObjectiveChoice,
    Schedule,
    VocabularyChoice,
)
from embeddings.settings.setting_fields import refuse_unknown
from embeddings.support.arrow import to_arrow, to_string_array
from embeddings.support.files import check_output
from embeddings.support.local_paths import check_local
from embeddings.support.progress_display import ProgressOption, showing
from embeddings.training.callbacks import Callback
from embeddings.training.checkpoints import Checkpoints, differences
from embeddings.training.continued_training import check_model, extend_vocabulary, rows_in, saved_table
from embeddings.training.devices import device_of
from embeddings.training.init_vectors import InitFrom
from embeddings.training.plan import Kernel, Plan
from embeddings.training.progress import Report
from embeddings.training.replicas import Replicas
from embeddings.training.run import Run
from embeddings.training.run_options import ClusterBase, RunOptions, combine
from embeddings.training.stream import Stream
from embeddings.training.trainer_declaration import TrainerDeclaration
from embeddings.training.training_data import (
    TrainingData,
    as_corpus,
    check_threads_and_seed,
    new_corpus,
    prepare,
    with_vocabulary,
)
from embeddings.training.word_predictor import WordPredictor


@dataclass(frozen=True, kw_only=True)
class Trainer(TrainerDeclaration):
    """Base of trainers: its fields are settings, and its plan declares what it learns.

    A subclass sets `trainer_name` and defines `plan`, or `learn` if it does not learn step by step. It overrides
    `can_init`, `can_freeze` and `can_continue` if they depend on its settings, `extend_corpus` if it extends the
    vocabulary itself, and sets attributes of `TrainerDeclaration`.
    """

    def extend_corpus(self, model: Model, encoded: EncodedCorpus) -> EncodedCorpus:
        """The new text for continued training: by default with the extended vocabulary of the model."""
        values, new = asdict(self), encoded.vocabulary
        if values.get("min_documents", 1) > 1:
            documents = document_counts(encoded, values.get("documents") or "auto")
            is_common = (documents >= values["min_documents"]) | (rows_in(model.vocabulary, new) >= 0)
            words = to_string_array(new.column).filter(to_arrow(is_common))
            new = Vocabulary(words, new.counts[is_common], total=new.total)
        limits = {"min_count": values.get("min_count", 1), "max_vocab": values.get("max_vocab")}
        vocabulary = extend_vocabulary(model.vocabulary, new, **limits)
        return with_vocabulary(encoded, vocabulary, values.get("unknown_rows", 0))

    @refuse_unknown
    def train(
        self,
        corpus: Corpus | str | os.PathLike[str] | Iterable[Any],
        *,
        threads: int | None = None,
        seed: int = 1,
        progress: ProgressOption = None,
        init: InitFrom | None = None,
        continued: Model | None = None,
        checkpoints: Checkpoints | None = None,
        resume: bool = False,
        callbacks: Sequence[Callback] = (),
        replicas: Replicas | None = None,
        cluster: ClusterBase | None = None,
        vocabulary_rule: VocabularyRule | None = None,
        run_options: RunOptions | None = None,
    ) -> Model:
        """Train a model.

        Arguments:
            corpus: a `Corpus`, or what one is made of: a path, a built-in name, an iterable of texts or token lists.
            threads: number of threads; all available cores if not given.
            seed: single-threaded runs with the same seed are bit-reproducible.
            progress: True shows a bar, False none; by default there is one on a terminal and in a notebook. A function
                is called regularly with a `Progress`.
            init, continued, checkpoints, resume, callbacks, replicas, cluster, vocabulary_rule: as for
                `embeddings.training.RunOptions`.
            run_options: the same options, built in another place.

        Raises:
            SettingError: an argument is unknown, out of range or passed twice, or the trainer does not support it.
            FormatError: vectors to start from cannot be read, or do not fit.
            CorpusError: the corpus is missing or broken, or no word is frequent enough.
            CheckpointError: the checkpoint to resume is damaged or belongs to another run.
            OutputError: there are checkpoints already, or they cannot be written.
            TrainingError: the loss is infinite.
            Interrupted: by Ctrl-C; it has the model as it is then.
        """
        options = combine(
            run_options, init=init, continued=continued, checkpoints=checkpoints, resume=resume, callbacks=callbacks,
            replicas=replicas, cluster=cluster, vocabulary_rule=vocabulary_rule,
        )  # fmt: skip
        with showing(progress, "training") as shown:
            return self.run(corpus, threads=threads, seed=seed, report=shown, run_options=options)

    def run(
        self, corpus: Any, *, threads: int | None, seed: int, report: Report | None, run_options: RunOptions
    ) -> Model:
        """Train a model and send its progress to `report`; see `train` for other arguments and errors."""
        if run_options.cluster is not None:
            return run_options.cluster.train(self, corpus, threads, seed, report, run_options)
        return self.learn(prepare(self, corpus, threads=threads, seed=seed, report=report, run_options=run_options))

    def learn(self, data: TrainingData) -> Model:
        """Train a model on prepared data."""
        plan, device = self.plan(data), device_of(self)
        return Run(data, plan if device is None else device.plan(data, plan)).train()


@dataclass(frozen=True, kw_only=True)
class WindowTrainer(Trainer, NegativeSampling, ContextWindow, DocumentFrequency, VocabularyChoice, Schedule, Dimension):
    """Base of trainers of models that learn words from context windows by negative sampling."""


@dataclass(frozen=True, kw_only=True)
class PredictionTrainer(ObjectiveChoice, WindowTrainer):
    """Base of trainers of models that predict words from their context windows by the objective that settings choose.

    A subclass whose words have several output rows overrides `slots` or `is_concatenated`; see `Objective`.

    examples: which predictions a trained model makes in windows of text, for perplexity and probabilities of words: a
        method, or a function such as `embeddings.training.word_predictor.pair_examples`. None: it predicts no words.
    """

    examples: ClassVar[Any] = None
    fixed_settings: ClassVar[tuple[str, ...]] = ("dim", "objective", "nce_normalizer", "cutoffs", "tie")

    @property
    def predicts_words(self) -> bool:
        """Whether it declares `examples`."""
        return self.examples is not None

    @property
    def slots(self) -> int:
        """Number of output rows per word or, if `is_concatenated`, of concatenated hidden rows."""
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
        return {"words": word_vectors(len(objective.vocabulary), self.dim), **objective.tables()}

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
            others: other fields of the plan; `operands` must include `objective.operand`.
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
        """The probabilities of words by a trained model; raises FormatError for a broken table."""
        if cls.examples is None:
            return None
        settings = model_settings(cls, model)
        objective = settings.new_objective(model.vocabulary)
        tables = {name: saved_table(model, name, declared) for name, declared in objective.tables().items()}
        if objective.output_name != "output":
            tables["output"] = model.vectors.matrix
        exact = {name: table.astype(np.float64) for name, table in tables.items()}
        return WordPredictor(objective, exact, settings.window, partial(settings.examples, model))


def train(
    trainer: str,
    corpus: Corpus | str | os.PathLike[str] | Iterable[Any],
    *,
    threads: int | None = None,
    seed: int = 1,
    progress: ProgressOption = None,
    init: InitFrom | None = None,
    continued: Model | None = None,
    checkpoints: Checkpoints | None = None,
    resume: bool = False,
    callbacks: Sequence[Callback] = (),
    replicas: Replicas | None = None,
    cluster: ClusterBase | None = None,
    vocabulary_rule: VocabularyRule | None = None,
    run_options: RunOptions | None = None,
    **settings: Any,
) -> Model:
    """Train a model with an installed trainer.

    >>> import embeddings as em
    >>> model = em.train("skipgram", ["the cat sat", "the dog sat"], dim=4, min_count=1, subsample=0, threads=1)
    >>> model
    <Model skipgram: 4 words, 4 components>
    >>> model.vectors.words
    ['sat', 'the', 'cat', 'dog']

    Arguments:
        trainer: the name of the trainer.
        corpus: a `Corpus`, or what one is made of: a path, a built-in name, an iterable of texts or token lists.
        threads: number of threads; all available cores if not given.
        seed: single-threaded runs with the same seed are bit-reproducible.
        progress: True shows a bar, False none; by default there is one on a terminal and in a notebook. A function is
            called regularly with a `Progress`.
        init, continued, checkpoints, resume, callbacks, replicas, cluster, vocabulary_rule: as for
            `embeddings.training.RunOptions`.
        run_options: the same options, built in another place.
        settings: settings of the trainer, such as `dim=100`.

    Raises:
        RegistryError: no such trainer is installed.
        SettingError: a setting is unknown or out of range.
        CorpusError: the corpus is missing or broken, or no word is frequent enough.
        CheckpointError, OutputError: as `Run.train`.
    """
    configured_trainer = new_trainer(trainer, settings)
    return configured_trainer.train(
        corpus, threads=threads, seed=seed, progress=progress, init=init, continued=continued, checkpoints=checkpoints,
        resume=resume, callbacks=callbacks, replicas=replicas, cluster=cluster, vocabulary_rule=vocabulary_rule,
        run_options=run_options,
    )  # fmt: skip


def new_trainer(name: str, settings: dict[str, Any]) -> Trainer:
    """An installed trainer with the given settings."""
    trainer: Trainer = registry.create("trainer", name, settings)
    return trainer


def continue_training(
    model: Model,
    corpus: Corpus | str | os.PathLike[str] | Iterable[Any],
    *,
    threads: int | None = None,
    seed: int = 1,
    progress: ProgressOption = None,
    checkpoints: Checkpoints | None = None,
    resume: bool = False,
    callbacks: Sequence[Callback] = (),
    replicas: Replicas | None = None,
    cluster: ClusterBase | None = None,
    run_options: RunOptions | None = None,
    **changes: Any,
) -> Model:
    """Train a model further, on new text and new words.

    Arguments:
        model: the model, which is not changed.
        corpus: the new text. Unless it is a `Corpus`, it is read as the text of the model was.
        threads, seed, progress, checkpoints, resume, callbacks, replicas, cluster, run_options: as for `train`.
        changes: settings to change; all others are those of the model.

    Raises:
        SettingError: the trainer cannot continue models, or a changed setting does not fit the model.
        FormatError: a table of the model is missing.
    """
    check_model(model)
    settings = {**model.settings, **changes}
    if not isinstance(corpus, Corpus):
        text_settings = continued_corpus_settings(model)
        corpus = new_corpus(corpus, registry.load("trainer", model.name), **text_settings)
    return train(
        model.name, corpus, threads=threads, seed=seed, progress=progress, continued=model, checkpoints=checkpoints,
        resume=resume, callbacks=callbacks, replicas=replicas, cluster=cluster,
        run_options=run_options, **settings,
    )  # fmt: skip


PARTS = re.compile(rf"{re.escape(GROUP_JSON)}|seed-\d+(\.checkpoints)?")  # names in the folder of a group


def train_group(
    trainer: Trainer, corpus: Corpus | str | os.PathLike[str] | Iterable[Any], out: str | os.PathLike[str], *,
    seeds: Sequence[int] = (1, 2, 3), threads: int | None = None, progress: ProgressOption = None,
    run_options: RunOptions | None = None, resume: bool = False, force: bool = False,
) -> ModelGroup:  # fmt: skip
    """Train a model for each random seed; the text is encoded once, and each model is saved when it is finished.

        group = em.training.train_group(em.SkipGram(dim=100), "text.txt", "group", seeds=(1, 2, 3))
        em.evaluate(group, similarity="wordsim353")

    Arguments:
        trainer: the trainer, such as `em.SkipGram(dim=100)`.
        corpus, threads, progress, run_options: as for `Trainer.train`. Each run has checkpoints of its own, next to its
            model, as often as the options say.
        out: the folder.
        seeds: the random seed of each run.
        resume: keep the finished runs of an existing group, and train those that are missing.
        force: replace an existing group.

    Raises:
        SettingError: the seeds are not distinct whole numbers, or as `Trainer.train`.
        OutputError: the folder exists, is not that of a group, or its runs have other settings or another text.
        CorpusError, CheckpointError, TrainingError, Interrupted: as `Trainer.train`.
    """
    options, text = combine(run_options), as_corpus(corpus, trainer)
    group = open_group(out, trainer, text, seeds, threads, options, resume=resume, force=force)
    for seed, path in group.train_missing():
        one = options
        if (checkpoints := options.checkpoints) is not None:
            own = replace(checkpoints, path=f"{path}.checkpoints", force=checkpoints.force or force)
            one = replace(options, checkpoints=own, resume=resume or options.resume)
        trainer.train(text, threads=threads, seed=seed, progress=progress, run_options=one).save(path, force=True)
        if one.checkpoints is not None:
            one.checkpoints.remove_all()
    return group


def open_group(
    out: str | os.PathLike[str], trainer: Trainer, text: Corpus, seeds: Sequence[int], threads: int | None,
    options: RunOptions, *, resume: bool, force: bool,
) -> ModelGroup:  # fmt: skip
    """A new group of runs, or with `resume` the existing group; checks everything, encodes the text, and writes it.

    The checkpoints of the options are not checked.
    """
    check_local(out, "group of models")
    folder = check_output(out, force=force or resume)
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    if folder.exists() and (GROUP_JSON not in names or not all(map(PARTS.fullmatch, names))):
        raise OutputError(f"{folder} is not replaced: it is not a group of models, or has files of others")
    if not all(type(seed) is int for seed in seeds) or not 0 < len(seeds) == len(set(seeds)):
        raise SettingError(f"seeds must be distinct whole numbers, such as (1, 2, 3), got {seeds!r:.80}")
    numbers = [check_threads_and_seed(threads, seed, trainer) for seed in seeds]
    replace(options, checkpoints=None, resume=False).check(trainer)
    run = options.fingerprint(trainer, *numbers[0])
    del run["seed"]
    if options.cluster is None:
        run["corpus"] = options.encode(text, threads).fingerprint
    group = ModelGroup(folder, run, list(seeds))
    old = ModelGroup.load(folder) if folder.exists() else group
    if resume:
        if changes := list(differences(old.run, run)):
            raise OutputError(f"cannot resume {folder}, whose runs differ: {'; '.join(changes)}")
        group = replace(group, seeds=sorted({*seeds, *old.seeds}), finished=old.finished)
    for seed in {*old.seeds, *group.seeds}.difference(group.finished):
        if (path := group.path(seed)).exists():  # which is replaced or removed
            check_target(path, force=True)
    for seed in set(old.seeds) - set(group.seeds):
        shutil.rmtree(group.path(seed), ignore_errors=True)
    folder.mkdir(exist_ok=True)
    group.write()
    return group
