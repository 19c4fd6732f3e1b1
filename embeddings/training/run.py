"""A run from its first word to its last: threads that learn, and what is done while they stand still.

Threads learn in stretches. A stretch ends with the corpus, with an epoch if somebody wants to be told of its end, when
a checkpoint is due, or when the user interrupts; every thread then halts at the end of its block, and the next stretch
goes on from there. So a checkpoint, the end of an epoch and an interrupt all find the run in a state that it can be
put back into.
"""

from collections.abc import Callable
from contextlib import suppress
from math import isfinite
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from embeddings.errors import FormatError
from embeddings.kernels.step_buffers import StepBuffers, with_frozen_rows
from embeddings.models.model import Model
from embeddings.training import hogwild
from embeddings.training.callbacks import RunStart, EpochEnd, wants_epoch_end
from embeddings.training.checkpoints import Keeper, check_same, useless
from embeddings.training.continued_training import put
from embeddings.training.init_vectors import WORDS
from embeddings.training.parameters import Arrays, copy_tables, parameters
from embeddings.training.progress import Tally
from embeddings.training.result import Interrupted, model_of, overflow
from embeddings.training.run_fingerprint import identity
from embeddings.training.state import memories, put_back, taken
from embeddings.training.worker import LearnBlock, BlockStream, Worker

if TYPE_CHECKING:
    from embeddings.training.task import Task


class Learner(NamedTuple):
    """A model as a run sees it; see `Task.run`."""

    learn_block: LearnBlock
    tables: Any
    buffers: Callable[[], StepBuffers]
    reader: BlockStream
    own: Callable[[], Any]
    learned: Callable[[Any], Arrays]
    composes: bool


class Run:
    """One run of a task."""

    def __init__(self, task: "Task", learner: Learner) -> None:
        self.task, self.learner, self.run_options = task, learner, task.run_options
        self.callbacks = list(task.run_options.callbacks)
        self.begun: dict[str, Any] = {}  # what it started from, for the record
        self.frozen = self.start()
        Worker(task, learner.reader, Tally(1, task.settings, 1), 0, learner.buffers()).compile(
            learner.learn_block, learner.own()
        )
        self.tally = Tally(task.threads, task.settings, task.corpus_words)
        self.workers = [
            Worker(task, learner.reader, self.tally, thread, self.buffers()) for thread in range(task.threads)
        ]
        self.own = [learner.own() for _ in self.workers]
        self.told = 0  # epochs whose end the callbacks know of
        self.memory: list[dict[str, Any]] | None = None  # what they knew before, while they are told of one
        self.stopped = self.due = False
        self.named = identity(task) if self.run_options.checkpoints or self.callbacks else {}
        self.keeper: Keeper | None = None

    def start(self) -> np.ndarray | None:
        """Put what is given into the tables; gives the rows of words that are not to move, if any."""
        task, tables = self.task, self.learner.tables
        words = len(task.vocabulary)
        if self.run_options.continued is not None:
            old = put(self.run_options.continued, task, tables)
            self.begun = {"notes": [f"{old:,} words went on from the model, {words - old:,} are new"]}
        if self.run_options.init is None:
            return None
        given = self.run_options.init.put(task, tables)
        self.begun = {"notes": [f"{int(given.sum()):,} of {words:,} words started from the given vectors"]}
        return given if self.run_options.init.freeze else None

    def buffers(self) -> StepBuffers:
        """A thread's scratch."""
        made = self.learner.buffers()
        return made if self.frozen is None else with_frozen_rows(made, parameters(self.learner.tables)[WORDS], self.frozen)

    def model(self) -> Model:
        """The model, from first word to last.

        Raises:
            TrainingError: a vector or the loss overflowed.
            CheckpointError: the checkpoint to go on from is damaged, or that of another run.
            OutputError: there are checkpoints already, or none can be written.
            Interrupted: the user interrupted.
        """
        self.begin()
        try:
            while not self.stopped and self.told < self.task.settings.epochs:
                self.stretch()
        except KeyboardInterrupt:
            self.interrupted()
            raise Interrupted(self.last()) from None
        model = self.last()
        for callback in self.callbacks:
            model = callback.end(model) or model
        return model

    def begin(self) -> None:
        """Be where the last checkpoint was, if that is asked for."""
        if self.run_options.checkpoints is not None:
            self.resume()
            self.keeper = Keeper(self.run_options.checkpoints, self.tally.done)
        for callback in self.callbacks:
            callback.begin(RunStart(self.task.trainer, self.named, self.tally.done, self.tally.total))

    def resume(self) -> None:
        """Go on from the last checkpoint, if that is asked for and there is one; else the folder is made free."""
        checkpoints = self.run_options.checkpoints
        assert checkpoints is not None
        if not self.run_options.resume:
            checkpoints.sweep(everything=checkpoints.force)
            return
        checkpoints.sweep()
        state = checkpoints.latest()
        if state is None:
            return
        check_same(checkpoints.folder, state.run, self.named)
        try:
            put_back(self, state)
        except FormatError as error:
            raise useless(checkpoints, f"it is damaged: {error}") from None

    def stretch(self) -> None:
        """Let the threads learn until something is to be done, and do it."""
        waits = any(map(wants_epoch_end, self.callbacks))
        until = self.told + 1 if waits else self.task.settings.epochs

        def work(thread: int, halt: Event) -> None:
            self.workers[thread].go_on(until, self.learner.learn_block, self.own[thread], halt)

        self.due = False
        hogwild.run(work, self.task.threads, self.report)
        if min(worker.epochs for worker in self.workers) >= until:
            if waits:
                self.memory = memories(self.callbacks)
                self.tell_epoch(until)
            self.told, self.memory = until, None
        if self.due and self.tally.done < self.tally.total:
            self.keep()

    def report(self) -> bool:
        """Tell how far it is; whether the threads are to halt."""
        progress = self.tally.progress()
        if progress.loss is not None and not isfinite(progress.loss):
            raise overflow("loss", self.tally)
        if self.task.report:
            self.task.report(progress)
        for callback in self.callbacks:
            callback.progress(progress)
        self.due = self.keeper is not None and self.keeper.due(progress.words, self.size)
        return self.due

    @property
    def size(self) -> int:
        """Bytes of the tables."""
        return sum(table.nbytes for table in parameters(self.learner.tables).values())

    def tell_epoch(self, epoch: int) -> None:
        """Tell the callbacks of the end of an epoch, and whether one of them ends the run."""
        loss = self.tally.losses()[epoch - 1]
        epoch_end = EpochEnd(epoch, self.tally.progress(), loss, lambda: self.made(copy_tables(self.learner.tables)))
        for callback in self.callbacks:
            callback.epoch(epoch_end)
        self.stopped = epoch_end.stopped

    def keep(self) -> None:
        """Write a checkpoint."""
        if self.keeper is None:
            return
        progress = self.tally.progress()
        path = self.keeper.write(taken(self, self.named), progress)
        if path is not None:
            for callback in self.callbacks:
                callback.checkpoint(path, progress)

    def interrupted(self) -> None:
        """Keep what there is."""
        with suppress(KeyboardInterrupt):  # a second one: older checkpoints stand
            self.keep()
        for callback in self.callbacks:
            callback.interrupted(self.tally.progress())

    def last(self) -> Model:
        """What was learned; the tables are spoilt."""
        return self.made(self.learner.tables)

    def made(self, tables: Any) -> Model:
        """The model of tables, which are spoilt."""
        model = model_of(self.task, self.learner.learned(tables), self.tally, self.learner.composes)
        model.record |= self.begun
        return model
