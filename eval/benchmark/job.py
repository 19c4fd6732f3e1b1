"""What is run: a shape (a model with its settings), and one job of it for one tool."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Self

from embeddings.errors import SettingError


@dataclass(frozen=True)
class Shape:
    """A model by its trainer's name here, all of its trainer's settings, and how many threads learn."""

    trainer: str
    settings: dict[str, Any]
    threads: int

    @property
    def floor(self) -> float:
        """The learning rate at the end, as `embeddings.settings.Schedule` has it."""
        least = self.settings.get("min_learning_rate")
        return float(self.settings["learning_rate"] / 10_000 if least is None else least)

    @property
    def documents(self) -> bool:
        """Whether it is a model of documents."""
        return "documents" in self.settings

    @property
    def model(self) -> str:
        """The trainer, and of a model of documents how it combines them with words."""
        combine = self.settings.get("combine") if self.documents else None
        return self.trainer if combine is None else f"{self.trainer}-{combine}"

    @property
    def name(self) -> str:
        """The shape in the name of a file."""
        return f"{self.model}-dim{self.settings['dim']}-negatives{self.settings['negatives']}-threads{self.threads}"

    @property
    def label(self) -> str:
        """The shape in a few words, for progress."""
        return f"{self.model} dim {self.settings['dim']} negatives {self.settings['negatives']}"


@dataclass(frozen=True)
class Job:
    """One run of a shape: from the file `text` (words between spaces, of documents one a line) to vectors at `out`.

    These are a word2vec binary file; of documents also a saved model's folder, and named by their numbers from 0 on.
    """

    shape: Shape
    seed: int
    text: str
    out: str

    def to_json(self) -> str:
        """The job as one argument of a command."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The job that `to_json` wrote."""
        found = json.loads(text)
        return cls(**{**found, "shape": Shape(**found["shape"])})


def shapes(
    trainers: Sequence[str],
    *,
    dim: Sequence[int],
    negatives: Sequence[int],
    threads: Sequence[int] = (),
    **common: Any,
) -> list[Shape]:
    """A shape for every combination, with all other settings of its trainer; `threads` are all cores if none is given.

    A trainer is a name, or a name with settings of its own, as in "paragraph-dm:combine=concat,learning_rate=0.025".

    Raises:
        RegistryError: no such trainer.
        SettingError: a trainer has no such setting, or a value is out of range; or some learn documents, others not.
    """
    from embeddings.indexes.index_spec import parse_spec
    from embeddings.support.system import available_threads
    from embeddings.training.train import make_trainer

    found: list[Shape] = []
    for trainer, length, noise, cores in product(trainers, dim, negatives, threads or [available_threads()]):
        name, own = parse_spec(trainer, group="trainer")
        settings = asdict(make_trainer(name, {"dim": length, "negatives": noise, **common, **own}))
        shape = Shape(name, settings, cores)
        if shape not in found:
            found.append(shape)
    if len({shape.documents for shape in found}) > 1:
        raise SettingError("models of documents and models of words alone are compared apart: they read other lines")
    return found
