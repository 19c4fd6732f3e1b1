"""`Cluster`: training on several machines, or in several processes of one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from embeddings.cluster.cluster_task import ClusterOptions
from embeddings.cluster.cluster_training import train_on_cluster
from embeddings.models.model import Model
from embeddings.training.progress import Report

if TYPE_CHECKING:
    from embeddings.training.run_options import RunOptions
    from embeddings.training.trainer import Trainer


@dataclass(frozen=True)
class Cluster(ClusterOptions):
    """Workers on one or several machines, each with a share of the corpus and separate tables.

    >>> import embeddings as em
    >>> em.Cluster("local:2", threads_per_worker=1).n_workers(cpus=2, nodes=1)
    2

    Arguments:
        address: "local:N" for N worker processes on this machine; "auto" for the Ray cluster that this machine belongs
            to; or the address of another cluster, such as "ray://host:10001".
        workers: the number of workers; N for "local:N", otherwise one for each machine.
        threads_per_worker: threads of each worker. Unless the run has `Replicas`, each worker is one replica, and its
            threads update the same tables without locks; otherwise the replicas are divided among the workers, each is
            one thread, and the result depends on the number of replicas only.
        merge_every, rule: as in `Replicas`; used if the run has no `Replicas`.
        worker_timeout: seconds. When half of the workers have finished an interval, others have this time until they
            are replaced; a replacement repeats the interval, so the result is the same.

    Raises:
        SettingError: a value is of the wrong type or out of range.
    """

    def train(
        self, trainer: "Trainer", corpus: Any, threads: int | None, seed: int, report: Report | None,
        run_options: "RunOptions",
    ) -> Model:  # fmt: skip
        """Train a model; arguments as in `Trainer.train`, but `threads` is the number of threads for reading.

        Raises:
            ClusterError: as the class.
        """
        return train_on_cluster(self, trainer, corpus, threads, seed, report, run_options)
