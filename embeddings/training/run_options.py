"""How a run is carried out, beyond its threads and its seed."""

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from embeddings.errors import SettingError
from embeddings.settings import check_value
from embeddings.training import continued_training
from embeddings.training.callbacks import Callback
from embeddings.training.checkpoints import Checkpoints
from embeddings.training.init_vectors import InitFrom

if TYPE_CHECKING:
    from embeddings.corpora import Corpus
    from embeddings.models.model import Model


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What a run starts from, what is kept of it on its way, whether it goes on from there, and who is told.

    Arguments:
        init: vectors to start from.
        continued: a model to go on with, whose vocabulary grows; see `embeddings.training.continued_training`.
        checkpoints: where and how often they are written; none unless given.
        resume: go on from the last of them; from the beginning where there is none.
        callbacks: called in this order.

    Raises:
        SettingError: something is not what it should be.
    """

    init: InitFrom | None = None
    continued: "Model | None" = None
    checkpoints: Checkpoints | None = None
    resume: bool = False
    callbacks: Sequence[Callback] = ()

    def __post_init__(self) -> None:
        if self.checkpoints is not None and not isinstance(self.checkpoints, Checkpoints):
            raise SettingError(f"checkpoints must be embeddings.Checkpoints, not {self.checkpoints!r}")
        if self.resume and self.checkpoints is None:
            raise SettingError("resume goes on from checkpoints: say where they are")
        check_value("resume", self.resume, bool, {})
        if isinstance(self.callbacks, Callback) or not isinstance(self.callbacks, Iterable):
            raise SettingError(f"callbacks must be a list of embeddings.Callback, not {self.callbacks!r:.80}")
        object.__setattr__(self, "callbacks", tuple(self.callbacks))
        wrong = [callback for callback in self.callbacks if not isinstance(callback, Callback)]
        if wrong:
            raise SettingError(f"a callback must be an embeddings.Callback, not {wrong[0]!r}")
        if self.init is not None and not isinstance(self.init, InitFrom):
            raise SettingError(f"init must be embeddings.InitFrom, not {self.init!r:.80}")
        if self.continued is not None:
            continued_training.check_model(self.continued)
        if self.init is not None and self.continued is not None:
            raise SettingError("a model that is gone on with has its own vectors to start from: leave out init")

    @property
    def plain(self) -> bool:
        """Whether nothing is asked for."""
        asked = (self.init, self.continued, self.checkpoints)
        return not (self.callbacks or any(one is not None for one in asked))

    def check(self, trainer: str, settings: Any) -> None:
        """Refuse what a trainer with these settings cannot do, before its corpus is read.

        Raises:
            SettingError: saying why.
            FormatError: the vectors to start from cannot be read.
            OutputError: there are checkpoints already, or none can be written.
        """
        if self.checkpoints is not None:
            self.checkpoints.check(resume=self.resume)
        if self.init is not None:
            self.init.check(trainer, settings)
        if self.continued is not None:
            continued_training.check(self.continued, trainer, settings)

    def check_resumed(self, trainer: str, settings: Any, threads: int, seed: int) -> None:
        """Refuse to go on from checkpoints of another run, as far as can be told before the corpus is read.

        Raises:
            CheckpointError: naming what differs; or the last one is damaged.
        """
        from embeddings.training.run_fingerprint import known_before

        if self.checkpoints is not None and self.resume:
            self.checkpoints.check_run(known_before(self, trainer, settings, threads, seed))

    def check_corpus(self, corpus: "Corpus") -> None:
        """Refuse a corpus that does not go with what the run starts from, before it is read.

        Raises:
            SettingError: saying why.
        """
        if self.continued is not None:
            continued_training.check_corpus(self.continued, corpus)

    @property
    def config(self) -> dict[str, Any]:
        """What a run starts from, for checkpoints."""
        return {
            "init": None if self.init is None else self.init.named,
            "continued": None if self.continued is None else self.continued.vectors.fingerprint,
        }


def accepts_run_options(trainer: Any) -> bool:
    """Whether runs of a trainer, or of its class, can be carried out in these ways."""
    return "run_options" in inspect.signature(trainer.train).parameters


def train_arguments(trainer: Any, name: str, run_options: RunOptions | None) -> dict[str, Any]:
    """What its `train` is given.

    Raises:
        SettingError: something is asked for, and the trainer cannot do it.
    """
    if run_options is None or run_options.plain:
        return {}
    if not accepts_run_options(trainer):
        raise SettingError(
            f"the trainer {name} knows no checkpoints, callbacks or vectors to start from: its train has no 'run_options'"
        )
    return {"run_options": run_options}
