"""The workers of a run, controlled by the process that started it: learning, merging and gathering of tables.

Between two merges nothing depends on time. A worker that dies, or that others wait for too long, ends the run, which
can be resumed from its last checkpoint.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from time import perf_counter
from typing import Any

from embeddings.cluster.cluster_task import ClusterError, ClusterTask
from embeddings.cluster.distributed_text import SentText
from embeddings.cluster.ray_runtime import ADVICE, check_running, explained, wait_for
from embeddings.cluster.worker_process import ShareProgress
from embeddings.models.table import Arrays

CLOSE_SECONDS = 5.0

Progress = dict[int, ShareProgress]  # by share


class WorkerPool:
    """The workers of a run, `actors` by number; `timeout` is `Cluster.worker_timeout`."""

    def __init__(self, ray: Any, actors: list[Any], timeout: float) -> None:
        self.ray, self.actors, self.timeout = ray, actors, timeout
        self.merges = 0
        self.version = 0  # of the merged tables
        self.here: Arrays = {}  # the merged tables of this process
        self.here_version = 0
        self.merged: list[Any] = []  # references to the rows of each worker at the last merge, until workers set them
        self.next_merged: list[Any] = []  # the same at the next merge
        self.progress: Progress = {}  # at the last merge
        self.reports: dict[int, Progress] = {}  # after an interval, by worker
        self.poll: Callable[[], object] = lambda: None

    def start(self, task: ClusterTask, text_of: Callable[[int], SentText], tables: Arrays) -> None:
        """Send its text to each worker, and let all allocate their tables; `load` sends those of this process."""
        reference, self.task, self.here = self.ray.put(task), task, tables
        refs = {n: actor.start.remote(reference, text_of(n)) for n, actor in enumerate(self.actors)}
        self.progress = {share: one for result in self.wait(refs).values() for share, one in result.items()}

    def load(self, progress: Progress) -> None:
        """Let all workers continue from the merged tables of this process and from `progress`."""
        self.version, self.merged, self.progress = self.version + 1, [], progress
        self.here_version = self.version
        tables, refs = self.ray.put(dict(self.here)), {}
        for number, actor in enumerate(self.actors):
            own = {share: progress[share] for share in self.task.shares_of(number)}
            refs[number] = actor.load.remote(self.version, tables, own)
        self.wait(refs)

    def wait(self, refs: Mapping[int, Any], arrived: Callable[[int, Any], None] | None = None) -> dict[int, Any]:
        """Wait for a result of each worker; returns results by number, and passes each to `arrived` when it is there.

        Raises EmbeddingsError if a worker failed or was lost, or if half of them waited for it longer than `timeout`.
        """
        pending = {ref: number for number, ref in refs.items()}
        results: dict[int, Any] = {}
        half_done: float | None = None
        while pending:
            for ref in wait_for(self.ray, [*pending]):
                number = pending.pop(ref)
                try:
                    results[number] = self.ray.get(ref)
                except Exception as error:
                    raise explained(self.ray, error, f"worker {number}") from None
                if arrived is not None:
                    arrived(number, results[number])
            # Half of them, not the first: a single fast worker must not end the run.
            if half_done is None and 2 * len(results) >= len(refs):
                half_done = perf_counter()
            if pending and half_done is not None and perf_counter() - half_done > self.timeout:
                slow = min(pending.values())
                raise ClusterError(f"the others waited {self.timeout:g} s for worker {slow}; {ADVICE}")
            self.poll()
        return results

    def learn(
        self,
        epochs: int,
        share: float | None,
        learning_rate_factor: float,
        arrived: Callable[[int, Progress], None],
    ) -> None:
        """Let all workers learn an interval, as `WorkerProcess.learn`; `arrived` gets a worker's number and progress.

        As soon as all have learned, each merges its part of the rows.
        """
        workers = len(self.actors)
        interval, refs, changes = (epochs, share, learning_rate_factor), {}, []
        for number, actor in enumerate(self.actors):
            method = actor.learn.options(num_returns=1 + workers)
            refs[number], *parts = method.remote(self.version, *interval, *self.merged_for(number))
            changes.append(parts)
        # Requested before all have learned: Ray starts each merge as soon as its rows have arrived.
        self.next_merged = [actor.merge.remote(*(parts[n] for parts in changes)) for n, actor in enumerate(self.actors)]
        self.reports = self.wait(refs, arrived)
        self.merged = []

    def merged_for(self, number: int) -> list[Any]:
        """References to the rows of other workers for the last merge, None for the worker; none if they are set."""
        return [None if other == number else rows for other, rows in enumerate(self.merged)]

    def merge(self) -> None:
        """Adopt the progress; the workers set the rows that each merges when they go on."""
        self.version, self.merged = self.version + 1, self.next_merged
        self.progress = {share: one for report in self.reports.values() for share, one in report.items()}
        self.merges += 1

    def gather(self) -> None:
        """Copy newer merged tables of the workers into the tables of this process."""
        refs = {
            n: actor.part_of_tables.remote(self.version, *self.merged_for(n)) for n, actor in enumerate(self.actors)
        }
        for number, parts in self.wait(refs).items():
            for name, part in parts.items():
                self.task.part_of(self.here[name], number)[...] = part
        self.here_version, self.merged = self.version, []

    def close(self) -> None:
        """End all workers, after they have removed their files."""
        with suppress(Exception):  # without Ray they end by themselves
            check_running(self.ray)
            # Before they are killed, which would leave their temporary files.
            closing = [actor.close.remote() for actor in self.actors]
            self.ray.wait(closing, num_returns=len(closing), timeout=CLOSE_SECONDS)
            for actor in self.actors:
                self.ray.kill(actor)
