"""A model configuration to benchmark, and one training job of it for a tool."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any, Self

from embeddings.errors import SettingError
from embeddings.learning_rates import DEFAULT_RATIOS, LINEAR
from embeddings.settings import field_types

NEGATIVE_SAMPLING = "negative-sampling"
UNSAFE = re.compile(r"[:=,/]+")  # in names of files


@dataclass(frozen=True)
class ModelConfig:
    """A model: the name of our trainer, all of its settings, and the number of threads.

    `given` are the settings that were given with the name of the trainer, by which configurations differ.
    """

    trainer: str
    settings: dict[str, Any]
    threads: int
    given: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def min_learning_rate(self) -> float:
        """The learning rate at the end, as in `embeddings.settings.Schedule`."""
        rate = self.settings.get("min_learning_rate")
        default = self.settings["learning_rate"] / DEFAULT_RATIOS[self.settings.get("schedule", LINEAR)]
        return float(default if rate is None else rate)

    @property
    def has_documents(self) -> bool:
        """Whether it is a document model."""
        return "documents" in self.settings

    @property
    def objective(self) -> str:
        """How words are predicted."""
        return str(self.settings.get("objective", NEGATIVE_SAMPLING))

    @property
    def model_id(self) -> str:
        """The trainer, how a document model combines documents with words, and any other objective."""
        combine = self.settings.get("combine") if self.has_documents else None
        objective = None if self.objective == NEGATIVE_SAMPLING else self.objective
        return "-".join(part for part in (self.trainer, combine, objective) if part is not None)

    @property
    def distinction(self) -> dict[str, Any]:
        """The settings by which configurations of a model differ."""
        names = [name for name in ("dim", "negatives") if name in self.settings]
        common: dict[str, Any] = {name: self.settings[name] for name in names}
        given = {name: value for name, value in self.given.items() if name not in ("combine", "objective", *common)}
        return {**given, **common, "threads": self.threads}

    @property
    def file_name(self) -> str:
        """The configuration in the name of a file."""
        parts = (f"{name}{value}" for name, value in self.distinction.items())
        return UNSAFE.sub("-", "-".join([self.model_id, *parts]))

    @property
    def label(self) -> str:
        """The configuration in progress messages."""
        return " ".join([self.model_id, *(f"{name} {value}" for name, value in self.distinction.items())])


@dataclass(frozen=True)
class Job:
    """One run of a configuration, which reads the file `text_path` and writes `out_path`.

    The text has words separated by spaces, for document models one document per line. The output is a word2vec binary
    file; of document models it may also be the folder of a saved model, and vectors are named by document number, from
    0 on.
    """

    config: ModelConfig
    seed: int
    text_path: str
    out_path: str

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

    A trainer is a name, optionally with settings, as in "paragraph-dm:combine=concat,learning_rate=0.025". Common
    settings that it does not have are left out.
    """
    from embeddings import registry
    from embeddings.indexes.index_spec import parse_spec
    from embeddings.support.system import available_threads

    configs: list[ModelConfig] = []
    for trainer, *values, n_threads in product(trainers, dim, negatives, threads or [available_threads()]):
        name, given = parse_spec(trainer, group="trainer")
        known = field_types(registry.load("trainer", name))
        shared = dict(zip(("dim", "negatives"), values, strict=True)) | common
        settings = {key: value for key, value in shared.items() if key in known} | given
        config = ModelConfig(name, asdict(registry.create("trainer", name, settings)), n_threads, given)
        if config not in configs:
            configs.append(config)
    if len({config.has_documents for config in configs}) > 1:
        raise SettingError(
            "benchmark document models and word models separately: they read the corpus with different line boundaries"
        )
    return configs
