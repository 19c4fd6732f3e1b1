"""What is run: a shape (a model with its settings), and one job of it for one tool."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Self


@dataclass(frozen=True)
class Shape:
    """A model by its trainer's name here, all of its trainer's settings, and how many threads learn."""

    trainer: str
    settings: dict[str, Any]
    threads: int

    @property
    def floor(self) -> float:
        """The learning rate at the end, as `embeddings.settings.Schedule` has it."""
        least = self.settings.get("min_rate")
        return float(self.settings["rate"] / 10_000 if least is None else least)

    @property
    def name(self) -> str:
        """The shape in the name of a file."""
        return f"{self.trainer}-dim{self.settings['dim']}-negatives{self.settings['negatives']}-threads{self.threads}"

    @property
    def label(self) -> str:
        """The shape in a few words, for progress."""
        return f"{self.trainer} dim {self.settings['dim']} negatives {self.settings['negatives']}"


@dataclass(frozen=True)
class Job:
    """One run of a shape: from the file `text` (words between spaces) to word2vec binary vectors at `out`."""

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

    Raises:
        RegistryError: no such trainer.
        SettingError: a trainer has no such setting, or a value is out of range.
    """
    from embeddings.cores import available_threads
    from embeddings.training.run import make

    found = []
    for name, length, noise, cores in product(trainers, dim, negatives, threads or [available_threads()]):
        settings = asdict(make(name, {"dim": length, "negatives": noise, **common}))
        shape = Shape(name, settings, cores)
        if shape not in found:
            found.append(shape)
    return found
