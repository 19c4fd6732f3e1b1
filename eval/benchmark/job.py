"""A model configuration to benchmark, and one training job of it for a tool."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Self

from embeddings.errors import SettingError

NEGATIVE_SAMPLING = "negative-sampling"


@dataclass(frozen=True)
class ModelConfig:
    """A model: the name of our trainer, all of its settings, and the number of threads."""

    trainer: str
    settings: dict[str, Any]
    threads: int

    @property
    def min_learning_rate(self) -> float:
        """The learning rate at the end, as in `embeddings.settings.Schedule`."""
        rate = self.settings.get("min_learning_rate")
        return float(self.settings["learning_rate"] / 10_000 if rate is None else rate)

    @property
    def has_documents(self) -> bool:
        """Whether it is a document model."""
        return "documents" in self.settings

    @property
    def objective(self) -> str:
        """How words are predicted."""
        return str(self.settings.get("objective", NEGATIVE_SAMPLING))

    @property
    def model(self) -> str:
        """The trainer, how a document model combines documents with words, and an objective other than the usual."""
        combine = self.settings.get("combine") if self.has_documents else None
        objective = None if self.objective == NEGATIVE_SAMPLING else self.objective
        return "-".join(part for part in (self.trainer, combine, objective) if part is not None)

    @property
    def file_name(self) -> str:
        """The configuration in the name of a file."""
        return f"{self.model}-dim{self.settings['dim']}-negatives{self.settings['negatives']}-threads{self.threads}"

    @property
    def label(self) -> str:
        """The configuration in progress messages."""
        return f"{self.model} dim {self.settings['dim']} negatives {self.settings['negatives']}"


@dataclass(frozen=True)
class Job:
    """One run of a configuration: from `text` (words between spaces; of document models a document per line) to `out`.

    The output is a word2vec binary file; of document models it may also be the folder of a saved model, and vectors are
    named by document number, from 0 on.
    """

    config: ModelConfig
    seed: int
    text: str
    out: str

    def to_json(self) -> str:
        """The job as one argument of a command."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The job that `to_json` wrote."""
        fields = json.loads(text)
        return cls(**{**fields, "config": ModelConfig(**fields["config"])})


def model_configs(
    trainers: Sequence[str],
    *,
    dim: Sequence[int],
    negatives: Sequence[int],
    threads: Sequence[int] = (),
    **common: Any,
) -> list[ModelConfig]:
    """A configuration for every combination, with all settings of its trainer; by default `threads` is all cores.

    A trainer is a name, optionally with settings, as in "paragraph-dm:combine=concat,learning_rate=0.025".
    """
    from embeddings import registry
    from embeddings.indexes.index_spec import parse_spec
    from embeddings.support.system import available_threads

    configs: list[ModelConfig] = []
    for trainer, size, noise, cores in product(trainers, dim, negatives, threads or [available_threads()]):
        name, own = parse_spec(trainer, group="trainer")
        settings = asdict(registry.create("trainer", name, {"dim": size, "negatives": noise, **common, **own}))
        config = ModelConfig(name, settings, cores)
        if config not in configs:
            configs.append(config)
    if len({config.has_documents for config in configs}) > 1:
        raise SettingError("benchmark document models and word models separately: they are trained on different lines")
    return configs
