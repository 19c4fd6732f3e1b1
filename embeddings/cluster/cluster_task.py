"""The task that each worker of a cluster receives: the trainer, the vocabulary, and the division of the work."""

from dataclasses import dataclass

import numpy as np

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import EmbeddingsError
from embeddings.training.replicas import Replicas
from embeddings.training.trainer_declaration import TrainerDeclaration

AUTO = "auto"  # address of the cluster that this machine belongs to


class ClusterError(EmbeddingsError):
    """A cluster cannot be reached, or its workers differ, fail or are lost."""


@dataclass(frozen=True)
class ClusterTask:
    """The task of a run that workers divide.

    Arguments:
        workers: the number of workers.
        threads_per_worker: the number of threads of each worker.
        threads_per_replica: 1, or `threads_per_worker` if each worker has one replica.
        bounds: where the shares of all threads begin and end in the units of the stream, (shares + 1).
        frozen: mask of frozen rows of words, (words,), or None.
    """

    trainer: TrainerDeclaration
    vocabulary: Vocabulary
    seed: int
    replicas: Replicas
    workers: int
    threads_per_worker: int
    threads_per_replica: int
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

    def part_of(self, table: np.ndarray, worker: int) -> np.ndarray:
        """The rows of a table that a worker sends to the process that started the run."""
        # Consecutive ones, so that they are copied as one piece of memory.
        return table[len(table) * worker // self.workers : len(table) * (worker + 1) // self.workers]
