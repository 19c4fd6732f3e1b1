"""The workers of a run, controlled by the process that started it: learning, merging, and replacement after failures.

Between two merges nothing depends on time. A worker that dies, or that others waited for too long, is replaced by one
that starts from the merged tables of another worker and from the progress at the last merge, and repeats the interval:
the result is the same bytes as without the failure.

An interval is the time from where workers begin to learn to where they can go on from the merged tables. Waiting is
what workers wait, on average, until the slowest one has learned; merging is the rest, in which no worker learns:
finding, sending, merging and taking over rows, and messages.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from statistics import fmean
from time import perf_counter
from typing import Any

import numpy as np

from embeddings.cluster.cluster_task import ClusterError, ClusterTask
from embeddings.cluster.distributed_text import SentText
from embeddings.cluster.ray_runtime import (
    ADVICE,
    check_running,
    explained,
    get,
    is_loss,
    is_lost_object,
    one_line,
    wait_for,
)
from embeddings.cluster.worker_process import MergedTables, ReplicaReport, ShareProgress
from embeddings.models.table import Arrays
from embeddings.support.logs import log, notice

MAX_FAILURES = 3  # of a worker in one interval

CLOSE_SECONDS = 5.0

Progress = dict[int, ShareProgress]  # by share


class ExchangeStatistics:
    """Statistics of merging and waiting in a run; the counts of a replaced worker continue."""

    def __init__(self, workers: int) -> None:
        self.words, self.seconds, self.cpu_seconds = np.zeros((3, workers))  # of learning; of all work; by worker
        self.total = self.merging = self.waiting = 0.0  # seconds of the run
        self.sent_bytes = self.merges = self.peak_memory = self.base_memory = self.store_memory = 0
        self.replaced: list[int] = []  # workers, in order

    def add_interval(
        self, reports: Mapping[int, ReplicaReport], before: Mapping[int, ShareProgress], seconds: float
    ) -> None:
        """Add an interval; its reports arrived after `seconds`."""
        learning = [report.seconds for report in reports.values()]
        self.total += seconds
        self.merging += seconds - max(learning)
        self.waiting += max(learning) - fmean(learning)
        for number, report in reports.items():
            self.sent_bytes += report.sent
            self.seconds[number] += report.seconds
            self.cpu_seconds[number] += report.cpu_seconds
            self.peak_memory = max(self.peak_memory, report.memory)
            self.base_memory = max(self.base_memory, report.base_memory)
            self.store_memory = max(self.store_memory, report.store_memory)
            self.words[number] += sum(one.words - before[share].words for share, one in report.progress.items())

    @property
    def shares(self) -> tuple[float, float]:
        """The shares of time that merging takes, and that workers wait for slower workers."""
        return self.merging / max(self.total, 1e-9), self.waiting / max(self.total, 1e-9)

    @property
    def speeds(self) -> list[float]:
        """Words per second of learning, by worker."""
        return (self.words / np.maximum(self.seconds, 1e-9)).tolist()  # type: ignore[no-any-return]

    @property
    def line(self) -> str:
        """A summary for progress displays."""
        if not self.merges:
            return ""
        slowest, (merging, waiting) = int(np.argmin(self.speeds)), self.shares
        return (
            f"merging {100 * merging:.0f} %, waiting {100 * waiting:.0f} %, "
            f"slowest worker {slowest}: {self.speeds[slowest] / 1e6:.2f} M/s"
        )

    @property
    def record(self) -> dict[str, Any]:
        """The statistics as JSON values."""
        return {
            "words_per_second_by_worker": [round(speed) for speed in self.speeds],
            "cpu_seconds_by_worker": self.cpu_seconds.round(2).tolist(),
            "merge_share": round(self.shares[0], 4),
            "waiting_share": round(self.shares[1], 4),
            "merge_seconds": round(self.merging, 4),
            "merges": self.merges,
            "exchanged_bytes": self.sent_bytes,
            "peak_memory_bytes": self.peak_memory,
            "base_memory_bytes": self.base_memory,
            "store_memory_bytes": self.store_memory,
            "replaced_workers": self.replaced,
        }


class WorkerPool:
    """The workers of a run, `actors` by number; `new_actor` starts one, and `timeout` is `Cluster.worker_timeout`."""

    def __init__(self, ray: Any, actors: list[Any], new_actor: Callable[[int], Any], timeout: float) -> None:
        self.ray, self.actors, self.new_actor, self.timeout = ray, actors, new_actor, timeout
        self.statistics = ExchangeStatistics(len(actors))
        self.version = 0  # of the merged tables
        self.here: Arrays = {}  # the merged tables of this process
        self.here_version = 0
        self.merged: list[Any] = []  # references to the rows of each worker at the last merge
        self.current: set[int] = set()  # workers whose tables have the merged rows
        self.progress: Progress = {}  # at the last merge
        self.learned: dict[int, list[Any]] = {}  # references to the changes since then, by worker
        self.merging: tuple[dict[int, Any], list[Any]] | None = None  # what `send_merge` returned, if it is valid
        self.reports: dict[int, ReplicaReport] = {}
        self.interval: tuple[int, float | None, float] = (0, None, 1.0)  # arguments of `learn`
        self.starting: set[int] = set()  # workers that are new processes, which have no text yet
        self.failures: dict[int, int] = {}  # of each worker in this interval
        self.poll: Callable[[], object] = lambda: None

    def start(self, task: ClusterTask, text_of: Callable[[int], SentText], tables: Arrays) -> None:
        """Send the text to all workers, and let them allocate their tables.

        `text_of` gives the text of a worker, also for its replacement; `load` sends the merged tables of this process.
        """
        self.task, self.text_of, self.here, self.parts = self.ray.put(task), text_of, tables, task.parts
        self.shares = [task.shares_of(number) for number in range(len(self.actors))]
        results = self.wait_for_all({number: self.send_start(number) for number in range(len(self.actors))})
        self.progress = {share: one for result in results.values() for share, one in result.items()}

    def send_start(self, number: int) -> Any:
        """Let a worker receive its text and allocate its tables."""
        return self.actors[number].start.remote(self.task, self.text_of(number))

    def load(self, progress: Progress) -> None:
        """Let all workers continue from the merged tables of this process and from `progress`."""
        self.version, self.merged, self.learned, self.progress = self.version + 1, [], {}, progress
        self.here_version = self.version
        tables = self.ray.put(MergedTables(dict(self.here)))
        refs = {number: self.send_load(number, tables) for number in range(len(self.actors))}
        self.wait_for_all(refs)
        self.current = set(refs)

    def send_load(self, number: int, tables: Any) -> Any:
        """Let a worker continue from tables and from the progress at the last merge."""
        progress = {share: self.progress[share] for share in self.shares[number] if share in self.progress}
        return self.actors[number].load.remote(self.version, tables, progress)

    def wait(
        self, refs: Mapping[int, Any], arrived: Callable[[int, Any], None] | None = None
    ) -> tuple[dict[int, Any], dict[int, BaseException]]:
        """Wait for a result of each worker; returns results, and the errors of lost workers, by number.

        Raises EmbeddingsError if a worker failed otherwise, or was lost too often.
        """
        pending = {ref: number for number, ref in refs.items()}
        results: dict[int, Any] = {}
        failures: dict[int, BaseException] = {}
        half_done: float | None = None
        while pending:
            for ref in wait_for(self.ray, [*pending]):
                number = pending.pop(ref)
                try:
                    results[number] = self.ray.get(ref)
                    if arrived is not None:
                        arrived(number, results[number])
                except Exception as error:
                    if not is_loss(self.ray, error):
                        raise explained(self.ray, error, f"worker {number}") from None
                    failures[number] = error
            if half_done is None and 2 * len(results) >= len(refs):
                half_done = perf_counter()
            if pending and half_done is not None and perf_counter() - half_done > self.timeout:
                for number in pending.values():
                    self.ray.kill(self.actors[number])
                    failures[number] = TimeoutError(f"others waited {self.timeout:g} s for it")
                pending = {}
            self.poll()
        return results, failures

    def wait_for_all(self, refs: Mapping[int, Any]) -> dict[int, Any]:
        """Wait for a result of each worker; raises the error of a worker that fails or is lost."""
        results, failures = self.wait(refs)
        for number, error in failures.items():
            raise explained(self.ray, error, f"worker {number}")
        return results

    def learn(
        self,
        epochs: int,
        share: float | None,
        learning_rate_factor: float,
        arrived: Callable[[int, ReplicaReport], None],
    ) -> None:
        """Let all workers learn an interval, as `WorkerProcess.learn`; `arrived` gets a worker's number and report."""
        self.interval = epochs, share, learning_rate_factor
        self.learned, self.reports = {}, {}
        self.failures = {}
        started = perf_counter()
        self.learn_on(range(len(self.actors)), arrived)
        self.statistics.add_interval(self.reports, self.progress, perf_counter() - started)

    def learn_on(self, numbers: Iterable[int], arrived: Callable[[int, ReplicaReport], None] | None = None) -> None:
        """Let some workers learn the interval; lost workers are replaced."""
        missing = [*numbers]
        while missing:
            refs = {number: self.send_learn(number) for number in missing}
            is_complete = len(refs) == len(self.actors)  # then merging begins as soon as all have learned
            self.merging = self.send_merge() if is_complete and self.parts > 1 else None
            results, failures = self.wait(refs, arrived)
            self.current |= set(results)
            self.reports |= results
            self.replace(failures)
            missing = [*failures]

    def send_learn(self, number: int) -> Any:
        """Let a worker learn the interval; returns a reference to its report."""
        merged = self.merged_for(number)
        method = self.actors[number].learn.options(num_returns=1 + self.parts)
        report, *self.learned[number] = method.remote(self.version, *self.interval, *merged)
        return report

    def merged_for(self, number: int) -> list[Any]:
        """References to the rows of other workers for the last merge, None for the worker; none if it has merged."""
        if number in self.current:
            return []
        return [None if other == number else rows for other, rows in enumerate(self.merged)]

    def send_merge(self) -> tuple[dict[int, Any], list[Any]]:
        """Let each worker merge its part of the changed rows; returns references to completion and to the rows."""
        numbers, refs, merged = range(len(self.actors)), {}, []
        for number in numbers:
            parts = [self.learned[other][number] for other in numbers]
            method = self.actors[number].merge.options(num_returns=2)
            refs[number], rows = method.remote(*parts)
            merged.append(rows)
        return refs, merged

    def merge(self) -> None:
        """Merge the changed rows and adopt the progress; if each worker merges all rows, it does so later."""
        started = perf_counter()
        merged = [rows for number in sorted(self.learned) for rows in self.learned[number]]
        while self.parts > 1:  # wait until each worker has merged its part
            refs, merged = self.merging or self.send_merge()
            self.merging = None
            _, failures = self.wait(refs)
            if not failures:
                break
            dead = {number: error for number, error in failures.items() if not is_lost_object(self.ray, error)}
            for number in failures.keys() - dead.keys():
                self.count_failure(number, failures[number], is_replaced=False)
            self.replace(dead)
            self.learn_on(dead)
            refs = {}
            for number in set(range(len(self.actors))) - dead.keys():  # an object may be lost with a machine
                method = self.actors[number].changes.options(num_returns=1 + self.parts)
                refs[number], *self.learned[number] = method.remote()
            _, failures = self.wait(refs)
            self.replace(failures)
            self.learn_on(failures)
        self.version, self.merged, self.learned, self.current = self.version + 1, merged, {}, set()
        self.progress = {share: one for report in self.reports.values() for share, one in report.progress.items()}
        seconds = perf_counter() - started
        self.statistics.merges += 1
        self.statistics.total += seconds
        self.statistics.merging += seconds

    def gather(self) -> None:
        """Copy newer merged tables of the workers into the tables of this process."""
        workers = len(self.actors)
        missing = [*range(workers)] if self.here_version < self.version else []
        while missing:
            refs = {one: self.actors[one].part_of_tables.remote(self.version, *self.merged_for(one)) for one in missing}
            results, failures = self.wait(refs)
            self.current |= set(results)
            for number, parts in results.items():
                for name, part in parts.items():
                    self.here[name][number::workers] = part
            self.replace(failures)
            missing = [*failures]
        self.here_version = self.version

    def replace(self, failures: Mapping[int, BaseException]) -> None:
        """Replace lost workers, and load the tables and progress of the last merge.

        A worker that only lacks rows lost from the object store is not replaced.
        """
        self.current -= set(failures)
        for number, error in failures.items():
            is_alive = is_lost_object(self.ray, error)
            self.count_failure(number, error, is_replaced=not is_alive)
            if not is_alive:
                self.new_process(number)  # all failed workers first, as a new worker may need text from others
        waiting = [*failures]
        while waiting:
            number = waiting.pop(0)
            try:
                if number in self.starting:
                    self.restart(number)
                get(self.ray, self.send_load(number, self.last_tables(number)))
                self.current.add(number)
            except Exception as error:
                if not is_loss(self.ray, error):
                    raise explained(self.ray, error, f"worker {number}") from None
                self.count_failure(number, error)
                self.new_process(number)
                waiting.append(number)

    def count_failure(self, number: int, error: BaseException, *, is_replaced: bool = True) -> None:
        """Report a failure of a worker; raises ClusterError after more than MAX_FAILURES in an interval."""
        self.failures[number] = count = self.failures.get(number, 0) + 1
        reason = one_line(error)
        if count > MAX_FAILURES:
            raise ClusterError(f"worker {number} failed {count} times in one interval: {reason:.200}; {ADVICE}")
        if not is_replaced:
            notice(f"rows that worker {number} needs were lost from the object store; they are sent again")
            return
        self.statistics.replaced.append(number)
        notice(f"worker {number} was lost ({type(error).__name__}); a new one repeats its words since the last merge")
        log.info("worker %s was lost: %s", number, reason)

    def new_process(self, number: int) -> None:
        """Start a new process in place of a worker."""
        self.ray.kill(self.actors[number])
        self.actors[number] = self.new_actor(number)
        self.starting.add(number)

    def restart(self, number: int) -> None:
        """Start a replacement."""
        started = self.send_start(number)
        try:
            get(self.ray, started, self.timeout)
        except self.ray.exceptions.GetTimeoutError:
            raise ClusterError(
                f"no machine had room for a replacement of worker {number} within {self.timeout:g} s; {ADVICE}"
            ) from None
        self.starting.discard(number)

    def last_tables(self, number: int) -> Any:
        """A reference to the merged tables, from another worker or this process, for the replacement of a worker.

        Raises ClusterError if no worker has the tables any more.
        """
        if self.here_version == self.version:
            return self.ray.put(MergedTables(dict(self.here)))
        for other in [*self.current, *set(range(len(self.actors))) - self.current]:
            if other == number:
                continue
            merged = self.merged_for(other)
            done, tables = self.actors[other].all_tables.options(num_returns=2).remote(self.version, *merged)
            try:
                get(self.ray, done)
                self.current.add(other)
                return tables
            except self.ray.exceptions.RayError:
                self.current.discard(other)
        raise ClusterError(f"all workers, or the rows that they exchanged, were lost at once; {ADVICE}")

    def close(self) -> None:
        """End all workers, after they have removed their files."""
        with suppress(Exception):  # without Ray they end by themselves
            check_running(self.ray)
            closing = [actor.close.remote() for actor in self.actors]
            self.ray.wait(closing, num_returns=len(closing), timeout=CLOSE_SECONDS)
            for actor in self.actors:
                self.ray.kill(actor)
