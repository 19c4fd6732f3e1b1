"""Who is told how a run goes, and may end it.

All calls come from the thread that began the run. `progress` is called while the others learn; in `epoch` and
`checkpoint` they stand still. What a callback raises ends the run and reaches its caller.
"""

from collections.abc import Callable
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
        loss: the mean over the epoch, None where no window was tallied.
        make: gives `model`.
    """

    epoch: int
    progress: Progress
    loss: float | None
    make: "Callable[[], Model]"
    stopped: bool = field(default=False, init=False)

    @cached_property
    def model(self) -> "Model":
        """What was learned until now: a copy, made when it is first asked for."""
        return self.make()

    def stop(self) -> None:
        """Let the run end here."""
        self.stopped = True


@dataclass(frozen=True)
class RunStart:
    """What a run is, as it begins or goes on.

    Arguments:
        trainer: its name.
        run: what names the run in checkpoints: settings, seed, threads, corpus, versions.
        words: so many are read already.
    """

    trainer: str
    run: dict[str, Any]
    words: int
    of_words: int


class Callback:
    """What may be told of a run; each method does nothing unless it is overridden.

    >>> import embeddings as em
    >>> class Enough(em.Callback):
    ...     def on_epoch_end(self, epoch_end: em.EpochEnd) -> None:
    ...         if epoch_end.loss is not None and moment.loss < 3:
    ...             epoch_end.stop()
    >>> text = ["the cat sat", "the dog sat"] * 2000
    >>> model = em.train("skipgram", text, dim=4, min_count=1, epochs=50, threads=1, callbacks=[Enough()])
    >>> len(model.record["loss_by_epoch"]) < 50
    True

    Whoever overrides `epoch` makes threads wait for each other at the end of each epoch. A callback that decides by
    what was before keeps it in `state`: checkpoints hold it, and `restore` gets it when a run goes on.
    """

    def on_run_start(self, run_start: RunStart) -> None:
        """The run begins, or goes on."""

    def on_progress(self, progress: Progress) -> None:
        """How far it is, some ten times a second, and the loss since the last time."""

    def on_epoch_end(self, epoch_end: EpochEnd) -> None:
        """An epoch is over."""

    def on_checkpoint(self, path: Path, progress: Progress) -> None:
        """A checkpoint was written."""

    def on_interrupt(self, progress: Progress) -> None:
        """The user stopped the run."""

    def on_run_end(self, model: "Model") -> "Model | None":
        """The run is over; what it gives in place of the model learned last, which None leaves."""
        return model

    def config(self) -> dict[str, Any]:
        """What it decides by, as JSON can hold it: one with a state goes on only where this is the same."""
        return {}

    def state(self) -> dict[str, Any]:
        """What a checkpoint holds of it: arrays, and what JSON can hold, by name; nothing that changes later."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Be as when `state` gave this."""


def wants_epoch_end(callback: Callback) -> bool:
    """Whether it wants to be told of the ends of epochs."""
    return type(callback).epoch is not Callback.epoch
