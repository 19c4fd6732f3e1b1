"""Executors: who learns in a run. `Run` decides what happens between two halts, and in which order.

Threads          update the same tables without locks
ReplicaThreads   update the tables of replicas, which are merged at regular intervals
ClusterExecutor  does so in the processes of `embeddings.cluster`
"""

from collections.abc import Callable, Mapping, Sequence
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from embeddings.models.table import Arrays
from embeddings.training.plan import Plan
from embeddings.training.progress import Tally
from embeddings.training.replicas import MergeSchedule, ReplicaTables
from embeddings.training.training_data import TrainingData
from embeddings.training.worker import Worker, check_count, run_threads, run_uninterrupted

State = tuple[dict[str, Any], dict[str, np.ndarray]]  # JSON values, and arrays by name


class Halt(NamedTuple):
    """Where all threads halt: when they have completed this many epochs, or read this share of their units."""

    epochs: int
    share: float | None = None


class Threads:
    """Threads of this process that learn the tables of a run; each has a share of the stream.

    tables: with what all threads have learned. tally: their counts. workers: their states, one for each share.
    are_apart: whether shares learn apart until they are merged, each at a learning rate of its own progress.
    """

    tables: Arrays
    tally: Tally
    workers: Sequence[Worker]
    are_apart = False

    def start(self, data: TrainingData, plan: Plan, tables: Arrays, frozen: np.ndarray | None) -> None:
        """Get ready to learn, from the initial tables, all but the `frozen` (rows,) rows of words; compiles kernels."""
        self.data, self.plan, self.tables = data, plan, tables
        self.tally = Tally(
            data.shares, data.schedule, plan.stream.units, plan.stream.unit, loss_is_estimate=plan.loss_is_estimate,
            shares=np.diff(plan.stream.bounds(data.shares)).tolist() if self.are_apart else (),
        )  # fmt: skip
        self.workers = self.new_workers(frozen)
        self.tally.start_clock()

    def new_workers(self, frozen: np.ndarray | None) -> Sequence[Worker]:
        """A worker for each share, with compiled kernels."""
        tables = enumerate(self.tables_of_shares())
        workers = [Worker(self.data, self.plan, one, self.tally, number, frozen) for number, one in tables]
        workers[0].compile()
        return workers

    def tables_of_shares(self) -> Sequence[Arrays]:
        """The tables that each share updates."""
        return [self.tables] * self.data.shares

    @property
    def epochs(self) -> int:
        """The epochs that all threads have completed."""
        return min(worker.epochs for worker in self.workers)

    @property
    def record(self) -> dict[str, Any]:
        """JSON values for the record of the model."""
        return {}

    def has_read(self, share: float | None) -> bool:
        """Whether all threads have read this share of their units; False for None."""
        return share is not None and all(worker.has_read(share * worker.units) for worker in self.workers)

    def learn_until(self, halt: Halt, report: Callable[[], bool]) -> None:
        """Learn until `halt`, or less; calls `report` regularly, which returns whether threads are to halt at once."""

        def work(thread: int, event: Event) -> None:
            for worker in self.workers[thread :: self.data.threads]:
                worker.run_until(halt.epochs, event, halt.share)

        run_threads(work, self.data.threads, report)

    def merge(self) -> None:
        """Let `tables` hold what was learned until an interrupt."""

    def continue_from_tables(self) -> None:
        """Let all threads go on from `tables`, which the run has changed."""

    def state(self) -> State:
        """The counts of the run and the states of all threads, from which `tables` are learned on; not copies."""
        arrays = {
            f"thread.{number}.{name}": array
            for number, worker in enumerate(self.workers)
            for name, array in worker.arrays().items()
        }
        return {"tally": self.tally.state(), "workers": [worker.state() for worker in self.workers]}, arrays

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore a saved state; `tables` are restored already."""
        for number, worker in enumerate(self.workers):
            worker.restore(values["workers"][number], without_prefix(arrays, f"thread.{number}."))
        self.tally.restore(values["tally"])


class MergedThreads(Threads):
    """Threads that learn apart until their tables are merged; `tables` and `state` are those of the last merge.

    A subclass defines `learn_interval`, `merge_tables` and `send_tables`, and sets `schedule`. A run halts at the end
    of each epoch, so that callbacks do not change what is learned.
    """

    are_apart = True
    schedule: MergeSchedule

    def start(self, data: TrainingData, plan: Plan, tables: Arrays, frozen: np.ndarray | None) -> None:
        """Get ready to learn."""
        super().start(data, plan, tables, frozen)
        self.save_state()

    @property
    def next_merge(self) -> float:
        """The share of training after which the next merge is due."""
        replicas = self.data.run_options.replicas
        assert replicas is not None
        return self.schedule.next_merge * replicas.count / self.tally.total

    def learn_until(self, halt: Halt, report: Callable[[], bool]) -> None:
        """Learn until `halt` or the next merge, and merge."""
        # The nearer of the two: the average needs tables at its points, and replicas must not drift apart any longer.
        share = self.next_merge if halt.share is None else min(halt.share, self.next_merge)
        self.learn_interval(Halt(halt.epochs, share), report)
        run_uninterrupted(self.merge)

    def learn_interval(self, halt: Halt, report: Callable[[], bool]) -> None:
        """Learn until `halt`, and not less."""

        def watch() -> bool:
            report()
            return False  # threads halt only where they can be merged

        super().learn_until(halt, watch)

    def merge(self) -> None:
        """Merge what was learned since the last merge."""
        self.merge_tables()
        if self.has_read(self.next_merge):
            self.schedule.advance()
        self.save_state()

    def merge_tables(self) -> None:
        """Merge the rows that threads changed, and let all go on from them."""
        raise NotImplementedError

    def send_tables(self) -> None:
        """Let all threads go on from `tables` and `tally`."""
        raise NotImplementedError

    def continue_from_tables(self) -> None:
        """Let all threads go on from `tables`."""
        self.send_tables()
        self.save_state()

    def save_state(self) -> None:
        """Keep the state at a merge, from which a checkpoint that is written before the next one continues."""
        values, arrays = super().state()
        copies = {name: array.copy() for name, array in arrays.items()}
        self.merged_state = {**values, "next_merge": self.schedule.next_merge}, copies

    def state(self) -> State:
        """The state at the last merge."""
        return self.merged_state

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore a saved state."""
        super().restore(values, arrays)
        self.schedule.next_merge = check_count(values["next_merge"])
        self.continue_from_tables()


class ReplicaThreads(MergedThreads):
    """Threads of this process that update the tables of replicas, one thread each."""

    def tables_of_shares(self) -> Sequence[Arrays]:
        """The tables of each replica."""
        replicas = self.data.run_options.replicas
        assert replicas is not None
        self.replicas = ReplicaTables(replicas, self.plan.tables, self.tables, self.data.threads)
        self.schedule = MergeSchedule(replicas.count, replicas.merge_every)
        return [self.replicas.tables(number) for number in range(replicas.count)]

    def merge_tables(self) -> None:
        """Merge the rows that replicas changed."""
        self.replicas.merge()

    def send_tables(self) -> None:
        """Copy `tables` to all replicas."""
        self.replicas.broadcast()


def without_prefix(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """The arrays whose names start with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
