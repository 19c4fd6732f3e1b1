"""A training run from its first unit to its last.

Threads learn in segments. A segment ends at the end of the corpus, at the end of an epoch if a callback needs it, when
a checkpoint is due, or when the user interrupts. Every thread then halts at the end of its block, and the next segment
continues from there. So the state at checkpoints, epoch ends and interrupts can be restored.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from math import isfinite
from threading import Event
from typing import Any
from zlib import crc32

import numpy as np

from embeddings import registry
from embeddings.compilation.compile_time import compile_time
from embeddings.corpora.phrases.phrase_list import merge_phrase_tables
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, DeclarationError, EmbeddingsError, FormatError, S
from embeddings.models.model import TEXT_POOL, Model
from embeddings.models.model_files import package_versions
from embeddings.models.table import VECTORS, Arrays, copy_into, is_finite
from embeddings.models.text_settings import PHRASES, TEXT_SETTINGS
from embeddings.support.logs import log
from embeddings.support.mapped_files import check_mapped_files
from embeddings.support.records import to_jsonable
from embeddings.training import continued_training
from embeddings.training.callbacks import Callback, EpochEnd, RunStart, stateful
from embeddings.training.checkpoints import Checkpoints, CheckpointWriter, RunState, check_same_run, unusable
from embeddings.training.plan import Plan
from embeddings.training.progress import Progress, Tally
from embeddings.training.replicas import ReplicaTables
from embeddings.training.training_data import TrainingData
from embeddings.training.worker import Worker, check_count, run_threads
from embeddings.vectors.vectors import Vectors

NOTES = "notes"  # in the record of a model: what its run started from, and what is wrong with it
DIVERGED_LOSS = 1e8  # of an example: random vectors have less even with a million labels
AVERAGE = "average"  # in the record of a model whose tables are averages


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
    full_record = {
        "seed": data.seed,
        "threads": data.threads,
        **({} if options.replicas is None else {"replicas": to_jsonable(options.replicas)}),
        "corpus": data.encoded.fingerprint,
        TEXT_POOL: data.trainer.text_pool,
        "text": {**{name: meta["settings"].get(name) for name in TEXT_SETTINGS}, PHRASES: meta.get(PHRASES)},
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


POINTS = 20  # at which the tables enter the mean; the last is the end of training
BLOCK = 1 << 22  # numbers at a time, so that no further table is ever in memory


class Average:
    """A running mean of tables, taken at equal distances in the last `share` of training, 0 to 1; None takes none."""

    def __init__(self, share: float | None) -> None:
        self.share = share
        self.tables: Arrays = {}
        self.count = 0  # points in the mean
        self.next_point = 1  # to `POINTS`

    @property
    def due(self) -> float | None:
        """The share of training after which the next point is due; None if it is the end of training, or none is."""
        if self.share is None or self.next_point >= POINTS:
            return None
        return 1 - self.share * (POINTS - self.next_point) / POINTS

    def add(self, tables: Arrays) -> None:
        """Add a point."""
        self.next_point += 1
        self.count += 1
        if self.count == 1:
            self.tables = {name: table.copy() for name, table in tables.items()}
            return
        for name, table in self.tables.items():
            mean, numbers = table.reshape(-1), tables[name].reshape(-1)
            for start in range(0, len(mean), BLOCK):
                block = slice(start, start + BLOCK)
                mean[block] += (numbers[block] - mean[block]) / np.float32(self.count)


RunProgress = tuple[dict[str, Any], dict[str, np.ndarray]]  # JSON values and arrays


def capture_progress(run: "Run") -> RunProgress:
    """The counts of a run and the states of its workers, with replicas also the next merge; arrays are not copies."""
    arrays = {
        f"thread.{number}.{name}": array
        for number, worker in enumerate(run.workers)
        for name, array in worker.arrays().items()
    }
    values: dict[str, Any] = {"tally": run.tally.state(), "workers": [worker.state() for worker in run.workers]}
    if run.replicas is not None:
        values["next_merge"] = run.replicas.schedule.next_merge
    return values, arrays


def capture(run: "Run") -> RunState:
    """The state of a run (with replicas, at their last merge); its arrays are not copies."""
    progress, arrays = run.merged_progress or capture_progress(run)
    arrays = arrays | {f"table.{name}": table for name, table in run.tables.items()}
    arrays |= {f"saved.{name}": table for name, table in run.saved_tables.items()}
    arrays |= {f"average.{name}": table for name, table in run.average.tables.items()}
    callback_values = []
    for number, state in enumerate(run.callback_state or [callback.state() for callback in stateful(run.callbacks)]):
        arrays |= {f"callback.{number}.{name}": value for name, value in state.items() if isinstance(value, np.ndarray)}
        callback_values.append({name: value for name, value in state.items() if not isinstance(value, np.ndarray)})
    values = {
        **progress,
        "epochs_reported": run.epochs_reported,
        "stopped": run.stopped,
        "is_rollback_due": run.is_rollback_due,
        "average": [run.average.count, run.average.next_point],
        "callbacks": callback_values,
        "checksum": checksum(arrays),
    }
    return RunState(run.fingerprint, values, arrays)


def restore(run: "Run", state: RunState) -> None:
    """Restore a saved state into a new run."""
    arrays, values = state.arrays, state.values
    try:
        for name, table in run.tables.items():
            copy_into(table, arrays[f"table.{name}"])
        if values["checksum"] != checksum(arrays):
            raise ValueError("the checksum of the arrays is wrong")
        for number, worker in enumerate(run.workers):
            worker.restore(values["workers"][number], without_prefix(arrays, f"thread.{number}."))
        run.tally.restore(values["tally"])
        if run.replicas is not None:
            run.replicas.schedule.next_merge = check_count(values["next_merge"])
            run.replicas.broadcast()
        run.epochs_reported, run.stopped = check_count(values["epochs_reported"]), values["stopped"] is True
        run.is_rollback_due = values["is_rollback_due"] is True
        run.average.count, run.average.next_point = map(check_count, values["average"])
        run.saved_tables, run.average.tables = (restored_tables(run, arrays, kind) for kind in ("saved.", "average."))
        if bool(run.average.count) != bool(run.average.tables):
            raise ValueError("the count of averaged tables is wrong")
        for number, callback in enumerate(stateful(run.callbacks)):
            callback.restore(values["callbacks"][number] | without_prefix(arrays, f"callback.{number}."))
    except EmbeddingsError:
        raise
    except (KeyError, IndexError, OverflowError, TypeError, ValueError) as error:
        raise FormatError(f"the checkpoint is incomplete: {type(error).__name__}: {error}") from None


def restored_tables(run: "Run", arrays: Mapping[str, np.ndarray], prefix: str) -> Arrays:
    """Copies of all tables of the run that a checkpoint has under a prefix; none if it has none."""
    saved = without_prefix(arrays, prefix)
    if not saved:
        return {}
    copies = {name: np.empty_like(table) for name, table in run.tables.items()}
    for name, table in copies.items():
        copy_into(table, saved[name])
    return copies


def checksum(arrays: Mapping[str, np.ndarray]) -> int:
    """The CRC-32 of all arrays in order of their names; detects corruption."""
    value = 0
    for name in sorted(arrays):
        value = crc32(np.ascontiguousarray(arrays[name]).data.cast("B") if arrays[name].size else b"", value)
    return value


def without_prefix(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """The arrays whose names start with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


