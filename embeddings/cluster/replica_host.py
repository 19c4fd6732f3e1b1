"""The replicas of one worker: their tables, and the threads that train them; independent of Ray."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Event
from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np

from embeddings.cluster.cluster_task import ClusterTask
from embeddings.cluster.row_exchange import Changes, MergedRows, RowExchange
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.models.table import Arrays, copy_into
from embeddings.training.corpus_share import CorpusShare, ShareOfStream
from embeddings.training.progress import Tally
from embeddings.training.replicas import ReplicaTables
from embeddings.training.worker import Worker, run_threads


@dataclass(frozen=True)
class ShareProgress:
    """The progress of one thread: the state of its `Worker`, and its row of the tally."""

    state: dict[str, Any]
    arrays: dict[str, np.ndarray]
    words: int = 0
    steps: float = 0.0
    sums: Sequence[float] = (0.0, 0.0)
    epoch_sums: Sequence[list[float]] = ()

    @classmethod
    def with_counts(cls, state: dict[str, Any], arrays: dict[str, np.ndarray], tally: Tally, share: int) -> Self:
        """The state of a thread with the row of a share in the tally."""
        sums = [one.tolist() for one in tally.epoch_sums[share]]
        words, steps = int(tally.words[share]), float(tally.steps[share])
        return cls(state, arrays, words, steps, tally.sums[share].tolist(), sums)

    def restore_counts(self, tally: Tally, share: int) -> None:
        """Set the row of a share in the tally."""
        tally.words[share], tally.steps[share] = self.words, self.steps
        tally.sums[share] = self.sums
        tally.epoch_sums[share] = [np.array(sums) for sums in self.epoch_sums]


@dataclass(frozen=True)
class ReplicaReport:
    """Report of a worker after an interval: the progress of its shares by number, seconds of learning, and memory.

    Arguments:
        memory: the peak memory of the process, in bytes.
        base_memory: its memory without tables at the start of learning: Python, libraries, kernels and text.
        store_memory: its current shared memory, which is Ray's object store.
        sent: bytes of changed rows that other workers get.
    """

    progress: dict[int, ShareProgress]
    seconds: float
    memory: int
    base_memory: int
    store_memory: int
    sent: int = 0


class MergedTables(NamedTuple):
    """The merged tables from which a worker continues, and the shared memory of their sender; "" without any."""

    arrays: Arrays
    memory: str = ""


class ReplicaHost:
    """The replicas of a worker; `version` counts the merges in the tables."""

    def __init__(self, task: ClusterTask, number: int, encoded: EncodedCorpus | CorpusShare) -> None:
        self.task, self.number = task, number
        self.hosted = task.replicas_of(number)
        data = task.training_data(encoded)
        plan = task.plan(data, number)
        if plan.vocabulary is not None:
            data = replace(data, vocabulary=plan.vocabulary)
        self.data, self.plan, self.version = data, plan, 0
        self.base = plan.allocate(data.seed)
        hosted = replace(task.replicas, count=len(self.hosted))
        self.tables = ReplicaTables(hosted, plan.tables, self.base, task.threads_per_worker)
        stream = plan.stream
        self.tally = Tally(
            data.shares, data.schedule, task.bounds[-1], stream.unit, loss_is_estimate=plan.loss_is_estimate,
            shares=np.diff(task.bounds).tolist(),
        )  # fmt: skip
        self.workers = {}
        for share in task.shares_of(number):
            tables = self.tables.tables(share // task.threads_per_replica - self.hosted.start)
            self.workers[share] = Worker(data, plan, tables, self.tally, share, task.frozen)
        next(iter(self.workers.values())).compile()
        self.exchange = RowExchange(task, number, plan.tables, self.base, self.tables.copies)
        if task.workers > 1:
            self.exchange.compile()
        copies = sum(table.nbytes for table in (*self.base.values(), *self.tables.copies.values()))
        self.base_memory = max(0, memory_of("VmRSS") - copies)

    def load(self, version: int, tables: MergedTables, progress: Mapping[int, ShareProgress]) -> None:
        """Continue from merged tables and the progress at their merge; raises ValueError if unfit for the stream."""
        self.exchange.map(tables.memory)
        for name, table in self.base.items():
            copy_into(table, np.asarray(tables.arrays[name]))
        self.tables.broadcast()
        for share, worker in self.workers.items():
            if share in progress:
                worker.chunk = None
                worker.restore(progress[share].state, progress[share].arrays)
                progress[share].restore_counts(self.tally, share)
        self.version = version

    def advance(self, version: int, sent: Sequence[Any]) -> None:
        """Merge the rows of other workers, unless the tables hold this merge already.

        Arguments:
            sent: the `SentChanges` of other workers if each worker merges all rows, or else the `MergedRows` of their
                parts. None stands for this worker.
        """
        if version <= self.version:
            return
        parts = [part for part in sent if part is not None]
        if self.task.workers == 1:
            self.tables.merge()
        elif self.task.parts == 1:
            self.exchange.merge_all(parts)
        else:
            self.exchange.set_merged([self.exchange.merged_rows(), *parts])
        self.version = version

    def learn(self, epochs: int, share: float | None, learning_rate_factor: float) -> ReplicaReport:
        """Learn until the epochs are complete, or the `share` of training is done."""
        started = perf_counter()
        self.tally.learning_rate_factor = learning_rate_factor
        workers, threads = [*self.workers.values()], self.task.threads_per_worker

        def work(thread: int, halt: Event) -> None:
            for worker in workers[thread::threads]:
                worker.run_until(epochs, halt, share)

        run_threads(work, threads, lambda: False)
        seconds = perf_counter() - started
        return ReplicaReport(self.progress(), seconds, peak_memory(), self.base_memory, memory_of("RssShmem"))

    def progress(self) -> dict[int, ShareProgress]:
        """The progress of all shares, with positions in the whole corpus; the arrays are copies."""
        progress = {}
        for share, worker in self.workers.items():
            arrays = {name: array.copy() for name, array in worker.arrays().items()}
            if isinstance(worker.stream, ShareOfStream):
                worker.stream.move(arrays["block.cursor"], worker.chunk, 1)
            progress[share] = ShareProgress.with_counts(worker.state(), arrays, self.tally, share)
        return progress

    def changes(self) -> list[Any]:
        """The rows that the replicas changed since the last merge, by the part in which they are merged."""
        return self.exchange.changes() if self.task.workers > 1 else [None]

    def merge(self, changes: Sequence[Changes | None]) -> MergedRows:
        """Merge this worker's part of the rows; returns the merged rows, which `advance` copies into the tables."""
        return self.exchange.merge_part([part for part in changes if part is not None])

    def all_tables(self) -> MergedTables:
        """The merged tables."""
        return MergedTables(dict(self.base), self.exchange.memory.name)

    def part_of_tables(self) -> Arrays:
        """The merged rows of this worker's part of all tables."""
        return {name: table[self.number :: self.task.workers] for name, table in self.base.items()}


def memory_of(field: str) -> int:
    """The memory of this process by a field of /proc/self/status, in bytes; 0 if unknown."""
    with suppress(OSError), open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name == field:
                return int(value.split()[0]) * 1024
    return 0


def peak_memory() -> int:
    """The most memory that this process had, in bytes; 0 if unknown."""
    try:
        import resource
    except ImportError:  # not on this system
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
