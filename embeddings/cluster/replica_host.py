"""The replicas of one worker: their tables, and the threads that learn them. Knows nothing of Ray."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event
from time import perf_counter
from typing import Any

import numpy as np

from embeddings.cluster.cluster_task import ClusterTask
from embeddings.cluster.row_exchange import Changes, MergedRows, apply_merged, changed_rows, divide, merge_changes
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.models.parameters import Arrays, copy_into
from embeddings.training.corpus_share import CorpusShare, ShareOfStream
from embeddings.training.hogwild import run_threads
from embeddings.training.progress import Tally
from embeddings.training.replica_tables import ReplicaTables
from embeddings.training.worker import Worker


@dataclass(frozen=True)
class ShareProgress:
    """What a thread has read: the state of its `Worker`, and its row of the tally."""

    state: dict[str, Any]
    arrays: dict[str, np.ndarray]
    words: int
    steps: float
    sums: list[float]
    epoch_sums: list[list[float]]


@dataclass(frozen=True)
class Report:
    """What a worker reports after an interval: the progress of its shares by number, seconds, and peak memory."""

    progress: dict[int, ShareProgress]
    seconds: float
    memory: int  # bytes


class ReplicaHost:
    """The replicas of a worker; `version` counts the merges that its tables hold."""

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
        self.workers = {share: self.new_worker(share) for share in task.shares_of(number)}
        next(iter(self.workers.values())).compile()
        row = np.zeros((1, 16), np.float32)
        changed_rows(row, row, 1)  # compiles it

    def new_worker(self, share: int) -> Worker:
        """The thread of a share."""
        replica = share // self.task.threads_per_replica - self.hosted.start
        return Worker(self.data, self.plan, self.tables.tables(replica), self.tally, share, self.task.frozen)

    def load(self, version: int, tables: Mapping[str, np.ndarray], progress: Mapping[int, ShareProgress]) -> None:
        """Go on from merged tables and the progress at that merge; raises ValueError if they do not fit the stream."""
        for name, table in self.base.items():
            copy_into(table, np.asarray(tables[name]))
        self.tables.broadcast()
        for share, worker in self.workers.items():
            if share in progress:
                self.restore(share, worker, progress[share])
        self.version = version

    def restore(self, share: int, worker: Worker, progress: ShareProgress) -> None:
        """Restore the progress of a share."""
        worker.chunk = None
        worker.restore(progress.state, progress.arrays)
        tally = self.tally
        tally.words[share], tally.steps[share] = progress.words, progress.steps
        tally.sums[share] = progress.sums
        tally.epoch_sums[share] = [np.array(sums) for sums in progress.epoch_sums]

    def advance(self, version: int, merged: Sequence[MergedRows]) -> None:
        """Go on from the rows of a merge, unless this was done."""
        if version > self.version:
            apply_merged(self.base, self.tables.copies, merged)
            self.version = version

    def learn(self, epochs: int, share: float | None, learning_rate_factor: float) -> Report:
        """Learn until the epochs are complete, or this share of training is done."""
        started = perf_counter()
        self.tally.learning_rate_factor = learning_rate_factor
        workers, threads = [*self.workers.values()], self.task.threads_per_worker

        def work(thread: int, halt: Event) -> None:
            for worker in workers[thread::threads]:
                worker.run_until(epochs, halt, share)

        run_threads(work, threads, lambda: False)
        return Report(self.progress(), perf_counter() - started, peak_memory())

    def progress(self) -> dict[int, ShareProgress]:
        """The progress of all shares; the arrays are copies."""
        return {share: self.share_progress(share, worker) for share, worker in self.workers.items()}

    def share_progress(self, share: int, worker: Worker) -> ShareProgress:
        """The progress of a share; places are those in the whole corpus."""
        arrays = {name: array.copy() for name, array in worker.arrays().items()}
        if isinstance(worker.stream, ShareOfStream):
            worker.stream.move(arrays["block.cursor"], worker.chunk, 1)
        sums = [one.tolist() for one in self.tally.epoch_sums[share]]
        words, steps = int(self.tally.words[share]), float(self.tally.steps[share])
        return ShareProgress(worker.state(), arrays, words, steps, self.tally.sums[share].tolist(), sums)

    def changes(self) -> list[Changes]:
        """The rows that the replicas changed since the last merge, for each of the workers that merge them."""
        workers = self.task.workers
        parts: list[Changes] = [{} for _ in range(workers)]
        for name, base in self.base.items():
            for replica, copy in zip(self.hosted, self.tables.copies[name], strict=True):
                rows = changed_rows(base, copy, self.task.threads_per_worker)
                for part, divided in zip(parts, divide(rows, copy, workers), strict=True):
                    part[replica, name] = divided
        return parts

    def merge(self, changes: Sequence[Changes]) -> MergedRows:
        """Merge this worker's part of the rows."""
        replicas = self.task.replicas
        return merge_changes(self.base, self.plan.tables, changes, replicas.count, replicas.rule)

    def part_of_tables(self) -> Arrays:
        """The merged rows of this worker's part of all tables."""
        return {name: table[self.number :: self.task.workers] for name, table in self.base.items()}


def peak_memory() -> int:
    """The most memory that this process had, in bytes; 0 if unknown."""
    try:
        import resource
    except ImportError:  # not on this system
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
