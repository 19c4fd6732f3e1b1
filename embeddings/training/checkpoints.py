"""Checkpoints: all that a run consists of, written now and then, so that whoever is stopped goes on from there.

A run that is asked for checkpoints halts its threads at the end of their blocks when one is due, writes it, and
lets them go on from where they were. What is written (`embeddings.training.state`) is all that decides what comes next,
so that with one thread a run that goes on from it ends with the same bytes as one that was never stopped. With more
threads it goes on from where each of them was.

A checkpoint is a folder `words-N` by the words read so far, of `checkpoint.json` and `tensors.safetensors`. It is
written beside its place, flushed, and renamed: a process killed at any moment leaves whole ones alone. The last few
are kept. The record names the run (trainer, settings, corpus, vocabulary, seed, threads, versions, what it started
from): a checkpoint of another one is refused.

With the interval `auto` there is one every minute, or so rarely that writing takes less than 1 % of the time.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from embeddings.errors import EmbeddingsError, FormatError, OutputError, SettingError
from embeddings.support import tensors
from embeddings.support.files import check_output, atomic_write
from embeddings.support.jsonable import to_jsonable
from embeddings.support.logs import log
from embeddings.training.checkpoint_interval import AUTO, Interval
from embeddings.training.progress import Progress

FORMAT_VERSION = 1
RECORD, TENSORS = "checkpoint.json", "tensors.safetensors"
NAME = "words-{:015d}"
NAMED = "words-" + "[0-9]" * 15  # a pattern of these names: no folder of somebody else has one
KEPT = 3
PARTIAL = ".partial"
LONGEST_SHOWN = 100  # characters of a value in a message
PACE = 5e8  # bytes a second: what a first checkpoint is taken to cost


class CheckpointError(EmbeddingsError):
    """A checkpoint is damaged, or that of another run."""


@dataclass(frozen=True)
class State:
    """What a checkpoint holds: `run` names the run, `facts` and `arrays` say how far it is."""

    run: dict[str, Any]
    facts: dict[str, Any]
    arrays: Mapping[str, np.ndarray]

    @property
    def bytes(self) -> int:
        """How large it is."""
        return sum(array.nbytes for array in self.arrays.values())


@dataclass(frozen=True)
class Checkpoints:
    """Where a run keeps its checkpoints, how often it writes one, and how many are kept.

    They outlive the run, whose model is yet to be saved: `sweep(everything=True)` removes them then.

    Arguments:
        path: a folder of their own, made when the first is written.
        every: "auto", a time ("30s", "10m", "1h") or words of the corpus ("500kw", "5Mw"); see `interval`.
        keep: so many, the last ones.
        force: begin anew although the folder holds checkpoints of a run that did not end.

    Raises:
        SettingError: `path` is none, `every` says no interval, or `keep` is below 1.
    """

    path: str | os.PathLike[str]
    every: str = AUTO
    keep: int = KEPT
    force: bool = False

    def __post_init__(self) -> None:
        from embeddings.settings import check_value

        if not isinstance(self.path, str | os.PathLike) or not os.fspath(self.path):
            raise SettingError(f"checkpoints must have the path of a folder, not {self.path!r:.80}")
        Interval.parse(self.every)
        check_value("keep", self.keep, int, {"least": 1})

    @property
    def folder(self) -> Path:
        """Where they are."""
        return Path(self.path)

    def paths(self) -> list[Path]:
        """The whole ones, oldest first."""
        return sorted(path.parent for path in self.folder.glob(f"{NAMED}/{RECORD}"))

    def check(self, *, resume: bool) -> None:
        """Refuse a folder that cannot be written, or, where a run begins anew, one that another left.

        Raises:
            OutputError: saying what to do.
        """
        if self.folder.is_dir():
            check_output(self.folder / RECORD)
        elif self.folder.exists() or self.folder.is_symlink():
            raise OutputError(f"{self.folder} is no folder, and checkpoints are written into one: move it away")
        else:
            check_output(self.folder)
        if self.paths() and not resume and not self.force:
            raise OutputError(
                f"{self.folder} holds checkpoints of a run that did not end: --resume goes on from there, "
                "--force begins anew"
            )

    def latest(self) -> State | None:
        """The last one; None if there is none yet. Its arrays are mapped, read-only.

        Raises:
            CheckpointError: it is damaged.
        """
        found = self.paths()
        if not found:
            return None
        try:
            return read(found[-1])
        except FormatError as error:
            raise useless(self, str(error)) from None

    def check_run(self, here: Mapping[str, Any]) -> None:
        """Refuse to go on from the last one, if there is one, with another run, as far as what names that is known.

        Raises:
            CheckpointError: it is of another run, or damaged.
        """
        found = self.paths()
        if not found:
            return
        try:
            there = read_record(found[-1])[0]
        except FormatError as error:
            raise useless(self, str(error)) from None
        check_same(self.folder, {name: there.get(name) for name in here}, here)

    def write(self, state: State, words: int) -> Path:
        """Write one; gives its folder. Older ones beyond those to be kept are removed.

        Raises:
            OutputError: it cannot be written.
        """
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(f"{self.folder} cannot be made: {error.strerror or error}") from error
        target = self.folder / NAME.format(words)
        if target.exists():  # what is damaged, or of a run begun anew
            self.forget(target)
        with atomic_write(target, folder=True) as fresh:
            tensors.save(state.arrays, fresh / TENSORS)
            content = {"format_version": FORMAT_VERSION, "run": state.run, "facts": state.facts}
            (fresh / RECORD).write_text(json.dumps(content, ensure_ascii=False, allow_nan=False), encoding="utf-8")
        for old in self.paths()[: -self.keep]:
            self.forget(old)
        return target

    def forget(self, path: Path) -> None:
        """Remove one: its record first, so that what is left after a crash is none."""
        with suppress(OSError):
            (path / RECORD).unlink(missing_ok=True)
            shutil.rmtree(path)

    def sweep(self, *, everything: bool = False) -> None:
        """Remove what killed processes left half written, or all there is."""
        for path in list(self.folder.glob(f".{NAMED}.*{PARTIAL}")) + self.scraps():
            shutil.rmtree(path, ignore_errors=True)
        for path in self.paths() if everything else []:
            self.forget(path)
        with suppress(OSError):
            self.folder.rmdir()  # if it is empty

    def scraps(self) -> list[Path]:
        """Folders that were being removed."""
        return [path for path in self.folder.glob(NAMED) if path.is_dir() and not (path / RECORD).exists()]


def useless(checkpoints: Checkpoints, reason: str) -> CheckpointError:
    """What is raised, with advice, where the last checkpoint cannot be used."""
    *before, last = checkpoints.paths()
    advice = "; remove it to go on from the one before" if before else ""
    return CheckpointError(f"the last checkpoint, {last}, cannot be used: {reason}{advice}")


class Keeper:
    """Writes the checkpoints of one run when they are due."""

    def __init__(self, checkpoints: Checkpoints, words: int) -> None:
        self.checkpoints, self.interval = checkpoints, Interval.parse(checkpoints.every)
        self.words, self.time = words, perf_counter()
        self.cost: float | None = None

    def due(self, words: int, size: int) -> bool:
        """Whether the next one, of so many bytes, is to be written after so many words."""
        cost = size / PACE if self.cost is None else self.cost
        return self.interval.over(perf_counter() - self.time, words - self.words, cost)

    def write(self, state: State, progress: Progress) -> Path | None:
        """Write one; where that fails it is told, and the run goes on."""
        begun = perf_counter()
        try:
            return self.checkpoints.write(state, progress.words)
        except OutputError as error:
            log.warning("no checkpoint after %s words: %s", f"{progress.words:,}", error)
            return None
        finally:
            self.words, self.time = progress.words, perf_counter()
            self.cost = self.time - begun


def read(path: Path) -> State:
    """The checkpoint in a folder, its arrays mapped.

    Raises:
        FormatError: it is damaged, or of a version that is not known here.
    """
    return State(*read_record(path), tensors.load(path / TENSORS))


def read_record(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What names the run of the checkpoint in a folder, and how far it is.

    Raises:
        FormatError: as `read`.
    """
    record = path / RECORD
    try:
        content = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(f"{record} is broken: {error}") from None
    if not isinstance(content, dict) or content.get("format_version") != FORMAT_VERSION:
        version = content.get("format_version") if isinstance(content, dict) else None
        raise FormatError(f"{record} is of format version {version!r}; this package reads {FORMAT_VERSION}")
    if not isinstance(content.get("run"), dict) or not isinstance(content.get("facts"), dict):
        raise FormatError(f"{record} is broken: it does not say of which run it is, or how far")
    return content["run"], content["facts"]


def check_same(path: Path, there: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Refuse the checkpoint of another run.

    Raises:
        CheckpointError: naming all that differs, in one line.
    """
    different = list(differences(there, to_jsonable(here)))
    if different:
        raise CheckpointError(f"{path} is of another run and cannot be gone on with: {'; '.join(different)}")


def differences(there: Any, here: Any, name: str = "") -> Iterator[str]:
    """What differs between two records, by name."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in dict.fromkeys([*there, *here]):
            yield from differences(there.get(key), here.get(key), key)
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        for one, other in zip(there, here, strict=True):
            yield from differences(one, other, name)
    elif there != here:
        yield f"{name} was {ending(there)}, and is {ending(here)}"


def ending(value: Any) -> str:
    """A value as text, of a long one its end, in which paths differ."""
    text = str(value)
    return text if len(text) <= LONGEST_SHOWN else f"…{text[1 - LONGEST_SHOWN :]}"
