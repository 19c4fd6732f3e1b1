"""A training run from its first word to its last.

Threads learn in segments. A segment ends at the end of the corpus, at the end of an epoch if a callback needs it, when
a checkpoint is due, or when the user interrupts. Every thread then halts at the end of its block, and the next segment
continues from there. So the state at checkpoints, epoch ends and interrupts can be restored.
"""

from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from math import isfinite
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.errors import FormatError
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.models.model import Model
from embeddings.training import continued_training
from embeddings.training.callbacks import EpochEnd, RunStart, stateful, wants_epoch_end
from embeddings.training.checkpoints import Checkpoints, CheckpointWriter, check_same_run, unusable
from embeddings.training.hogwild import run_threads
from embeddings.training.parameters import Arrays, parameter_arrays
from embeddings.training.progress import Tally
from embeddings.training.result import Interrupted, build_model, overflow
from embeddings.training.state import capture, restore
from embeddings.training.worker import BlockStream, LearnBlock, Worker

if TYPE_CHECKING:
    from embeddings.training.task import Task


@dataclass(eq=False)
class Run:
    """One run of a task; the fields are the arguments of `Task.run`."""

    task: "Task"
    learn_block: LearnBlock
    tables: Any
    new_buffers: Callable[[], StepBuffers]
    stream: BlockStream
    thread_tables: Callable[[], Any]
    final_tables: Callable[[Any], Arrays]
    composes: bool

    def __post_init__(self) -> None:
        task, self.run_options = self.task, self.task.run_options
        self.callbacks = self.run_options.callbacks
        self.notes: dict[str, Any] = {}  # what the run started from, for the record
        frozen = self.initialize_tables()
        Worker(self, Tally(1, task.settings, 1), 0).compile()
        self.tally = Tally(task.threads, task.settings, task.corpus_words)
        self.workers = [Worker(self, self.tally, thread, frozen) for thread in range(task.threads)]
        self.epochs_reported = 0  # whose end was reported to callbacks
        self.callback_state: list[dict[str, Any]] | None = None  # before the epoch end that is being reported
        self.stopped = self.checkpoint_due = False
        self.fingerprint = task.fingerprint() if self.run_options.checkpoints or self.callbacks else {}
        self.writer: CheckpointWriter | None = None

    def initialize_tables(self) -> np.ndarray | None:
        """Copy what the run starts from into the tables; returns a mask of frozen rows of words, if any."""
        task, tables, init = self.task, self.tables, self.run_options.init
        words = len(task.vocabulary)
        if self.run_options.continued is not None:
            old = continued_training.apply(self.run_options.continued, task, tables)
            self.notes = {"notes": [f"{old:,} words continue from the model, {words - old:,} are new"]}
        if init is None:
            return None
        mask = init.apply(task, tables)
        self.notes = {"notes": [f"{int(mask.sum()):,} of {words:,} words start from the given vectors"]}
        return mask if init.freeze else None

    def train(self) -> Model:
        """Learn from the first word to the last; see `Task.run` for errors."""
        self.start()
        try:
            while not self.stopped and self.epochs_reported < self.task.settings.epochs:
                self.run_segment()
        except KeyboardInterrupt:
            with suppress(KeyboardInterrupt):  # a second one: earlier checkpoints remain
                self.write_checkpoint()
            for callback in self.callbacks:
                callback.on_interrupt(self.tally.progress())
            raise Interrupted(self.make_model(self.tables)) from None
        model = self.make_model(self.tables)
        for callback in self.callbacks:
            model = callback.on_run_end(model) or model
        return model

    def start(self) -> None:
        """Prepare checkpoints, resume if requested, and notify callbacks."""
        if self.run_options.checkpoints is not None:
            self.resume(self.run_options.checkpoints)
            self.writer = CheckpointWriter(self.run_options.checkpoints, self.tally.done)
        for callback in self.callbacks:
            callback.on_run_start(RunStart(self.task.trainer, self.fingerprint, self.tally.done, self.tally.total))

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
        """Let the threads learn until an epoch end or a checkpoint is due, and handle it."""
        epoch_ends_wanted = any(map(wants_epoch_end, self.callbacks))
        epochs = self.epochs_reported + 1 if epoch_ends_wanted else self.task.settings.epochs

        def work(thread: int, halt: Event) -> None:
            self.workers[thread].run_until(epochs, halt)

        self.checkpoint_due = False
        run_threads(work, self.task.threads, self.report)
        if min(worker.epochs for worker in self.workers) >= epochs:
            if epoch_ends_wanted:
                self.callback_state = [callback.state() for callback in stateful(self.callbacks)]
                self.report_epoch_end(epochs)
            self.epochs_reported, self.callback_state = epochs, None
        if self.checkpoint_due and self.tally.done < self.tally.total:
            self.write_checkpoint()

    def report(self) -> bool:
        """Report progress; returns whether the threads are to halt for a checkpoint."""
        progress = self.tally.progress()
        if progress.loss is not None and not isfinite(progress.loss):
            raise overflow("loss", self.tally)
        if self.task.report:
            self.task.report(progress)
        for callback in self.callbacks:
            callback.on_progress(progress)
        size = sum(table.nbytes for table in parameter_arrays(self.tables).values())
        self.checkpoint_due = self.writer is not None and self.writer.is_due(progress.words, size)
        return self.checkpoint_due

    def report_epoch_end(self, epoch: int) -> None:
        """Notify callbacks of the end of an epoch; one of them may end the run."""
        loss, progress = self.tally.losses()[epoch - 1], self.tally.progress()
        epoch_end = EpochEnd(epoch, progress, loss, lambda: self.make_model(deepcopy(self.tables)))
        for callback in self.callbacks:
            callback.on_epoch_end(epoch_end)
        self.stopped = epoch_end.stop_requested

    def write_checkpoint(self) -> None:
        """Write a checkpoint, if the run has any."""
        if self.writer is None:
            return
        progress = self.tally.progress()
        path = self.writer.write(capture(self), progress)
        if path is not None:
            for callback in self.callbacks:
                callback.on_checkpoint(path, progress)

    def make_model(self, tables: Any) -> Model:
        """The model of these tables, which it consumes."""
        model = build_model(self.task, self.final_tables(tables), self.tally, self.composes)
        model.record |= self.notes
        return model
