"""Advice on the learning rate where the default of a trainer is not the best: for many replicas."""

from typing import TYPE_CHECKING

from embeddings.support.logs import notice
from embeddings.training.replicas import MANY_REPLICAS, Replicas

if TYPE_CHECKING:
    from embeddings.training.trainer import Trainer
    from embeddings.training.training_data import TrainingData


def rate_advice(trainer: "Trainer", replicas: Replicas | None) -> str | None:
    """The learning rate that is usually better than the default of a trainer, if that is used; None if none is."""
    default = getattr(type(trainer), "learning_rate", None)
    if default is None or getattr(trainer, "learning_rate", None) != default:
        return None
    if replicas is None or replicas.count < MANY_REPLICAS or trainer.replica_rate_factor == 1:
        return None
    rate = default * trainer.replica_rate_factor
    return f"with {replicas.count} replicas a learning rate of {rate:g} is usually better than {default:g}"


def log_rate_advice(data: "TrainingData") -> None:
    """Log the advice for a run, and show it in the progress display, unless its options say otherwise."""
    options = data.run_options
    advice = rate_advice(data.settings, options.replicas) if options.rate_advice else None
    if advice is not None:
        notice(advice)
