"""`Cluster`: training on several machines, or in several processes of one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, cast

import numpy as np

from embeddings.cluster.cluster_task import AUTO, ClusterError, ClusterTask
from embeddings.cluster.distributed_text import (
    LocalCorpus,
    SentText,
    description_of,
    send_corpus,
    send_share,
)
from embeddings.cluster.divided_text import DividedText, can_divide
from embeddings.cluster.ray_runtime import connected
from embeddings.cluster.worker_pool import WorkerPool
from embeddings.cluster.worker_process import ShareProgress, WorkerProcess
from embeddings.compilation.compile_time import compile_time
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.errors import S, SettingError
from embeddings.kernels.separate_arrays import read_only
from embeddings.models.model import Model
from embeddings.models.model_files import package_versions
from embeddings.models.table import Arrays
from embeddings.registry import package_of
from embeddings.settings import check_value
from embeddings.training.executor import Halt, MergedThreads
from embeddings.training.plan import Plan
from embeddings.training.progress import Report
from embeddings.training.replicas import MAX_REPLICAS, MergeRule, MergeSchedule, Replicas
from embeddings.training.run import Run
from embeddings.training.run_options import ClusterBase, RunOptions
from embeddings.training.stream import CorpusShare, RemoteStream, TokenStream, WholeCorpusNeeded, share_bounds
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import TrainingData, as_corpus, check_threads_and_seed, prepare
from embeddings.training.worker import Worker

CLUSTER = "cluster"  # in the record of a model


class RemoteShare(Worker):
    """The last reported state of a thread of a worker."""

    def __init__(self, number: int, units: int, progress: ShareProgress) -> None:
        self.number, self.units, self.reported = number, units, progress

    @property
    def epochs(self) -> int:  # type: ignore[override]
        """Completed epochs."""
        return int(self.reported.state["epochs"])

    def has_read(self, units: float) -> bool:
        """Whether the thread has read `units` units."""
        return self.reported.words >= units

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of the state."""
        return self.reported.arrays

    def state(self) -> dict[str, Any]:
        """The rest of the state."""
        return self.reported.state

    def restore(self, state: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Restore a saved state; `send_tables` adds the counts."""
        copies = {name: np.array(array, subok=False) for name, array in arrays.items()}
        self.reported = ShareProgress(state, copies)


class ClusterExecutor(MergedThreads):
    """Threads of the workers of a pool, which `start_workers` starts, given the initial tables and the frozen rows."""

    def __init__(self, pool: WorkerPool, start_workers: Callable[[Arrays, np.ndarray | None], None]) -> None:
        self.pool, self.start_workers = pool, start_workers

    @property
    def tables(self) -> Arrays:
        """The merged tables, fetched from the workers if their tables are newer."""
        if self.pool.here_version < self.pool.version:
            self.pool.gather()
        return self.merged_tables

    @tables.setter
    def tables(self, tables: Arrays) -> None:
        self.merged_tables = tables

    def new_workers(self, frozen: np.ndarray | None) -> Sequence[Worker]:
        """The threads of all workers, which compile their kernels."""
        replicas = self.data.run_options.replicas
        assert replicas is not None
        self.schedule = MergeSchedule(replicas.count, replicas.merge_every)
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
        for share in self.remote_shares:
            state, arrays = share.reported.state, share.reported.arrays
            share.reported = ShareProgress.with_counts(state, arrays, self.tally, share.number)
        self.pool.load({share.number: share.reported for share in self.remote_shares})

    def learn_interval(self, halt: Halt, report: Callable[[], bool]) -> None:
        """Let all workers learn."""
        self.pool.poll = report
        try:
            factor = self.tally.learning_rate_factor
            self.pool.learn(halt.epochs, halt.share, factor, lambda number, one: self.take_over(one))
            report()
        except BaseException:
            self.take_over(self.pool.progress)  # the progress at the last merge
            self.pool.reports = {}
            raise

    def take_over(self, progress: Mapping[int, ShareProgress]) -> None:
        """Take over the progress of shares."""
        for number, one in progress.items():
            self.remote_shares[number].reported = one
            one.restore_counts(self.tally, number)

    def merge_tables(self) -> None:
        """Merge the rows that replicas changed since the last merge, if they have learned an interval."""
        if self.pool.reports:
            self.pool.merge()
            self.pool.reports = {}

    @property
    def record(self) -> dict[str, Any]:
        """The number of workers, and how often they merged."""
        return {CLUSTER: {"workers": len(self.pool.actors), "merges": self.pool.merges}}


def divided_data(
    text: DividedText, trainer: Trainer, threads_per_replica: int, *, threads: int | None, seed: int,
    report: Report | None, run_options: RunOptions,
) -> TrainingData:  # fmt: skip
    """The data of a run on text that the workers read."""
    compiled_before = compile_time.seconds
    threads, seed = check_threads_and_seed(threads, seed, trainer)
    run_options.check_fingerprint(trainer, threads, seed)
    min_count, max_vocab = getattr(trainer, "min_count", 1), getattr(trainer, "max_vocab", None)
    vocabulary = text.words.select(min_count=min_count, max_vocab=max_vocab)
    assert run_options.replicas is not None
    # By the number of shares, not of workers, so that the result does not depend on the machines.
    share: Any = text.share_out(vocabulary, run_options.replicas.count * threads_per_replica)
    return TrainingData(
        trainer, share, vocabulary, threads, seed, report, run_options, compiled_before, threads_per_replica
    )


def check_options(trainer: Trainer, run_options: RunOptions) -> None:
    """Refuse trainers and options for which there is no training on a cluster."""
    unsupported = {
        "continued training": run_options.continued is not None,
        f"the trainer {trainer.trainer_name}, which has no plan": type(trainer).learn is not Trainer.learn,
    }
    for name, is_requested in unsupported.items():
        if is_requested:
            raise SettingError(f"a cluster does not support {name}; leave out cluster")


def describe_workers(pool: WorkerPool, trainer: Trainer) -> list[dict[str, Any]]:
    """Descriptions of the machines of all workers.

    Raises ClusterError if the packages differ, or the plugin is not installed everywhere.
    """
    name, module = trainer.trainer_name, type(trainer).__module__
    refs = {number: actor.describe.remote(name, module) for number, actor in enumerate(pool.actors)}
    machines = pool.wait(refs)
    expected = package_versions() | package_of("trainer", name)
    for number in sorted(machines):
        versions, machine, missing = (machines[number][key] for key in ("versions", "machine", "missing"))
        problems = [
            f"has {package} {versions.get(package, 'not installed')} and not {expected.get(package, 'none')}"
            for package in sorted(expected.keys() | versions.keys())
            if expected.get(package) != versions.get(package)
        ]
        if missing is not None:
            problems.append(f"cannot import {missing}, which the trainer {name} requires")
        if problems:
            advice = "install the same packages on all machines"
            raise ClusterError(f"worker {number} on {machine} {' and '.join(problems)}; {advice}")
    return [machines[number] for number in sorted(machines)]


def train_on(
    cluster: "Cluster", pool: WorkerPool, data: TrainingData, machines: list[dict[str, Any]],
    text: DividedText | None = None,
) -> Model:  # fmt: skip
    """Learn from the first unit to the last, on the workers of a pool, to which the task and the text are sent.

    `data` are those of the whole corpus; `text` is given if the workers have read it.
    """
    plan, bounds, is_whole = plan_shares(data, text)
    used, shares = int(np.count_nonzero(np.diff(bounds))), len(bounds) - 1
    if used < shares:
        length = f"{bounds[-1]:,} {plan.stream.unit}"
        raise ClusterError(f"the text of {length} has shares for {used} of {shares} threads; use fewer workers")
    ray, encoded, replicas = pool.ray, data.encoded, data.run_options.replicas
    assert replicas is not None

    def start(tables: Arrays, frozen: np.ndarray | None) -> None:
        """Let the workers start."""
        task = ClusterTask(
            data.trainer, data.vocabulary, data.seed, replicas, len(machines), cluster.threads_per_worker,
            data.threads_per_replica, bounds, frozen,
        )  # fmt: skip
        here, whole = ray.get_runtime_context().get_node_id(), cache(partial(send_corpus, ray, encoded))

        def send(number: int) -> SentText:
            if not is_whole:
                return send_share(ray, encoded, *task.tokens_of(number))
            return LocalCorpus(encoded.folder) if machines[number]["node"] == here else whole()

        pool.start(task, send if text is None else text.sender(task, cast(CorpusShare, encoded)), tables)

    return Run(data, plan, ClusterExecutor(pool, start)).train()


def plan_shares(data: TrainingData, text: DividedText | None) -> tuple[Plan, list[int], bool]:
    """The plan of a run, where the shares of threads begin and end, and whether the plan reads the whole text.

    Otherwise workers get shares of the text.
    """
    encoded = data.encoded
    no_tokens = CorpusShare(read_only(np.zeros(0, np.int32)), np.zeros(1, np.int64), 0, **description_of(encoded))
    try:
        plan = data.trainer.plan(replace(data, encoded=cast(EncodedCorpus, no_tokens)))
        if type(plan.stream) is TokenStream and plan.vocabulary is None:
            if text is None:
                bounds = share_bounds(len(encoded.ids), np.asarray(encoded.sentences), data.shares)
            else:
                bounds = text.bounds
            return replace(plan, stream=RemoteStream(**vars(plan.stream), all_bounds=bounds)), bounds, False
    except WholeCorpusNeeded:
        if text is not None:
            raise ClusterError(
                f"the plan of {data.trainer_name} depends on settings or words in what it reads"
            ) from None
    plan = data.trainer.plan(data)
    return plan, list(plan.stream.bounds(data.shares)), True


@dataclass(frozen=True)
class Cluster(ClusterBase):
    """Workers on one or several machines, each with a share of the corpus and separate tables.

    >>> import embeddings as em
    >>> em.training.Cluster("local:2", threads_per_worker=1).n_workers(cpus=2, nodes=1)
    2

    Arguments:
        address: "local:N" for N worker processes on this machine; "auto" for the Ray cluster that this machine belongs
            to; or the address of another cluster, such as "ray://host:10001".
        workers: the number of workers; N for "local:N", otherwise one for each machine.
        threads_per_worker: threads of each worker. Unless the run has `Replicas`, each worker is one replica, and its
            threads update the same tables without locks; otherwise the replicas are divided among the workers, each is
            one thread, and the result depends on the number of replicas only.
        merge_every, rule: as in `Replicas`; used if the run has no `Replicas`.
        worker_timeout: seconds. When half of the workers have finished an interval, others have this time; if one needs
            longer, or is lost, the run ends with an error, and can be resumed from its last checkpoint.

    Raises:
        SettingError: a value is of the wrong type or out of range.
    """

    address: str
    workers: int | None = None
    threads_per_worker: int = 1
    merge_every: int | None = None
    rule: MergeRule = "coherence"
    worker_timeout: float = 300.0  # seconds

    def __post_init__(self) -> None:
        check_value("cluster", self.address, str, {})
        check_value("workers", self.workers, int | None, {"ge": 1, "le": MAX_REPLICAS})
        check_value("threads_per_worker", self.threads_per_worker, int, {"ge": 1, "le": 1024})
        check_value("worker_timeout", self.worker_timeout, float, {"gt": 0, "le": 1e6})
        Replicas(1, self.merge_every, self.rule)
        if self.local_workers is None and self.address != AUTO and "://" not in self.address:
            raise SettingError(f"{S.cluster} must be auto, local:N or ray://HOST:PORT, got {self.address!r:.80}")

    @property
    def local_workers(self) -> int | None:
        """N of "local:N"; None for another address."""
        number = self.address.removeprefix("local:")
        return int(number) if number != self.address and number.isdecimal() and 0 < int(number) <= 1024 else None

    @property
    def local_cpus(self) -> int | None:
        """The CPUs that the workers of "local:N" use; None for another address."""
        number = self.local_workers
        return None if number is None else max(self.workers or 0, number) * self.threads_per_worker

    def n_workers(self, cpus: float, nodes: int) -> int:
        """The number of workers on a cluster.

        Raises:
            ClusterError: it has fewer CPUs.
        """
        workers = self.workers or self.local_workers or max(nodes, 1)
        if workers * self.threads_per_worker > cpus:
            raise ClusterError(
                f"{workers} workers of {self.threads_per_worker} threads need "
                f"{workers * self.threads_per_worker} CPUs, but the cluster {self.address} has {cpus:g}; "
                f"use fewer workers or {S.threads_per_worker}"
            )
        return workers

    def replicas_for(self, workers: int, replicas: Replicas | None) -> tuple[Replicas, int]:
        """The replicas of a run, and the threads of each.

        Raises:
            ClusterError: there are fewer replicas than workers.
        """
        if replicas is None:
            return Replicas(workers, self.merge_every, self.rule), self.threads_per_worker
        if replicas.count < workers:
            raise ClusterError(
                f"{S.replicas} must be at least the number of workers, {workers}, got {replicas.count}; use fewer "
                "workers"
            )
        return replicas, 1

    def train(
        self, trainer: Trainer, corpus: Any, threads: int | None, seed: int, report: Report | None,
        run_options: RunOptions,
    ) -> Model:  # fmt: skip
        """Train a model; arguments as in `Trainer.train`, but `threads` is the number of threads for reading.

        Raises:
            ClusterError: the cluster cannot be reached or is too small, or its workers differ, fail or are lost.
        """
        run_options.check(trainer)
        check_options(trainer, run_options)
        if known := self.workers or self.local_workers:
            self.replicas_for(known, run_options.replicas)  # checks them, before anything is started
        with connected(self.address, self.local_cpus) as ray:
            workers = self.n_workers(ray.cluster_resources().get("CPU", 0), len(ray.nodes()))
            replicas, threads_per_replica = self.replicas_for(workers, run_options.replicas)
            run_options = replace(run_options, replicas=replicas, cluster=None)
            resources = {"num_cpus": self.threads_per_worker, "max_restarts": 0, "max_task_retries": 0}
            actor = ray.remote(**resources, scheduling_strategy="SPREAD")(WorkerProcess)  # on many machines
            actors = [actor.remote(number) for number in range(workers)]
            pool = WorkerPool(ray, actors, self.worker_timeout)
            try:
                machines = describe_workers(pool, trainer)
                options: dict[str, Any] = dict(threads=threads, seed=seed, report=report, run_options=run_options)
                text = None if isinstance(corpus, EncodedCorpus) else as_corpus(corpus, trainer)
                if text is not None and workers > 1 and can_divide(text, trainer, run_options):
                    divided = DividedText(pool, text, self.threads_per_worker)
                    data = divided_data(divided, trainer, threads_per_replica, **options)
                    return train_on(self, pool, data, machines, divided)
                data = prepare(trainer, corpus if text is None else text, **options)
                data = replace(data, threads_per_replica=threads_per_replica)
                return train_on(self, pool, data, machines)
            finally:
                pool.close()
