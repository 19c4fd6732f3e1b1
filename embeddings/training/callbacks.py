"""Callbacks: objects that are notified of the events of a training run and may end it.

All calls come from the thread that started the run. `on_progress` is called while the training threads learn;
`on_epoch_end` and `on_checkpoint` are called while they are halted. An exception from a callback ends the run and
reaches the caller.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings.training.progress import Progress

if TYPE_CHECKING:
    from embeddings.models.model import Model


@dataclass
class EpochEnd:
    """The end of an epoch: all threads have read the corpus `epoch` times.

    Arguments:
        loss: the mean loss of the epoch; None if no window was sampled.
        make_model: makes `model`.
    """

    epoch: int
    progress: Progress
    loss: float | None
    make_model: "Callable[[], Model]"
    stop_requested: bool = field(default=False, init=False)

    @cached_property
    def model(self) -> "Model":
        """The model as it is now: a copy, made at the first access."""
        return self.make_model()

    def stop(self) -> None:
        """End the run here."""
        self.stop_requested = True


@dataclass(frozen=True)
class RunStart:
    """The start of a run, or its continuation from a checkpoint.

    Arguments:
        trainer: its name.
        fingerprint: what identifies the run in checkpoints: settings, seed, threads, corpus, package versions.
        words: words read before, by the run that it continues.
        total_words: words to read over all epochs.
    """

    trainer: str
    fingerprint: dict[str, Any]
    words: int
    total_words: int


class Callback:
    """Base class of callbacks; every method does nothing until it is overridden.

    >>> import embeddings as em
    >>> class LossBelow3(em.Callback):
    ...     def on_epoch_end(self, epoch_end: em.EpochEnd) -> None:
    ...         if epoch_end.loss is not None and epoch_end.loss < 3:
    ...             epoch_end.stop()
    >>> text = ["the cat sat", "the dog sat"] * 2000
    >>> model = em.train("skipgram", text, dim=4, min_count=1, epochs=50, threads=1, callbacks=[LossBelow3()])
    >>> len(model.record["loss_by_epoch"]) < 50
    True

    If `on_epoch_end` is overridden, threads wait for each other at the end of each epoch. A callback whose decisions
    depend on earlier events returns what it must remember from `state`. Checkpoints save it, and `restore` gets it back
    when a run continues.
    """

    def on_run_start(self, run_start: RunStart) -> None:
        """The run starts or continues."""

    def on_progress(self, progress: Progress) -> None:
        """Called about ten times per second, with the loss since the last call."""

    def on_epoch_end(self, epoch_end: EpochEnd) -> None:
        """An epoch is complete."""

    def on_checkpoint(self, path: Path, progress: Progress) -> None:
        """A checkpoint was written."""

    def on_interrupt(self, progress: Progress) -> None:
        """The user interrupted the run."""

    def on_run_end(self, model: "Model") -> "Model | None":
        """The run is complete. The returned model replaces the trained one; None keeps it."""
        return model

    def config(self) -> dict[str, Any]:
        """Settings that JSON can hold. A run with a callback that has a state resumes only if they are the same."""
        return {}

    def state(self) -> dict[str, Any]:
        """What a checkpoint saves of the callback: arrays and JSON values by name, which must not change later."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over a state that `state` returned."""


def wants_epoch_end(callback: Callback) -> bool:
    """Whether it overrides `on_epoch_end`."""
    return type(callback).on_epoch_end is not Callback.on_epoch_end


def stateful(callbacks: Iterable[Callback]) -> list[Callback]:
    """The callbacks that have a state."""
    return [callback for callback in callbacks if type(callback).state is not Callback.state]
