"""A command-line program that takes part in a benchmark, described by a TOML file."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from embeddings.errors import FormatError, SettingError
from embeddings.eval.benchmark.job import NEGATIVE_SAMPLING, Job
from embeddings.support.toml_file import read_toml

REQUIRED = ("name", "command", "trainers")
TYPES: dict[str, type] = {
    "name": str, "command": list, "trainers": list, "vectors": str, "version": str, "objectives": list,
    "values": dict, "notes": list, "can_skip_training": bool,
}  # fmt: skip
EXPECTED = {str: "text", list: "a list of texts", dict: "a table of tables", bool: "true or false"}


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program, called by `command`, in which names in braces such as {dim} and {text} are replaced.

    Attributes:
        path: the description, for messages.
        name: what the results call it.
        command: the program and its arguments.
        trainers: our names of the models that it has.
        vectors: where it saves vectors, in any installed format.
        objectives: our names of the objectives that it has.
        values: further names to replace, by trainer or objective.
        version: its version, which it cannot be asked for.
        can_skip_training: whether it can run with zero epochs; what this takes less than a whole run is training.
        notes: what a reader of the results must know.
    """

    path: Path
    name: str
    command: Sequence[str]
    trainers: Sequence[str]
    vectors: str = "{out}"
    objectives: Sequence[str] = (NEGATIVE_SAMPLING,)
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    version: str = ""
    can_skip_training: bool = False
    notes: Sequence[str] = ()

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a description.

        Raises:
            FormatError: it cannot be read, or has an unknown, missing or mistyped key.
        """
        content = read_toml(path, "description of a program")
        for key in content:
            if key not in TYPES:
                raise FormatError(f"{path}: unknown key {key!r:.80}; known keys: {', '.join(sorted(TYPES))}")
        for key in REQUIRED:
            if not content.get(key):
                raise FormatError(f"{path}: {key} is missing or empty")
        for key, value in content.items():
            if not has_type(value, TYPES[key]):
                raise FormatError(f"{path}: {key} must be {EXPECTED[TYPES[key]]}, got {value!r:.80}")
        if set(content["name"]) & set('/\\:,="'):
            raise FormatError(f"{path}: name must be part of a file name, without / \\ : , = and quotes")
        return cls(path=Path(path), **content)

    @property
    def executable(self) -> str | None:
        """The path of the program; relative to the description if it is not looked up. None if it is not found."""
        name = self.command[0]
        return shutil.which(str(self.path.parent / name) if os.path.dirname(name) else name)

    def call(self, job: Job) -> list[str]:
        """The command from the text of a job to saved vectors.

        Raises:
            SettingError: a name in braces has no value.
        """
        values = self.values_of(job)
        return [self.executable or self.command[0], *(self.fill(argument, values) for argument in self.command[1:])]

    def call_without_training(self, job: Job) -> list[str] | None:
        """The same with zero epochs; None if the program cannot do that."""
        untrained = replace(job.config, settings={**job.config.settings, "epochs": 0})
        return self.call(replace(job, config=untrained)) if self.can_skip_training else None

    def saved_vectors(self, job: Job) -> Path:
        """Where the program saves the vectors of a job."""
        return Path(self.fill(self.vectors, self.values_of(job)))

    def convert(self, job: Job, words: Sequence[str] = ()) -> None:
        """Save the vectors of the program where a job expects them.

        Arguments:
            words: in decreasing frequency, for programs that save them in another order; other words follow.
        """
        from embeddings.models.loading import load

        saved = self.saved_vectors(job)
        vectors = load(saved, errors="replace")
        vectors = vectors.subset([*(word for word in words if word in vectors), *vectors.words])  # each word once
        vectors.save(job.out, "word2vec-binary", force=True)
        if saved != Path(job.out):
            saved.unlink()

    def values_of(self, job: Job) -> dict[str, str]:
        """What the names in braces stand for."""
        config = job.config
        settings = {
            **config.settings,
            "threads": config.threads,
            "min_learning_rate": config.min_learning_rate,
            **self.values.get(config.trainer, {}),
            **self.values.get(config.objective, {}),
            **{
                "trainer": config.trainer,
                "seed": job.seed,
                "text": job.text,
                "out": job.out,
                "stem": str(Path(job.out).with_suffix("")),
            },
        }
        known = {name: value for name, value in settings.items() if value is not None}
        return {name: str(int(value) if isinstance(value, bool) else value) for name, value in known.items()}

    def fill(self, argument: str, values: Mapping[str, str]) -> str:
        """An argument with every name in braces replaced."""
        try:
            return argument.format_map(values)
        except KeyError as error:
            known = ", ".join(sorted(values))
            raise SettingError(f"{self.path}: {{{error.args[0]}}} has no value; these have: {known}") from None
        except (ValueError, IndexError, AttributeError) as error:
            raise SettingError(f"{self.path}: {argument!r:.80}: {error}; write {{{{ for a brace") from None


def has_type(value: Any, expected: type) -> bool:
    """Whether a value of a description has its type, and what is in it has."""
    if expected is list:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if expected is dict:
        return isinstance(value, dict) and all(isinstance(one, dict) for one in value.values())
    return isinstance(value, expected)
