"""A training run from its first unit to its last; `Run.train` has the order of what happens.

An executor learns until the tables are needed: at the end of the corpus, at the end of an epoch if a callback needs it,
when a checkpoint is due, or when the user interrupts. Every thread then halts at the end of its block, and continues
from there. So the state at checkpoints, epoch ends and interrupts can be restored.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from math import isfinite
from typing import Any

import numpy as np

from embeddings import registry
from embeddings.compilation.compile_time import compile_time
from embeddings.corpora.phrases.phrase_list import merge_phrase_tables
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, DeclarationError, EmbeddingsError, FormatError, S
from embeddings.models.model import TEXT_POOL, Model
from embeddings.models.model_files import package_versions
from embeddings.models.table import VECTORS, Arrays, copy_into, is_finite
from embeddings.models.text_settings import PHRASES, READING, TEXT_SETTINGS
from embeddings.support.logs import log
from embeddings.support.mapped_files import check_mapped_files
from embeddings.support.records import to_jsonable
from embeddings.training import continued_training
from embeddings.training.average import AVERAGE, Average, copies
from embeddings.training.callbacks import Callback, EpochEnd, RunStart, stateful
from embeddings.training.checkpoints import (
    Checkpoints,
    CheckpointWriter,
    RunState,
    check_same_run,
    checksum,
    unusable,
)
from embeddings.training.executor import Halt, ReplicaThreads, Threads, without_prefix
from embeddings.training.plan import Plan
from embeddings.training.progress import Progress, Tally
from embeddings.training.training_data import TrainingData
from embeddings.training.worker import check_count, run_uninterrupted
from embeddings.vectors.vectors import Vectors

NOTES = "notes"  # in the record of a model: what its run started from, and what is wrong with it
DIVERGED_LOSS = 1e8  # of an example: random vectors have less even with a million labels


class TrainingError(EmbeddingsError):
    """Training failed."""


class Interrupted(KeyboardInterrupt):
    """The user interrupted a training run; `model` holds what was learned until then."""

    def __init__(self, model: Model) -> None:
        super().__init__("training was interrupted; the attribute .model of this exception holds what was learned")
        self.model = model


def overflow(name: str, tally: Tally) -> TrainingError:
    """The error for numbers that overflowed."""
    read = f"{tally.done:,} {tally.unit}"
    return TrainingError(f"training diverged: the {name} became too large after {read}; use a lower {S.learning_rate}")


def nothing_learned(data: TrainingData, tally: Tally) -> CorpusError:
    """The error for a run that took no training step: its tables have only initial values."""
    advice = "use longer texts"
    if getattr(data.trainer, "min_count", 1) > 1:
        advice += f", or a lower {S.min_count}"
    if getattr(data.trainer, "subsample", 0) > 0:
        advice += f", or {S.subsample(0)} to keep frequent words"
    return CorpusError(
        f"nothing was learned: no word was left with another one near it ({tally.unit} read: {tally.units:,}); {advice}"
    )


def new_model(
    data: TrainingData, arrays: Arrays, progress: Progress, record: Mapping[str, Any] | None = None, *,
    composes: bool = True, tags: Any = None, labels: Vocabulary | None = None,
) -> Model:  # fmt: skip
    """A model with a complete record, for trainers that define `learn`.

    Arguments:
        arrays: the tables to save, float32; "vectors" (vocabulary, dim) are those of the words.
        progress: that at the end of training.
        record: further JSON values for the record.
        composes: whether the model composes vectors, if its trainer has a composer.
        tags: a pyarrow array of strings, one for each row of the table "documents".
        labels: the labels of texts, for a model that predicts labels.
    """
    numbers = data.trainer_name, progress.words, progress.total, progress.unit, progress.seconds
    log.info("trained %s: %s of %s %s, %.1f s", *numbers)
    meta, options = data.encoded.meta, data.run_options
    reading = {name: meta["settings"].get(name, usual) for name, usual in READING.items()}
    reading = {name: value for name, value in reading.items() if value != READING[name]}
    full_record = {
        "seed": data.seed,
        "threads": data.threads,
        **({} if options.replicas is None else {"replicas": to_jsonable(options.replicas)}),
        "corpus": data.encoded.fingerprint,
        TEXT_POOL: data.trainer.text_pool,
        "text": {**{name: meta["settings"].get(name) for name in TEXT_SETTINGS}, PHRASES: meta.get(PHRASES)},
        **({"reading": reading} if reading else {}),
        "unit": progress.unit,
        "words": progress.words,
        "total_words": progress.total,
        "seconds": round(progress.seconds, 3),
        "compile_seconds": round(compile_time.seconds - data.compiled_before, 3),
        "words_per_second": round(progress.words_per_second),
        **(record or {}),
    }
    phrases, continued = data.encoded.phrases, options.continued
    return Model(
        data.trainer_name,
        vectors=Vectors(list(data.vocabulary.words), arrays[VECTORS], counts=data.vocabulary.counts),
        vocabulary=data.vocabulary,
        settings=asdict(data.trainer),
        tables={name: array for name, array in arrays.items() if name != VECTORS},
        record=full_record,
        packages=package_versions() | registry.package_of("trainer", data.trainer_name),
        composer=data.trainer.composer if composes else None,
        tags=tags,
        labels=labels,
        phrases=phrases if continued is None else merge_phrase_tables(continued.phrases, phrases),
    )


class Run:
    """One run: what a trainer learns from, its plan, and who learns it, by default this process.

    Raises:
        DeclarationError: the plan uses a table that it does not declare.
        CorpusError: the corpus is empty.
    """

    def __init__(self, data: TrainingData, plan: Plan, executor: Threads | None = None) -> None:
        if plan.stream.units < 1:
            raise CorpusError(f"the corpus has no {plan.stream.unit} to learn from")
        self.data = data = data if plan.vocabulary is None else replace(data, vocabulary=plan.vocabulary)
        self.plan, self.callbacks = plan, data.run_options.callbacks
        self.notes: list[str] = []  # what the run started from, for the record
        tables = plan.allocate(data.seed)
        # Before the executor starts: replicas and workers copy these tables.
        frozen = self.initialize(tables)
        self.table_bytes = sum(table.nbytes for table in tables.values())
        self.executor = executor or (ReplicaThreads() if data.has_replicas else Threads())
        self.executor.start(data, plan, tables, frozen)
        self.tally = self.executor.tally
        self.reports_epochs = any(type(one).on_epoch_end is not Callback.on_epoch_end for one in self.callbacks)
        self.epochs_reported = 0  # whose end was reported to callbacks
        self.callback_state: list[dict[str, Any]] | None = None  # before the epoch end that is being reported
        self.stopped = self.checkpoint_due = False
        self.saved_tables: Arrays = {}  # that callbacks can roll back to
        self.average = Average(data.schedule.average_last)
        self.fingerprint = data.fingerprint() if data.run_options.checkpoints or self.callbacks else {}
        self.writer: CheckpointWriter | None = None

    def initialize(self, tables: Arrays) -> np.ndarray | None:
        """Copy what the run starts from into the tables; returns a mask of frozen rows of words, if any."""
        data, init, continued = self.data, self.data.run_options.init, self.data.run_options.continued
        words = len(data.vocabulary)
        if continued is not None:
            old = continued_training.apply(continued, data.vocabulary, self.plan, tables)
            self.notes = [f"{old:,} words continue from the model, {words - old:,} are new"]
        if init is None:
            return None
        mask = init.apply(data.vocabulary, data.encoded, self.plan, tables)
        self.notes = [f"{int(mask.sum()):,} of {words:,} words start from the given vectors"]
        return mask if init.freeze else None

    def train(self) -> Model:
        """Learn from the first unit to the last, or to where the user or a callback ends it.

        Raises:
            TrainingError: a vector or the loss overflowed.
            CorpusError: there was no training step, as no words are near each other.
            Interrupted: the user interrupted; its `model` holds what was learned, and its record the steps.
            CheckpointError: the checkpoint to resume is damaged or belongs to another run.
            OutputError: there are checkpoints already, or they cannot be written.
            FormatError: another program truncated a file that is being read; a checkpoint is written before.
        """
        self.start(self.data.run_options.checkpoints)
        try:
            while not self.is_complete:
                halt = self.next_halt()
                self.executor.learn_until(halt, self.report)
                # Before the end of the epoch: a callback may roll back, and the average starts again.
                if self.executor.has_read(self.average.due):
                    run_uninterrupted(self.add_to_average)
                if self.executor.epochs >= halt.epochs:
                    self.end_epoch(halt.epochs)
                # At the end of training there is nothing to resume.
                if self.checkpoint_due and self.tally.done < self.tally.total:
                    self.write_checkpoint()
        except FormatError:  # a file that is being read was truncated
            self.write_checkpoint()
            raise
        except KeyboardInterrupt:
            raise self.interrupted() from None
        if not self.tally.steps.any():
            raise nothing_learned(self.data, self.tally)
        if self.average.share is not None and self.epochs_reported == self.data.schedule.epochs:
            self.average.add(self.executor.tables)
        model = self.make_model(self.average.tables if self.average.count else self.executor.tables)
        for callback in self.callbacks:
            model = callback.on_run_end(model) or model
        return model

    @property
    def is_complete(self) -> bool:
        """Whether a callback stopped the run, or all epochs are complete."""
        return self.stopped or self.epochs_reported >= self.data.schedule.epochs

    def next_halt(self) -> Halt:
        """Where to halt for the end of an epoch, or for a point of the average."""
        ends_with_epoch = self.reports_epochs or self.executor.are_apart
        epochs = self.epochs_reported + 1 if ends_with_epoch else self.data.schedule.epochs
        return Halt(epochs, self.average.due)

    def start(self, checkpoints: Checkpoints | None) -> None:
        """Resume from the last checkpoint if requested and if there is one, else tidy the folder; notify callbacks."""
        resume = self.data.run_options.resume
        if checkpoints is not None:
            if not resume and checkpoints.force:
                checkpoints.remove_all()
            checkpoints.remove_partial()
            state = checkpoints.latest() if resume else None
            if state is not None:
                check_same_run(checkpoints.folder, state.fingerprint, self.fingerprint)
                try:
                    self.restore(state)
                except FormatError as error:
                    raise unusable(checkpoints, f"it is damaged: {error}") from None
            self.writer = CheckpointWriter(checkpoints, self.tally.done)
        name, tally = self.data.trainer_name, self.tally
        for callback in self.callbacks:
            callback.on_run_start(RunStart(name, self.fingerprint, tally.done, tally.total, tally.unit))

    def report(self) -> bool:
        """Report progress; returns whether a checkpoint is due."""
        check_mapped_files(self.plan.stream.arrays)
        progress = self.tally.progress()
        if progress.loss is not None and not isfinite(progress.loss):
            raise overflow("loss", self.tally)
        if self.data.report:
            self.data.report(progress)
        for callback in self.callbacks:
            callback.on_progress(progress)
        self.checkpoint_due = self.writer is not None and self.writer.is_due(progress.words, self.table_bytes)
        return self.checkpoint_due

    def add_to_average(self) -> None:
        """Add the tables to the average, for each of its points that is read."""
        while self.executor.has_read(self.average.due):
            self.average.add(self.executor.tables)

    def end_epoch(self, epoch: int) -> None:
        """Notify callbacks of the end of an epoch, and do what they request."""
        loss, progress = self.tally.losses()[epoch - 1], self.tally.progress()
        epoch_end = EpochEnd(epoch, progress, loss, lambda: self.make_model(copies(self.executor.tables)))
        if self.reports_epochs:
            # An interrupt in the middle of the calls writes a checkpoint, from which all of them are repeated.
            self.callback_state = [callback.state() for callback in stateful(self.callbacks)]
            for callback in self.callbacks:
                callback.on_epoch_end(epoch_end)
            if epoch_end.scores:
                for callback in self.callbacks:
                    callback.on_scores(epoch_end)
        # A checkpoint between counting the epoch and rolling back would resume from tables of neither.
        run_uninterrupted(lambda: self.finish_epoch(epoch_end))

    def finish_epoch(self, epoch_end: EpochEnd) -> None:
        """Count an epoch; save the tables or roll back to saved ones, if callbacks request it."""
        self.epochs_reported, self.callback_state = epoch_end.epoch, None
        self.stopped = epoch_end.stop_requested
        if epoch_end.save_requested:
            self.saved_tables = copies(self.executor.tables)
        if epoch_end.rollback_factor is not None and not self.is_complete:
            self.tally.learning_rate_factor = epoch_end.rollback_factor
            self.roll_back()

    def roll_back(self) -> None:
        """Continue from the saved tables; the average starts again."""
        tables = self.executor.tables
        for name, table in self.saved_tables.items():
            tables[name][...] = table
        self.executor.continue_from_tables()
        self.average.tables, self.average.count = {}, 0

    def interrupted(self) -> Interrupted:
        """Write a checkpoint, and return the error with what was learned."""
        with suppress(KeyboardInterrupt):  # a second one: earlier checkpoints remain
            self.write_checkpoint()
        with suppress(KeyboardInterrupt):
            self.executor.merge()
        for callback in self.callbacks:
            callback.on_interrupt(self.tally.progress())
        return Interrupted(self.make_model(self.executor.tables))

    def state(self) -> RunState:
        """The state of the run, part by part; its arrays are not copies."""
        values, arrays = self.executor.state()
        states = self.callback_state or [callback.state() for callback in stateful(self.callbacks)]
        parts = {"table": self.executor.tables, "saved": self.saved_tables, "average": self.average.tables}
        parts |= {f"callback.{number}": state for number, state in enumerate(states)}
        arrays = arrays | {f"{part}.{name}": value for part, state in parts.items() for name, value in state.items()
                           if isinstance(value, np.ndarray)}  # fmt: skip
        values = {
            **values,
            "epochs_reported": self.epochs_reported,
            "stopped": self.stopped,
            "average": [self.average.count, self.average.next_point],
            "callbacks": [
                json_values(callback, state) for callback, state in zip(stateful(self.callbacks), states, strict=True)
            ],
        }
        return RunState(self.fingerprint, {**values, "checksum": checksum(arrays, values)}, arrays)

    def restore(self, state: RunState) -> None:
        """Restore a saved state."""
        arrays, values, tables = state.arrays, state.values, self.executor.tables
        try:
            for name, table in tables.items():
                copy_into(table, arrays[f"table.{name}"])
            checked = {name: value for name, value in values.items() if name != "checksum"}
            if values["checksum"] not in (checksum(arrays, checked), checksum(arrays)):  # earlier versions: of arrays
                raise ValueError("the checksum is wrong")
            self.executor.restore(values, arrays)
            self.epochs_reported, self.stopped = check_count(values["epochs_reported"]), values["stopped"] is True
            self.average.count, self.average.next_point = map(check_count, values["average"])
            self.saved_tables, self.average.tables = (
                restored_tables(tables, arrays, part) for part in ("saved.", "average.")
            )
            if bool(self.average.count) != bool(self.average.tables):
                raise ValueError("the count of averaged tables is wrong")
            if values.get("is_rollback_due") and not self.is_complete:  # of an earlier version
                self.roll_back()
            for number, callback in enumerate(stateful(self.callbacks)):
                callback.restore(values["callbacks"][number] | without_prefix(arrays, f"callback.{number}."))
        except EmbeddingsError:
            raise
        except (KeyError, IndexError, OverflowError, TypeError, ValueError) as error:
            raise FormatError(f"the checkpoint is incomplete: {type(error).__name__}: {error}") from None

    def write_checkpoint(self) -> None:
        """Write a checkpoint, if the run has any."""
        if self.writer is None:
            return
        state = self.state()
        progress = replace(self.tally.progress(), words=sum(state.values["tally"]["words"]))
        path = self.writer.write(state, progress)
        if path is not None:
            for callback in self.callbacks:
                callback.on_checkpoint(path, progress)

    def make_model(self, tables: Arrays) -> Model:
        """The model of the tables of a run; consumes the tables."""
        plan, tally, losses = self.plan, self.tally, self.tally.losses()
        arrays = plan.saved_arrays(tables)
        for name, array in arrays.items():
            if not is_finite(array):
                raise overflow(name, tally)
        record = {
            "steps": int(tally.steps.sum()),
            "loss_by_epoch": losses,
            "loss_is_estimate": tally.loss_is_estimate,
            **self.executor.record,
            **plan.record,
        }
        notes = [*self.notes, *record.get(NOTES, [])]
        last = next((loss for loss in reversed(losses) if loss is not None), 0.0)
        if last > DIVERGED_LOSS:
            notes += [f"training diverged: the loss of the last epoch is {last:.2g}; use a lower learning rate"]
        if notes:
            record[NOTES] = notes
        if tables is self.average.tables:
            record[AVERAGE] = {"share": self.average.share, "points": self.average.count}
        parts = {"composes": plan.composes, "tags": plan.tags, "labels": plan.labels}
        return new_model(self.data, arrays, tally.progress(), record, **parts)


def json_values(callback: Callback, state: Mapping[str, Any]) -> Any:
    """The state of a callback without its arrays, as JSON reads it; numbers of numpy become those of Python."""
    values = {name: value for name, value in state.items() if not isinstance(value, np.ndarray)}
    try:
        return json.loads(json.dumps(values, default=np.generic.item))
    except (TypeError, ValueError) as error:
        name = type(callback).__name__
        raise DeclarationError(f"the state of the callback {name} must be arrays and JSON values: {error}") from error


def restored_tables(tables: Arrays, arrays: Mapping[str, np.ndarray], prefix: str) -> Arrays:
    """Copies of all `tables` that a checkpoint has under a prefix; none if it has none."""
    saved = without_prefix(arrays, prefix)
    if not saved:
        return {}
    restored = {name: np.empty_like(table) for name, table in tables.items()}
    for name, table in restored.items():
        copy_into(table, saved[name])
    return restored
