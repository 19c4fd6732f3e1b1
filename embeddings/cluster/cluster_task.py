"""The task that each worker of a cluster receives: the trainer, the vocabulary, and the division of the work."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import EmbeddingsError, S, SettingError
from embeddings.settings import check_value
from embeddings.training.corpus_share import CorpusShare, ShareOfStream
from embeddings.training.plan import Plan
from embeddings.training.replicas import MAX_REPLICAS, MergeRule, Replicas
from embeddings.training.run_options import RemoteTraining, RunOptions
from embeddings.training.training_data import TrainingData

if TYPE_CHECKING:
    from embeddings.training.trainer import Trainer


LOCAL, AUTO = "local:", "auto"
WORKER_TIMEOUT = 300.0  # seconds


class ClusterError(EmbeddingsError):
    """A cluster cannot be reached, or its workers differ or fail repeatedly."""


@dataclass(frozen=True)
class ClusterOptions(RemoteTraining):
    """The settings of `embeddings.Cluster`."""

    address: str
    workers: int | None = None
    threads_per_worker: int = 1
    merge_every: int | None = None
    rule: MergeRule = "coherence"
    worker_timeout: float = WORKER_TIMEOUT

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
        number = self.address.removeprefix(LOCAL)
        return int(number) if number != self.address and number.isdecimal() and 0 < int(number) <= 1024 else None

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


@dataclass(frozen=True)
class ClusterData(TrainingData):
    """Training data whose shares are learned by the workers of a cluster.

    Arguments:
        threads_per_replica: threads that update the tables of each replica without locks.
    """

    threads_per_replica: int = 1

    @property
    def shares(self) -> int:
        """The number of shares: one for each thread of each replica."""
        assert self.run_options.replicas is not None
        return self.run_options.replicas.count * self.threads_per_replica

    @property
    def has_replicas(self) -> bool:
        """Whether several replicas learn, each on separate tables."""
        return self.shares > self.threads_per_replica

    @property
    def shares_tables(self) -> bool:
        """Whether several threads update the same tables."""
        return self.threads_per_replica > 1

    def fingerprint(self) -> dict[str, Any]:
        """The identity of the run; replicas of one thread have the same identity on one machine and on a cluster."""
        extra = {"threads_per_replica": self.threads_per_replica} if self.threads_per_replica > 1 else {}
        return super().fingerprint() | extra


@dataclass(frozen=True)
class ClusterTask:
    """The task of a run that workers divide.

    Arguments:
        workers: the number of workers.
        threads_per_worker: the number of threads of each worker.
        threads_per_replica: 1, or `threads_per_worker` if each worker has one replica.
        meta, fingerprint, max_undercount: properties of the corpus.
        parts: the number of parts in which rows are merged, one by each worker; 1 if each worker merges all rows.
        bounds: where the shares of all threads begin and end in the units of the stream, (shares + 1).
        frozen: mask of frozen rows of words, (words,), or None.
    """

    trainer: "Trainer"
    vocabulary: Vocabulary
    seed: int
    replicas: Replicas
    workers: int
    threads_per_worker: int
    threads_per_replica: int
    meta: Mapping[str, Any]
    fingerprint: str
    max_undercount: int
    parts: int
    bounds: list[int]
    frozen: np.ndarray | None = None

    def replicas_of(self, worker: int) -> range:
        """The replicas of a worker."""
        count = self.replicas.count
        return range(count * worker // self.workers, count * (worker + 1) // self.workers)

    def shares_of(self, worker: int) -> range:
        """The shares of the corpus that a worker reads."""
        replicas, each = self.replicas_of(worker), self.threads_per_replica
        return range(replicas.start * each, replicas.stop * each)

    def tokens_of(self, worker: int) -> tuple[int, int]:
        """Where the units that a worker reads begin and end."""
        shares = self.shares_of(worker)
        return self.bounds[shares.start], self.bounds[shares.stop]

    def training_data(self, encoded: EncodedCorpus | CorpusShare) -> ClusterData:
        """The training data of a worker."""
        return ClusterData(
            self.trainer, cast(EncodedCorpus, encoded), self.vocabulary, self.threads_per_worker, self.seed, None,
            RunOptions(replicas=self.replicas), threads_per_replica=self.threads_per_replica,
        )  # fmt: skip

    def plan(self, data: TrainingData, worker: int) -> Plan:
        """The plan of a worker, whose stream knows all shares."""
        plan = self.trainer.plan(data)
        if not isinstance(data.encoded, CorpusShare):
            return plan
        stream: Any = plan.stream
        place = self.tokens_of(worker)[0], data.encoded.first_line
        return replace(plan, stream=ShareOfStream(stream, self.bounds, *place))
