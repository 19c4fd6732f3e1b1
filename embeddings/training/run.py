"""A training run from its first unit to its last.

Threads learn in segments. A segment ends at the end of the corpus, at the end of an epoch if a callback needs it, when
a checkpoint is due, or when the user interrupts. Every thread then halts at the end of its block, and the next segment
continues from there. So the state at checkpoints, epoch ends and interrupts can be restored.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import isfinite
from threading import Event
from typing import Any

import numpy as np

from embeddings.errors import DeclarationError, FormatError
from embeddings.models.model import Model
from embeddings.models.parameters import Arrays
from embeddings.support.mapped_files import check_mapped_files
from embeddings.training import continued_training
from embeddings.training.averaging import Average
from embeddings.training.callbacks import EpochEnd, RunStart, stateful, wants_epoch_end
from embeddings.training.checkpoints import Checkpoints, CheckpointWriter, check_same_run, unusable
from embeddings.training.hogwild import run_threads
from embeddings.training.plan import Plan
from embeddings.training.progress import Tally
from embeddings.training.replica_tables import ReplicaTables
from embeddings.training.result import AVERAGE, NOTES, Interrupted, build_model, nothing_learned, overflow
from embeddings.training.state import RunProgress, capture, capture_progress, restore
from embeddings.training.stream_contract import check_stream
from embeddings.training.training_data import TrainingData
from embeddings.training.worker import Worker


@dataclass(eq=False)
class Run:
    """One run: what a trainer learns from, and its plan."""

    data: TrainingData
    plan: Plan

    def __post_init__(self) -> None:
        if not isinstance(self.plan, Plan):
            raise DeclarationError(f"the plan of the trainer {self.data.trainer} must be a Plan, got {self.plan!r:.80}")
        if self.plan.vocabulary is not None:
            self.data = replace(self.data, vocabulary=self.plan.vocabulary)
        self.plan.check_vectors(self.data.vocabulary, getattr(self.data.settings, "dim", None))
        check_stream(self.plan.stream, self.data.shares, is_shuffled=self.data.schedule.shuffle)
        data, self.run_options, unit = self.data, self.data.run_options, self.plan.stream.unit
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
        replicas = self.run_options.replicas
        if replicas is None or not self.data.has_replicas:
            return None
        return ReplicaTables(replicas, self.plan.tables, self.tables, self.data.threads)

    def new_workers(self, frozen: np.ndarray | None) -> Sequence[Worker]:
        """The workers, one for each share, with compiled kernels."""
        data, tally, numbers = self.data, self.tally, range(self.data.shares)
        workers = [Worker(data, self.plan, self.tables_of(number), tally, number, frozen) for number in numbers]
        workers[0].compile()
        return workers

    def tables_of(self, number: int) -> Arrays:
        """The tables that a worker learns."""
        return self.tables if self.replicas is None else self.replicas.tables(number)

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
        self.start()
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
                self.merge()
            for callback in self.callbacks:
                callback.on_interrupt(self.tally.progress())
            raise Interrupted(self.make_model(self.tables)) from None
        if not self.tally.steps.any():
            raise nothing_learned(self.data, self.tally)
        model = self.final_model()
        for callback in self.callbacks:
            model = callback.on_run_end(model) or model
        return model

    def start(self) -> None:
        """Prepare checkpoints, resume if requested, and notify callbacks."""
        if self.run_options.checkpoints is not None:
            self.resume(self.run_options.checkpoints)
            self.writer = CheckpointWriter(self.run_options.checkpoints, self.tally.done)
            self.record_merge()
        name, tally = self.data.trainer, self.tally
        for callback in self.callbacks:
            callback.on_run_start(RunStart(name, self.fingerprint, tally.done, tally.total, tally.unit))

    def resume(self, checkpoints: Checkpoints) -> None:
        """Continue from the last checkpoint if requested and if there is one; otherwise clean up the folder."""
        if not self.run_options.resume and checkpoints.force:
            checkpoints.remove_all()
        checkpoints.remove_partial()
        state = checkpoints.latest() if self.run_options.resume else None
        if state is None:
            return
        check_same_run(checkpoints.folder, state.fingerprint, self.fingerprint)
        try:
            restore(self, state)
        except FormatError as error:
            raise unusable(checkpoints, f"it is damaged: {error}") from None

    def run_segment(self) -> None:
        """Let the threads learn until an epoch end, a point of the average or a checkpoint is due, and handle it."""
        if self.is_rollback_due:
            run_uninterrupted(self.roll_back)
        epoch_ends_wanted = any(map(wants_epoch_end, self.callbacks))
        ends_with_epoch = epoch_ends_wanted or self.replicas is not None  # then callbacks do not change the result
        epochs = self.epochs_reported + 1 if ends_with_epoch else self.data.schedule.epochs
        self.checkpoint_due = False
        self.learn_until(epochs, self.segment_share())
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
        """Let all workers learn until they have completed these epochs or read this share of their units."""

        def work(thread: int, halt: Event) -> None:
            for worker in self.workers[thread :: self.data.threads]:
                worker.run_until(epochs, halt, share)

        run_threads(work, self.data.threads, self.report)

    def segment_share(self) -> float | None:
        """The share of training after which threads halt for a merge or the average; None if they need not."""
        merge = None if self.replicas is None else self.replicas.due(self.tally.total)
        return min((share for share in (self.average.due, merge) if share is not None), default=None)

    def end_segment(self) -> None:
        """Merge replicas, and add to the average."""
        self.merge()
        if self.replicas is not None and self.have_read(self.replicas.due(self.tally.total)):
            self.replicas.schedule.advance()
        while self.have_read(self.average.due):
            self.average.add(self.tables)
        self.record_merge()

    def have_read(self, share: float | None) -> bool:
        """Whether all workers have read this share of their units; False for None."""
        return share is not None and all(worker.has_read(share * worker.units) for worker in self.workers)

    def merge(self) -> None:
        """Merge the replicas, if there are any."""
        if self.replicas is not None:
            self.replicas.merge()

    def record_merge(self) -> None:
        """Record the progress at a merge, from which a checkpoint that is written before the next one continues."""
        if self.replicas is not None and self.writer is not None:
            self.merged_progress = capture_progress(self).copy()

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
        self.average.clear()
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

    def final_model(self) -> Model:
        """The model at the end of training: of the tables or, if the settings say so, of their average."""
        if self.data.schedule.average_last is None:
            return self.make_model(self.tables)
        if self.epochs_reported == self.data.schedule.epochs:
            self.average.add(self.tables)
        if not self.average.count:
            return self.make_model(self.tables)
        model = self.make_model(self.average.tables)
        model.record[AVERAGE] = {"share": self.average.share, "points": self.average.count}
        return model

    def make_model(self, tables: Arrays) -> Model:
        """The model of these tables, which it consumes."""
        model = build_model(self.data, self.plan, self.plan.saved_arrays(tables), self.tally)
        if self.notes:
            model.record[NOTES] = [*self.notes, *model.record.get(NOTES, [])]
        return model


def run_uninterrupted(work: Callable[[], None]) -> None:
    """Do some work on another thread; an interrupt of this one is raised when it is done."""
    run_threads(lambda thread, halt: work(), 1, lambda: False)
