"""How a run is carried out, beyond its threads and its seed."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from embeddings.errors import SettingError
from embeddings.training.callbacks import Callback
from embeddings.training.checkpoints import Checkpoints


@dataclass(frozen=True, kw_only=True)
class Conduct:
    """What is kept of a run on its way, whether it goes on from there, and who is told.

    Arguments:
        checkpoints: where and how often they are written; none unless given.
        resume: go on from the last of them; from the beginning where there is none.
        callbacks: called in this order.

    Raises:
        SettingError: something is not what it should be.
    """

    checkpoints: Checkpoints | None = None
    resume: bool = False
    callbacks: Sequence[Callback] = ()

    def __post_init__(self) -> None:
        if self.checkpoints is not None and not isinstance(self.checkpoints, Checkpoints):
            raise SettingError(f"checkpoints must be embeddings.Checkpoints, not {self.checkpoints!r}")
        if self.resume and self.checkpoints is None:
            raise SettingError("resume goes on from checkpoints: say where they are")
        wrong = [callback for callback in self.callbacks if not isinstance(callback, Callback)]
        if wrong:
            raise SettingError(f"a callback must be an embeddings.Callback, not {wrong[0]!r}")

    @property
    def plain(self) -> bool:
        """Whether nothing is asked for."""
        return self == Conduct()


def takes_conduct(trainer: Any) -> bool:
    """Whether runs of a trainer, or of its class, can be carried out in these ways."""
    return "conduct" in inspect.signature(trainer.train).parameters


def arguments(trainer: Any, name: str, conduct: Conduct | None) -> dict[str, Any]:
    """What its `train` is given.

    Raises:
        SettingError: something is asked for, and the trainer cannot do it.
    """
    if conduct is None or conduct.plain:
        return {}
    if not takes_conduct(trainer):
        raise SettingError(
            f"the trainer {name} knows no checkpoints, callbacks or vectors to start from: its train has no 'conduct'"
        )
    return {"conduct": conduct}