@dataclass(eq=False)
class Run:
    """One run: what a trainer learns from, and its plan."""

    data: TrainingData
    plan: Plan

    def __post_init__(self) -> None:
        if not isinstance(self.plan, Plan):
            raise DeclarationError(
                f"the plan of the trainer {self.data.trainer_name} must be a Plan, got {self.plan!r:.80}"
            )
        if self.plan.vocabulary is not None:
            self.data = replace(self.data, vocabulary=self.plan.vocabulary)
        data, self.run_options, unit = self.data, self.data.run_options, self.plan.stream.unit
        if self.plan.stream.units < 1:
            raise CorpusError(f"the corpus has no {unit} to learn from")
        self.callbacks = self.run_options.callbacks
        self.notes: list[str] = []  # what the run started from, for the record
        self.tables = self.plan.allocate(data.seed)
        frozen = self.initialize_tables()
        self.table_bytes = sum(table.nbytes for table in self.tables.values())
        self.replicas = self.new_replicas()
        self.tally = Tally(
            data.shares, data.schedule, self.plan.stream.units, unit, loss_is_estimate=self.plan.loss_is_estimate,
            shares=np.diff(self.plan.stream.bounds(data.shares)).tolist() if self.replicas else (),
        )  # fmt: skip
        self.workers = self.new_workers(frozen)
        self.tally.start_clock()
        self.epochs_reported = 0  # whose end was reported to callbacks
        self.callback_state: list[dict[str, Any]] | None = None  # before the epoch end that is being reported
        self.stopped = self.checkpoint_due = False
        self.saved_tables: Arrays = {}  # that callbacks can roll back to
        self.is_rollback_due = False
        self.average = Average(data.schedule.average_last)
        self.fingerprint = data.fingerprint() if self.run_options.checkpoints or self.callbacks else {}
        self.writer: CheckpointWriter | None = None
        self.merged_progress: RunProgress | None = None  # at the last merge

    def new_replicas(self) -> ReplicaTables | None:
        """The tables of replicas, if there are any."""
        replicas = self.run_options.replicas if self.data.has_replicas else None
        return ReplicaTables(replicas, self.plan.tables, self.tables, self.data.threads) if replicas else None

    def new_workers(self, frozen: np.ndarray | None) -> Sequence[Worker]:
        """The workers, one for each share, with compiled kernels."""
        data, tally, numbers = self.data, self.tally, range(self.data.shares)
        tables = [self.tables if self.replicas is None else self.replicas.tables(number) for number in numbers]
        workers = [Worker(data, self.plan, tables[number], tally, number, frozen) for number in numbers]
        workers[0].compile()
        return workers

    def initialize_tables(self) -> np.ndarray | None:
        """Copy what the run starts from into the tables; returns a mask of frozen rows of words, if any."""
        data, init, continued = self.data, self.run_options.init, self.run_options.continued
        words = len(data.vocabulary)
        if continued is not None:
            old = continued_training.apply(continued, data, self.plan, self.tables)
            self.notes = [f"{old:,} words continue from the model, {words - old:,} are new"]
        if init is None:
            return None
        if self.plan.word_table not in self.tables:
            raise DeclarationError(
                f"the word_table of the plan, {self.plan.word_table!r}, is not a table: {self.plan.names}"
            )
        mask = init.apply(data, self.plan, self.tables)
        verb = "start from the given vectors" if init.mode == "initial" else "have a pretrained vector"
        self.notes = [f"{int(mask.sum()):,} of {words:,} words {verb}"]
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
        self.start(self.run_options.checkpoints)
        try:
            while not self.stopped and self.epochs_reported < self.data.schedule.epochs:
                self.run_segment()
        except FormatError:  # a file that is being read was truncated
            self.write_checkpoint()
            raise
        except KeyboardInterrupt:
            with suppress(KeyboardInterrupt):  # a second one: earlier checkpoints remain
                self.write_checkpoint()
            with suppress(KeyboardInterrupt):
                if self.replicas is not None:
                    self.replicas.merge()
            for callback in self.callbacks:
                callback.on_interrupt(self.tally.progress())
            raise Interrupted(self.make_model(self.tables)) from None
        if not self.tally.steps.any():
            raise nothing_learned(self.data, self.tally)
        if self.average.share is not None and self.epochs_reported == self.data.schedule.epochs:
            self.average.add(self.tables)
        model = self.make_model(self.average.tables if self.average.count else self.tables)
        for callback in self.callbacks:
            model = callback.on_run_end(model) or model
        return model

    def start(self, checkpoints: Checkpoints | None) -> None:
        """Resume from the last checkpoint if requested and if there is one, else tidy the folder; notify callbacks."""
        if checkpoints is not None:
            if not self.run_options.resume and checkpoints.force:
                checkpoints.remove_all()
            checkpoints.remove_partial()
            state = checkpoints.latest() if self.run_options.resume else None
            if state is not None:
                check_same_run(checkpoints.folder, state.fingerprint, self.fingerprint)
                try:
                    restore(self, state)
                except FormatError as error:
                    raise unusable(checkpoints, f"it is damaged: {error}") from None
            self.writer = CheckpointWriter(checkpoints, self.tally.done)
            self.record_merge()
        name, tally = self.data.trainer_name, self.tally
        for callback in self.callbacks:
            callback.on_run_start(RunStart(name, self.fingerprint, tally.done, tally.total, tally.unit))

    def run_segment(self) -> None:
        """Let the threads learn until an epoch end, a point of the average or a checkpoint is due, and handle it."""
        if self.is_rollback_due:
            run_uninterrupted(self.roll_back)
        epoch_ends_wanted = any(type(one).on_epoch_end is not Callback.on_epoch_end for one in self.callbacks)
        ends_with_epoch = epoch_ends_wanted or self.replicas is not None  # then callbacks do not change the result
        epochs = self.epochs_reported + 1 if ends_with_epoch else self.data.schedule.epochs
        self.checkpoint_due = False
        merge = None if self.replicas is None else self.replicas.next_merge_progress(self.tally.total)
        halts = [share for share in (self.average.due, merge) if share is not None]  # for a merge or the average
        self.learn_until(epochs, min(halts, default=None))
        if self.replicas is not None or self.have_read(self.average.due):
            run_uninterrupted(self.end_segment)
        if min(worker.epochs for worker in self.workers) >= epochs:
            if epoch_ends_wanted:
                self.callback_state = [callback.state() for callback in stateful(self.callbacks)]
                self.report_epoch_end(epochs)
            self.epochs_reported, self.callback_state = epochs, None
        if self.checkpoint_due and self.tally.done < self.tally.total:
            self.write_checkpoint()

    def learn_until(self, epochs: int, share: float | None) -> None:
        """Let all workers learn until they have completed `epochs` or read the given share of their units."""

        def work(thread: int, halt: Event) -> None:
            for worker in self.workers[thread :: self.data.threads]:
                worker.run_until(epochs, halt, share)

        run_threads(work, self.data.threads, self.report)

    def end_segment(self) -> None:
        """Merge replicas, and add to the average."""
        if self.replicas is not None:
            self.replicas.merge()
            if self.have_read(self.replicas.next_merge_progress(self.tally.total)):
                self.replicas.schedule.advance()
        while self.have_read(self.average.due):
            self.average.add(self.tables)
        self.record_merge()

    def have_read(self, share: float | None) -> bool:
        """Whether all workers have read this share of their units; False for None."""
        return share is not None and all(worker.has_read(share * worker.units) for worker in self.workers)

    def record_merge(self) -> None:
        """Record the progress at a merge, from which a checkpoint that is written before the next one continues."""
        if self.replicas is not None and self.writer is not None:
            values, arrays = capture_progress(self)
            self.merged_progress = values, {name: array.copy() for name, array in arrays.items()}

    def report(self) -> bool:
        """Report progress; returns whether the threads are to halt for a checkpoint; replicas halt when merged."""
        check_mapped_files(self.plan.stream.arrays)
        progress = self.tally.progress()
        if progress.loss is not None and not isfinite(progress.loss):
            raise overflow("loss", self.tally)
        if self.data.report:
            self.data.report(progress)
        for callback in self.callbacks:
            callback.on_progress(progress)
        self.checkpoint_due = self.writer is not None and self.writer.is_due(progress.words, self.table_bytes)
        return self.checkpoint_due and self.replicas is None

    def report_epoch_end(self, epoch: int) -> None:
        """Notify callbacks of the end of an epoch; one of them may end the run."""
        loss, progress = self.tally.losses()[epoch - 1], self.tally.progress()
        epoch_end = EpochEnd(epoch, progress, loss, lambda: self.make_model(self.copy_tables()))
        for callback in self.callbacks:
            callback.on_epoch_end(epoch_end)
        if epoch_end.scores:
            for callback in self.callbacks:
                callback.on_scores(epoch_end)
        if epoch_end.save_requested:
            self.saved_tables = self.copy_tables()
        factor = epoch_end.rollback_factor
        if factor is not None:
            self.tally.learning_rate_factor = factor
        self.stopped, self.is_rollback_due = epoch_end.stop_requested, factor is not None

    def roll_back(self) -> None:
        """Continue from the saved tables; the average starts again."""
        for name, table in self.saved_tables.items():
            self.tables[name][...] = table
        if self.replicas is not None:
            self.replicas.broadcast()
        self.average.tables, self.average.count = {}, 0
        self.is_rollback_due = False

    def write_checkpoint(self) -> None:
        """Write a checkpoint, if the run has any."""
        if self.writer is None:
            return
        state = capture(self)
        progress = replace(self.tally.progress(), words=sum(state.values["tally"]["words"]))
        path = self.writer.write(state, progress)
        if path is not None:
            for callback in self.callbacks:
                callback.on_checkpoint(path, progress)

    def copy_tables(self) -> Arrays:
        """Copies of all tables."""
        return {name: table.copy() for name, table in self.tables.items()}

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


def run_uninterrupted(work: Callable[[], None]) -> None:
    """Do some work on another thread; an interrupt of this one is raised when it is done."""
    run_threads(lambda thread, halt: work(), 1, lambda: False)
