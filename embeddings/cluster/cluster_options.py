"""Where and with how many workers a model is trained."""

from dataclasses import dataclass

from embeddings.errors import EmbeddingsError, SettingError
from embeddings.settings import check_value
from embeddings.training.remote_training import RemoteTraining
from embeddings.training.replicas import MAX_REPLICAS, MergeRule, Replicas

LOCAL, AUTO = "local:", "auto"
WORKER_TIMEOUT = 300.0  # seconds


class ClusterError(EmbeddingsError):
    """A cluster cannot be reached, its workers differ, or they fail again and again."""


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
            raise SettingError(f"cluster must be auto, local:N or ray://HOST:PORT, got {self.address!r:.80}")

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
                "use fewer workers or threads_per_worker"
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
                f"replicas must be at least the number of workers, {workers}, got {replicas.count}; use fewer workers"
            )
        return replicas, 1
