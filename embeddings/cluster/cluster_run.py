"""A run whose workers are other processes: callbacks, checkpoints and the model are those of any run."""

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from embeddings.cluster.replica_host import Report, ShareProgress
from embeddings.cluster.worker_pool import WorkerPool
from embeddings.models.model import Model
from embeddings.models.parameters import Arrays
from embeddings.training.plan import Plan
from embeddings.training.replica_tables import ReplicaTables
from embeddings.training.replicas import FIRST_INTERVAL, MergeSchedule, Replicas
from embeddings.training.run import Run
from embeddings.training.state import capture_progress
from embeddings.training.training_data import TrainingData
from embeddings.training.worker import Worker

CLUSTER = "cluster"  # in the record of a model
TAKE_OVER_SECONDS = 1.0


class RemoteShare(Worker):
    """The state of a worker's thread, as the worker reported it last."""

    def __init__(self, number: int, units: int, progress: ShareProgress) -> None:
        self.number, self.units, self.reported = number, units, progress

    @property
    def epochs(self) -> int:  # type: ignore[override]
        """Completed epochs."""
        return int(self.reported.state["epochs"])

    def has_read(self, units: float) -> bool:
        """Whether this many units are read."""
        return self.reported.words >= units

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of the state."""
        return self.reported.arrays

    def state(self) -> dict[str, Any]:
        """The rest of the state."""
        return self.reported.state

    def restore(self, state: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Restore a saved state; the counts follow when it is sent to the worker."""
        copies = {name: np.array(array, subok=False) for name, array in arrays.items()}
        self.reported = ShareProgress(state, copies, 0, 0.0, [0.0, 0.0], [])


class TimedSchedule(MergeSchedule):
    """When the tables of a single replica are taken over: about once a second, as its result does not depend on it."""

    def __init__(self) -> None:
        self.interval = self.next_merge = FIRST_INTERVAL
        self.started = perf_counter()

    def advance(self) -> None:
        """Go to the next time."""
        now = perf_counter()
        self.interval = next_interval(self.interval, now - self.started)
        self.next_merge += self.interval
        self.started = now


def next_interval(interval: int, seconds: float) -> int:
    """The interval after one that took these seconds: one that takes `TAKE_OVER_SECONDS`, if that is near."""
    factor = TAKE_OVER_SECONDS / max(seconds, 1e-9)
    return max(1, round(interval * min(2.0, max(0.5, factor))))


class RemoteReplicas(ReplicaTables):
    """Replicas on other machines."""

    def __init__(self, replicas: Replicas, run: "ClusterRun") -> None:
        self.replicas, self.run = replicas, run
        self.schedule = MergeSchedule(replicas.count, replicas.merge_every) if replicas.count > 1 else TimedSchedule()

    def broadcast(self) -> None:
        """Let all replicas go on from the merged tables of this process."""
        self.run.send_tables()

    def merge(self) -> None:
        """Merge the rows that replicas changed since the last merge, if they have learned an interval."""
        if self.run.pool.reports:
            self.run.pool.merge()
            self.run.pool.reports = {}


class ClusterRun(Run):
    """A run on a cluster.

    Arguments:
        start: lets the workers of the pool start, given the merged tables and the mask of frozen rows.
    """

    def __init__(
        self, data: TrainingData, plan: Plan, pool: WorkerPool, start: Callable[[Arrays, np.ndarray | None], None]
    ) -> None:
        self.pool, self.start_workers = pool, start
        super().__init__(data, plan)
        pool.poll = self.report

    @property
    def tables(self) -> Arrays:
        """The merged tables, which workers send first if they have newer ones."""
        if self.pool.here_version < self.pool.version:
            self.pool.gather()
        return self.merged_tables

    @tables.setter
    def tables(self, tables: Arrays) -> None:
        self.merged_tables = tables

    def new_replicas(self) -> ReplicaTables | None:
        """The replicas of all workers."""
        assert self.run_options.replicas is not None
        return RemoteReplicas(self.run_options.replicas, self)

    def new_workers(self, frozen: np.ndarray | None) -> Sequence[Worker]:
        """The threads of all workers, when these have compiled their kernels."""
        self.start_workers(self.merged_tables, frozen)
        bounds, epochs = self.plan.stream.bounds(self.data.shares), self.data.schedule.epochs
        self.remote_shares = [
            RemoteShare(number, (bounds[number + 1] - bounds[number]) * epochs, self.pool.progress[number])
            for number in range(self.data.shares)
        ]
        self.send_tables()
        return self.remote_shares

    def send_tables(self) -> None:
        """Let all workers go on from the merged tables and from the counts of this process."""
        tally, progress = self.tally, {}
        for share in self.remote_shares:
            number, reported = share.number, share.reported
            progress[number] = share.reported = ShareProgress(
                reported.state, reported.arrays, int(tally.words[number]), float(tally.steps[number]),
                tally.sums[number].tolist(), [sums.tolist() for sums in tally.epoch_sums[number]],
            )  # fmt: skip
        self.pool.load(progress)

    def learn_until(self, epochs: int, share: float | None) -> None:
        """Let all workers learn."""
        try:
            self.pool.learn(epochs, share, self.tally.learning_rate_factor, self.receive)
            self.report()
        except BaseException:
            self.take_over(self.pool.progress)  # that of the last merge
            self.pool.reports = {}
            raise

    def receive(self, number: int, report: Report) -> None:
        """Take over the report of a worker."""
        self.take_over(report.progress)

    def take_over(self, progress: Mapping[int, ShareProgress]) -> None:
        """Take over the progress of shares."""
        tally = self.tally
        for number, one in progress.items():
            self.remote_shares[number].reported = one
            tally.words[number], tally.steps[number] = one.words, one.steps
            tally.sums[number] = one.sums
            tally.epoch_sums[number] = [np.array(sums) for sums in one.epoch_sums]

    def record_merge(self) -> None:
        """Record the progress at a merge."""
        self.merged_progress = capture_progress(self)
        self.tally.note = self.pool.statistics.line

    def make_model(self, tables: Arrays) -> Model:
        """The model of these tables, with statistics of the cluster in its record."""
        model = super().make_model(tables)
        model.record[CLUSTER] = {"workers": len(self.pool.actors), **self.pool.statistics.record}
        return model
