"""Callbacks: objects that receive the events of a training run and can end it.

All calls come from the thread that started the run, except for `on_progress` of a run on a cluster. `on_progress` is
called while the training threads learn; `on_epoch_end` and `on_checkpoint` are called while they are halted. An
exception from a callback ends the run and propagates to the caller.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings.training.progress import Progress

if TYPE_CHECKING:
    from embeddings.corpora.encoded_corpus import EncodedCorpus
    from embeddings.models.model import Model


@dataclass
class EpochEnd:
    """The end of an epoch: all threads have read the corpus `epoch` times.

    Arguments:
        loss: the mean loss of the epoch; None if no window was sampled.
        make_model: builds `model`.
        scores: scores of the model by name, which callbacks add for logs.
    """

    epoch: int
    progress: Progress
    loss: float | None
    make_model: "Callable[[], Model]"
    scores: dict[str, float] = field(default_factory=dict, init=False)
    stop_requested: bool = field(default=False, init=False)
    save_requested: bool = field(default=False, init=False)
    rollback_factor: float | None = field(default=None, init=False)

    @cached_property
    def model(self) -> "Model":
        """A copy of the current model, made on first access."""
        return self.make_model()

    def stop(self) -> None:
        """End the run here."""
        self.stop_requested = True

    def save_tables(self) -> None:
        """Keep a copy of the tables as they are now, in memory and in checkpoints, in place of an earlier copy."""
        self.save_requested = True

    def roll_back(self, factor: float) -> None:
        """Continue from the tables that `save_tables` kept, with the scheduled learning rate times this factor."""
        self.rollback_factor = factor


@dataclass(frozen=True)
class RunStart:
    """The start of a run, or its resumption from a checkpoint.

    Arguments:
        trainer: name of the trainer.
        fingerprint: what identifies the run in checkpoints: settings, seed, threads, corpus, package versions.
        words: words already read, if the run is resumed. A trainer that reads something else counts that; `unit` is its
            name.
        total_words: words to read over all epochs.
    """

    trainer: str
    fingerprint: dict[str, Any]
    words: int
    total_words: int
    unit: str = "words"


class Callback:
    """Base class of callbacks; methods do nothing unless overridden.

    >>> import embeddings as em
    >>> class LossBelow3(em.Callback):
    ...     def on_epoch_end(self, epoch_end: em.training.EpochEnd) -> None:
    ...         if epoch_end.loss is not None and epoch_end.loss < 3:
    ...             epoch_end.stop()
    >>> text = ["the cat sat", "the dog sat"] * 2000
    >>> model = em.train("skipgram", text, dim=4, min_count=1, epochs=50, threads=1, callbacks=[LossBelow3()])
    >>> len(model.record["loss_by_epoch"]) < 50
    True

    If `on_epoch_end` is overridden, threads wait for each other at the end of each epoch. A callback that must
    remember earlier events defines `state`: checkpoints save what it returns, and a resumed run passes it to `restore`.
    """

    def on_corpus(self, encoded: "EncodedCorpus", trainer: Any) -> "EncodedCorpus | None":
        """Called when the text is encoded. A returned corpus is trained on in its place; None keeps it."""
        return None

    def on_run_start(self, run_start: RunStart) -> None:
        """Called when the run starts or resumes."""

    def on_progress(self, progress: Progress) -> None:
        """Called about ten times per second, with the loss since the last call."""

    def on_epoch_end(self, epoch_end: EpochEnd) -> None:
        """Called at the end of each epoch."""

    def on_scores(self, epoch_end: EpochEnd) -> None:
        """Called after `on_epoch_end` of all callbacks if one of them has added scores."""

    def on_checkpoint(self, path: Path, progress: Progress) -> None:
        """Called after a checkpoint is written."""

    def on_interrupt(self, progress: Progress) -> None:
        """Called when the user interrupts the run."""

    def on_run_end(self, model: "Model") -> "Model | None":
        """Called when the run is complete. A returned model replaces the trained one; None keeps it."""
        return model

    def config(self) -> dict[str, Any]:
        """Settings as JSON values. If the callback has a state, a run resumes only with the same settings."""
        return {}

    def state(self) -> dict[str, Any]:
        """Arrays, numbers and other JSON values by name that checkpoints save; they must not be modified later."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a state that `state` returned."""


def stateful(callbacks: Iterable[Callback]) -> list[Callback]:
    """The callbacks that have a state."""
    return [callback for callback in callbacks if type(callback).state is not Callback.state]
