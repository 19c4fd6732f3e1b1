"""Advice on the learning rate, where the default of a trainer is not the best: long training, and many replicas."""

from typing import TYPE_CHECKING

from embeddings.support.logs import notice
from embeddings.training.replicas import MANY_REPLICAS, Replicas

if TYPE_CHECKING:
    from embeddings.training.trainer import Trainer
    from embeddings.training.training_data import TrainingData


def rate_advice(trainer: "Trainer", words: int, replicas: Replicas | None) -> str | None:
    """The learning rate that is usually better than the default of a trainer, and why; None if the default is not used.

    Arguments:
        words: of the corpus.
    """
    default = getattr(type(trainer), "learning_rate", None)
    if default is None or getattr(trainer, "learning_rate", None) != default:
        return None
    rate, reasons, total = default, [], words * getattr(trainer, "epochs", 1)
    if trainer.long_training is not None:
        limit, lower = trainer.long_training
        if total > limit and default > lower:
            rate = lower
            reasons.append(f"{total:,} training words (words x epochs), above {limit:,}")
    if replicas is not None and replicas.count >= MANY_REPLICAS and trainer.replica_rate_factor != 1:
        rate *= trainer.replica_rate_factor
        reasons.append(f"{replicas.count} replicas, {MANY_REPLICAS} or more")
    advice = f"{' and '.join(reasons)}: a learning rate of {rate:g} is usually better than {default:g}"
    return advice if reasons else None


def log_rate_advice(data: "TrainingData") -> None:
    """Log the advice for a run, and show it in the progress display, unless its options say otherwise."""
    options = data.run_options
    advice = rate_advice(data.settings, data.encoded.meta["tokens"], options.replicas) if options.rate_advice else None
    if advice is not None:
        notice(advice)
