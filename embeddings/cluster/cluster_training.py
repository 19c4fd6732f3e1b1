"""Training on a cluster from the first check to the model."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from embeddings.cluster.cluster_task import ClusterData, ClusterError, ClusterOptions, ClusterTask
from embeddings.cluster.distributed_text import SentText, description_of, send_all, send_share
from embeddings.cluster.divided_text import DividedText, can_divide, reads_shares
from embeddings.cluster.ray_runtime import connected, explained
from embeddings.cluster.replica_host import ReplicaReport, ShareProgress
from embeddings.cluster.worker_pool import WorkerPool
from embeddings.cluster.worker_process import WorkerProcess
from embeddings.compilation.compile_time import compile_time
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.errors import SettingError
from embeddings.kernels.row_operations import padded
from embeddings.kernels.separate_arrays import read_only
from embeddings.models.model import Model
from embeddings.models.model_files import package_versions
from embeddings.models.table import Arrays
from embeddings.registry import package_of
from embeddings.training.corpus_share import CorpusShare, RemoteStream, WholeCorpusNeeded, share_bounds
from embeddings.training.plan import Plan
from embeddings.training.progress import Report
from embeddings.training.replica_tables import ReplicaTables
from embeddings.training.replicas import FIRST_INTERVAL, MergeSchedule, Replicas, log_rate_advice
from embeddings.training.run import Run, capture_progress
from embeddings.training.run_options import RunOptions
from embeddings.training.stream import TokenStream
from embeddings.training.training_data import TrainingData, as_corpus, check_threads_and_seed, prepare
from embeddings.training.worker import Worker

if TYPE_CHECKING:
    from embeddings.training.trainer import Trainer


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

    def receive(self, number: int, report: ReplicaReport) -> None:
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


MAX_DIRECT_WORKERS = 2  # more send fewer bytes if each merges a part of the rows


def train_on_cluster(
    cluster: ClusterOptions, trainer: "Trainer", corpus: Any, threads: int | None, seed: int, report: Report | None,
    run_options: RunOptions,
) -> Model:  # fmt: skip
    """Train a model; arguments as those of `Trainer.train`."""
    run_options.check(trainer)
    check_options(trainer, run_options)
    if known := cluster.workers or cluster.local_workers:
        cluster.replicas_for(known, run_options.replicas)  # checks them, before anything is started
    with connected(cluster) as ray:
        workers = cluster.n_workers(ray.cluster_resources().get("CPU", 0), len(ray.nodes()))
        replicas, threads_per_replica = cluster.replicas_for(workers, run_options.replicas)
        run_options = replace(run_options, replicas=replicas, cluster=None)
        pool = new_pool(ray, cluster, workers)
        try:
            machines = describe_workers(pool, trainer)
            options: dict[str, Any] = {"threads": threads, "seed": seed, "report": report, "run_options": run_options}
            text = as_corpus(corpus, trainer) if not isinstance(corpus, EncodedCorpus) else None
            if text is not None and workers > 1 and can_divide(text, trainer, run_options) and reads_shares(trainer):
                return train_divided(cluster, pool, machines, trainer, text, threads_per_replica, **options)
            data = prepare(trainer, corpus if text is None else text, **options)
            values = {name: getattr(data, name) for name in TrainingData.__dataclass_fields__}
            cluster_data = ClusterData(**values, threads_per_replica=threads_per_replica)
            return ClusterSession(cluster, pool, cluster_data, machines).train()
        finally:
            pool.close()


def train_divided(
    cluster: ClusterOptions, pool: WorkerPool, machines: list[dict[str, Any]], trainer: "Trainer", corpus: Corpus,
    threads_per_replica: int, *, threads: int | None, seed: int, report: Report | None, run_options: RunOptions,
) -> Model:  # fmt: skip
    """Train a model on text that the workers read."""
    compiled_before = compile_time.seconds
    threads, seed = check_threads_and_seed(threads, seed, trainer)
    run_options.check_fingerprint(trainer, threads, seed)
    text = DividedText(pool, corpus, cluster.threads_per_worker)
    vocabulary = text.select(getattr(trainer, "min_count", 1), getattr(trainer, "max_vocab", None))
    assert run_options.replicas is not None
    share: Any = text.share_out(vocabulary, run_options.replicas.count * threads_per_replica)
    data = ClusterData(
        trainer, share, vocabulary, threads, seed, report, run_options, compiled_before, threads_per_replica
    )
    log_rate_advice(data)
    return ClusterSession(cluster, pool, data, machines, text).train()


def check_options(trainer: "Trainer", run_options: RunOptions) -> None:
    """Refuse trainers and options for which there is no training on a cluster."""
    from embeddings.training.trainer import Trainer

    if run_options.continued is not None:
        raise SettingError("a model cannot be continued on a cluster; leave out cluster")
    if run_options.pretrained is not None:
        mode = run_options.pretrained.mode
        raise SettingError(f"pretrained vectors with mode={mode} cannot be used on a cluster; leave out cluster")
    if type(trainer).learn is not Trainer.learn:
        raise SettingError(f"the trainer {trainer.trainer_name} has no plan, so it cannot learn on a cluster")


def new_pool(ray: Any, cluster: ClusterOptions, workers: int) -> WorkerPool:
    """The workers, on as many machines as possible."""
    actor = ray.remote(
        num_cpus=cluster.threads_per_worker, max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD"
    )(WorkerProcess)
    return WorkerPool(ray, [actor.remote(number) for number in range(workers)], actor.remote, cluster.worker_timeout)


def describe_workers(pool: WorkerPool, trainer: "Trainer") -> list[dict[str, Any]]:
    """What each worker says of its machine.

    Raises:
        ClusterError: the packages differ, or the plugin is not installed everywhere.
    """
    name, module = trainer.trainer_name, type(trainer).__module__
    refs = {number: actor.describe.remote(name, module) for number, actor in enumerate(pool.actors)}
    machines, failures = pool.wait(refs)
    for number, error in failures.items():
        raise explained(pool.ray, error, f"worker {number}")
    expected = package_versions() | package_of("trainer", name)
    for number in sorted(machines):
        versions, machine, missing = (machines[number][key] for key in ("versions", "machine", "missing"))
        for package in sorted(expected.keys() | versions.keys()):
            here, there = expected.get(package), versions.get(package)
            if here != there:
                raise ClusterError(
                    f"worker {number} on {machine} has {package} {there or 'not installed'}, but this machine has "
                    f"{here or 'none'}; install the same versions on all machines"
                )
        if missing is not None:
            raise ClusterError(
                f"worker {number} on {machine} cannot import {missing}, which the trainer {name} requires; install the "
                "same packages on all machines"
            )
    return [machines[number] for number in sorted(machines)]


class ClusterSession:
    """A run on the workers of a pool: what is sent to them.

    Arguments:
        data: of the whole corpus.
        machines: what each worker says of its machine.
        text: the text, if the workers have read it.
    """

    def __init__(
        self, cluster: ClusterOptions, pool: WorkerPool, data: ClusterData, machines: list[dict[str, Any]],
        text: DividedText | None = None,
    ) -> None:  # fmt: skip
        self.text = text
        self.cluster, self.pool, self.data, self.machines = cluster, pool, data, machines
        self.is_whole = False  # each worker needs all of the text
        self.sent: SentText | None = None

    def train(self) -> Model:
        """Learn from the first unit to the last."""
        plan = self.plan()
        self.check_shares(plan)
        self.check_memory(plan)
        return ClusterRun(self.data, plan, self.pool, self.start).train()

    def plan(self) -> Plan:
        """The plan of the run; workers get shares of the text, unless the plan reads it as a whole."""
        data, encoded = self.data, self.data.encoded
        no_tokens = CorpusShare(read_only(np.zeros(0, np.int32)), np.zeros(1, np.int64), 0, **description_of(encoded))
        try:
            plan = data.settings.plan(replace(data, encoded=cast(EncodedCorpus, no_tokens)))
            stream = plan.stream
            if type(stream) is TokenStream and plan.vocabulary is None:
                if self.text is not None:
                    self.bounds = self.text.bounds
                else:
                    self.bounds = share_bounds(len(encoded.ids), np.asarray(encoded.sentences), data.shares)
                return replace(plan, stream=RemoteStream(stream, self.bounds, 0, 0))
        except WholeCorpusNeeded:
            if self.text is not None:
                raise ClusterError(
                    f"the plan of {data.trainer} depends on settings or words in what it reads"
                ) from None
        self.is_whole, plan = True, data.settings.plan(data)
        self.bounds = list(plan.stream.bounds(data.shares))
        return plan

    def check_shares(self, plan: Plan) -> None:
        """Refuse a text that has no share for some worker."""
        used = int(np.count_nonzero(np.diff(self.bounds)))
        if used < len(self.bounds) - 1:
            raise ClusterError(
                f"the text of {self.bounds[-1]:,} {plan.stream.unit} has shares for {used} of {len(self.bounds) - 1} "
                "threads; use fewer workers"
            )

    def check_memory(self, plan: Plan) -> None:
        """Refuse tables that do not fit into the memory of a machine, before any is allocated."""
        size = sum(4 * table.rows * table.slots * padded(table.dim) for table in plan.tables.values())
        replicas = self.data.run_options.replicas
        assert replicas is not None
        hosted = -(-replicas.count // len(self.machines))
        needed = (hosted + 2) * size  # replicas, the merged tables, and rows on their way
        workers = Counter(machine["node"] for machine in self.machines)
        for machine in self.machines:
            count, free = workers[machine["node"]], machine["free"]
            if free is not None and count * needed > free:
                raise ClusterError(
                    f"{count} workers on {machine['machine']} need {count * needed / 1e9:,.1f} GB for tables of "
                    f"{size / 1e9:,.1f} GB, but {free / 1e9:,.1f} GB are free there; use fewer workers on a machine, "
                    "or fewer words, dimensions or buckets: tables are not divided among machines"
                )

    def start(self, tables: Arrays, frozen: np.ndarray | None) -> None:
        """Let the workers start."""
        data, encoded = self.data, self.data.encoded
        assert data.run_options.replicas is not None
        task = ClusterTask(
            data.settings, data.vocabulary, data.seed, data.run_options.replicas, len(self.machines),
            self.cluster.threads_per_worker, data.threads_per_replica, encoded.meta, encoded.fingerprint,
            encoded.max_undercount, number_of_parts(len(self.machines)), self.bounds, frozen,
        )  # fmt: skip
        self.pool.start(task, self.text_sender(task), tables)

    def text_sender(self, task: ClusterTask) -> Callable[[int], SentText]:
        """A function that sends a worker its text."""
        ray, encoded = self.pool.ray, self.data.encoded
        if self.text is not None:
            return self.text.sender(task, cast(CorpusShare, encoded))
        if not self.is_whole:
            return lambda number: send_share(ray, encoded, *task.tokens_of(number))
        here = ray.get_runtime_context().get_node_id()

        def send(number: int) -> SentText:
            if self.machines[number]["node"] == here:
                return SentText([], 0, None, {}, {}, encoded.folder)
            self.sent = self.sent or send_all(ray, encoded)
            return self.sent

        return send


def number_of_parts(workers: int) -> int:
    """In how many parts rows are merged: two workers send each other all changed rows, which saves messages."""
    return 1 if workers <= MAX_DIRECT_WORKERS else workers
