"""A group of models: a folder with a model for each random seed, all trained with the same settings and text."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from pathlib import Path
from typing import Any

from embeddings.errors import S, SettingError
from embeddings.models.model import Model
from embeddings.models.model_files import GROUP_JSON
from embeddings.support.files import atomic_write
from embeddings.support.foreign_files import format_errors
from embeddings.support.records import check_fields, read_versioned, write_json

FORMAT_VERSION = 1
FIELDS = {"run": dict, "seeds": list, "finished": list}


@dataclass(frozen=True)
class ModelGroup:
    """A folder of models that differ in their random seed: the record `group.json`, and a model `seed-N` for each run.

    Arguments:
        folder: the folder.
        run: what the runs have in common: trainer, settings, corpus, threads, versions.
        seeds: of all runs.
        finished: those of the runs whose models are saved.
    """

    folder: Path
    run: Mapping[str, Any]
    seeds: Sequence[int]
    finished: list[int] = field(default_factory=list)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> "ModelGroup":
        """Read the record of a group.

        Raises:
            FormatError: it is missing or broken.
        """
        path = Path(folder) / GROUP_JSON
        content = read_versioned(path, FORMAT_VERSION)
        check_fields(path, content, FIELDS)
        with format_errors(path):  # a seed that is a text could lead out of the folder
            seeds, finished = (list(map(index, content[name])) for name in ("seeds", "finished"))
        return cls(Path(folder), content["run"], seeds, finished)

    @property
    def missing(self) -> list[int]:
        """The seeds of the runs that are not finished."""
        return [seed for seed in self.seeds if seed not in self.finished]

    @property
    def paths(self) -> list[Path]:
        """The folders of the finished models.

        Raises:
            SettingError: there are none.
        """
        if not self.finished:
            raise SettingError(f"no run of the group {self.folder} is finished: continue it with {S.resume(True)}")
        return [self.path(seed) for seed in sorted(self.finished)]

    @property
    def models(self) -> list[Model]:
        """The finished models, whose tables are memory-mapped."""
        return [Model.load(path) for path in self.paths]

    def path(self, seed: int) -> Path:
        """The folder of the model of a seed."""
        return self.folder / f"seed-{seed}"

    def train_missing(self) -> Iterator[tuple[int, Path]]:
        """The seed and the folder of each missing run; the caller saves its model before it asks for the next one."""
        for seed in self.missing:
            yield seed, self.path(seed)
            self.finished.append(seed)
            self.write()

    def write(self) -> None:
        """Write the record, atomically."""
        with atomic_write(self.folder / GROUP_JSON, force=True) as path:
            write_json(path, {"format_version": FORMAT_VERSION, **{name: getattr(self, name) for name in FIELDS}})


def is_group(path: str | os.PathLike[str]) -> bool:
    """Whether a path is the folder of a group."""
    return os.path.isfile(Path(path) / GROUP_JSON)
