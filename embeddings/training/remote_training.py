"""Training that other processes or machines do; `embeddings.cluster` defines it."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from embeddings.models.model import Model
from embeddings.training.progress import Report

if TYPE_CHECKING:
    from embeddings.training.run_options import RunOptions
    from embeddings.training.trainer import Trainer


class RemoteTraining(ABC):
    """Where a model is trained, if not in this process."""

    @abstractmethod
    def train(
        self, trainer: "Trainer", corpus: Any, threads: int | None, seed: int, report: Report | None,
        run_options: "RunOptions",
    ) -> Model:  # fmt: skip
        """Train a model; arguments as those of `Trainer.train`."""
