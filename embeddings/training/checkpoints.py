"""Checkpoints: the complete state of a run, written regularly, from which an interrupted run can be resumed.

When a checkpoint is due, all threads halt at the end of their blocks, the state is written, and they continue. The
state (`embeddings.training.state`) holds everything that the rest of the run depends on: a resumed single-threaded run
ends with the same bytes as an uninterrupted one. With several threads, each continues where it stopped.

A checkpoint is a folder `words-N`, where N is the number of words read, with `checkpoint.json` and
`tensors.safetensors`. It is written under a temporary name, flushed, and renamed, so a folder `words-N` is complete
even if the process is killed. The last few are retained. The record holds the fingerprint of the run (trainer,
settings, corpus, vocabulary, seed, threads, versions, starting vectors), and a checkpoint of another run is refused.
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
from embeddings.settings import check_value
from embeddings.support import tensors
from embeddings.support.files import atomic_write, check_output
from embeddings.support.foreign_files import path_below
from embeddings.support.jsonable import to_jsonable
from embeddings.support.logs import log
from embeddings.support.remote.address import display_name, is_remote
from embeddings.support.versioned_json import check_fields, read_versioned
from embeddings.training.checkpoint_interval import AUTO, Interval
from embeddings.training.progress import Progress
from embeddings.training.remote_checkpoints import RemoteCheckpoints

FORMAT_VERSION = 3
RECORD, TENSORS = "checkpoint.json", "tensors.safetensors"
NAME = "words-{:015d}"
NAME_PATTERN = "words-" + "[0-9]" * 15  # for glob; specific enough not to match other folders
PARTIAL_SUFFIX = ".partial"
MAX_VALUE_LENGTH = 100  # characters of a value in a message
MAX_COUNT = 1e15  # of words, steps, seconds, or a sum of losses, of one thread
BYTES_PER_SECOND = 5e8  # assumed for the cost of the first checkpoint


class CheckpointError(EmbeddingsError):
    """A checkpoint is damaged or belongs to another run."""


@dataclass(frozen=True)
class RunState:
    """The content of a checkpoint: `fingerprint` identifies the run, `values` and `arrays` are its state."""

    fingerprint: dict[str, Any]
    values: dict[str, Any]
    arrays: Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Checkpoints:
    """Where a run writes checkpoints, how often, and how many are retained.

    They remain after the run; delete them with `remove_all` once its model is saved.

    Arguments:
        path: a folder for checkpoints only, local or remote (s3://...); created when the first one is written.
        every: "auto", a time ("30s", "10m", "1h") or words of the corpus ("500kw", "5Mw"). "auto" writes one every
            minute, but spends at most 1 % of the time on it.
        keep: retain this many of the last checkpoints.
        force: start over even if the folder holds checkpoints of an unfinished run, which are deleted.

    Raises:
        SettingError: a value is of the wrong type or out of range.
    """

    path: str | os.PathLike[str]
    every: str = AUTO
    keep: int = 3
    force: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike) or not os.fspath(self.path):
            raise SettingError(f"checkpoints require the path of a folder, got {self.path!r:.80}")
        Interval.parse(self.every)
        check_value("keep", self.keep, int, {"ge": 1})

    @property
    def folder(self) -> Path:
        """The folder that holds them; of remote ones the local folder."""
        return Path(self.path) if self.remote is None else self.remote.folder

    @property
    def remote(self) -> RemoteCheckpoints | None:
        """The checkpoints of an object store; None for a local folder."""
        return RemoteCheckpoints(self.path, RECORD, NAME_PATTERN) if is_remote(self.path) else None

    def paths(self) -> list[Path]:
        """The folders of complete checkpoints, oldest first; of remote ones those that local copies have."""
        if self.remote is not None:
            return [path_below(self.folder, name) for name in self.remote.names()]
        return sorted(path.parent for path in self.folder.glob(f"{NAME_PATTERN}/{RECORD}"))

    def check(self, *, resume: bool) -> None:
        """Refuse a folder that is not writable or, without `resume` or `force`, already holds checkpoints."""
        if self.remote is not None:
            self.remote.check()
        elif self.folder.is_dir():
            check_output(self.folder / RECORD)
        elif self.folder.exists() or self.folder.is_symlink():
            raise OutputError(f"{self.folder} is not a folder, so no checkpoints can be written into it; move it away")
        else:
            check_output(self.folder)
        if self.paths() and not resume and not self.force:
            raise OutputError(
                f"{display_name(self.path)} holds checkpoints of an unfinished run: set resume=True to continue it, "
                "or force=True to start over"
            )

    def latest(self) -> RunState | None:
        """The last checkpoint, with read-only memory-mapped arrays; None if there is none."""
        paths = self.paths()
        try:
            if paths and self.remote is not None:
                self.remote.fetch(paths[-1].name)
            return read_state(paths[-1]) if paths else None
        except FormatError as error:
            raise unusable(self, str(error)) from None

    def check_fingerprint(self, fingerprint: Mapping[str, Any]) -> None:
        """Refuse to resume another run; `fingerprint` is all or a part of this run's."""
        state = self.latest()
        if state is not None:
            saved = {name: state.fingerprint.get(name) for name in fingerprint}
            check_same_run(self.folder, saved, fingerprint)

    def write(self, state: RunState, words: int) -> Path:
        """Write a checkpoint and remove old ones beyond `keep`; returns its folder."""
        try:
            self.folder.mkdir(exist_ok=True, parents=self.remote is not None)
        except OSError as error:
            raise OutputError(f"cannot create {self.folder}: {error.strerror or error}") from error
        target = self.folder / NAME.format(words)
        if target.exists():  # damaged, or from an earlier run
            remove(target)
        with atomic_write(target, folder=True) as folder:
            tensors.save(state.arrays, folder / TENSORS)
            content = {"format_version": FORMAT_VERSION, "fingerprint": state.fingerprint, "values": state.values}
            (folder / RECORD).write_text(json.dumps(content, ensure_ascii=False, allow_nan=False), encoding="utf-8")
        if self.remote is not None:
            self.remote.upload(target)
        for path in self.paths()[: -self.keep]:
            self.remove(path)
        return target

    def remove(self, path: Path) -> None:
        """Remove a checkpoint."""
        if self.remote is not None:
            self.remote.remove(path.name)
        remove(path)

    def remove_partial(self) -> None:
        """Remove incomplete checkpoints that killed processes left, and the folder if it is empty."""
        if self.remote is not None:
            self.remote.remove_partial()
        folders = [path for path in self.folder.glob(NAME_PATTERN) if path.is_dir() and not (path / RECORD).exists()]
        for path in [*self.folder.glob(f".{NAME_PATTERN}.*{PARTIAL_SUFFIX}"), *folders]:
            shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            self.folder.rmdir()

    def remove_all(self) -> None:
        """Remove all checkpoints, and the folder if it is empty then."""
        for path in self.paths():
            self.remove(path)
        self.remove_partial()


class CheckpointWriter:
    """Writes the checkpoints of one run when they are due."""

    def __init__(self, checkpoints: Checkpoints, words: int) -> None:
        self.checkpoints, self.interval = checkpoints, Interval.parse(checkpoints.every)
        self.words, self.time = words, perf_counter()
        self.cost: float | None = None  # seconds that the last one took

    def is_due(self, words: int, size: int) -> bool:
        """Whether to write the next one, of about `size` bytes, after this many words."""
        cost = size / BYTES_PER_SECOND if self.cost is None else self.cost
        return self.interval.is_over(perf_counter() - self.time, words - self.words, cost)

    def write(self, state: RunState, progress: Progress) -> Path | None:
        """Write one; if it cannot be written, a warning is logged and training continues."""
        started = perf_counter()
        try:
            return self.checkpoints.write(state, progress.words)
        except OutputError as error:
            log.warning("no checkpoint after %s words: %s", f"{progress.words:,}", error)
            return None
        finally:
            self.words, self.time = progress.words, perf_counter()
            self.cost = self.time - started


def remove(path: Path) -> None:
    """Remove a checkpoint, its record first, so that a crash cannot leave one that looks complete."""
    with suppress(OSError):
        if path.is_symlink():  # its target may be elsewhere
            path.unlink()
            return
        (path / RECORD).unlink(missing_ok=True)
        shutil.rmtree(path)


def unusable(checkpoints: Checkpoints, reason: str) -> CheckpointError:
    """The error for a last checkpoint that cannot be used, with advice."""
    *earlier, last = checkpoints.paths()
    advice = "; remove it to continue from the one before" if earlier else ""
    return CheckpointError(f"cannot use the last checkpoint, {last}: {reason}{advice}")


def read_state(path: Path) -> RunState:
    """The checkpoint in a folder, with read-only memory-mapped arrays."""
    state = RunState(*read_record(path), tensors.load(path / TENSORS))
    for name, array in state.arrays.items():
        is_tally = name.startswith("thread.") and name.endswith(".tally") and array.dtype.kind == "f"
        if is_tally and not (np.abs(array) <= MAX_COUNT).all():
            raise FormatError(f"{path / TENSORS} is broken: a number of {name} is not finite or out of range")
    return state


def read_record(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fingerprint and the values of the checkpoint in a folder."""
    record = path / RECORD
    content = read_versioned(record, FORMAT_VERSION)
    check_fields(record, content, {"fingerprint": dict, "values": dict})
    fingerprint, values = content["fingerprint"], content["values"]
    try:
        check_tally(values.get("tally", {}))
    except (TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"{record} is broken: its tally cannot be that of a run: {error}") from None
    return fingerprint, values


def check_tally(tally: Any) -> None:
    """Raise TypeError, ValueError or OverflowError for numbers that `Tally.state` cannot have returned."""
    if type(tally) is not dict or type(tally.get("epoch_sums", [])) is not list:
        raise TypeError("it is not a record of counts")
    losses = {f"epoch_sums[{number}]": sums for number, sums in enumerate(tally.get("epoch_sums", []))}
    losses["sums"] = tally.get("sums", [])
    counts = {name: tally.get(name, 0) for name in ("seconds", "words", "steps")}
    for name, value in {**losses, **counts}.items():
        numbers = np.array(value, np.float64)
        lowest = 0 if name in counts else -MAX_COUNT
        if not ((numbers >= lowest) & (numbers <= MAX_COUNT)).all():
            raise ValueError(f"a number of its {name} is not finite or out of range")
        if name in losses and numbers.size and numbers.shape[1:] != (2,):
            raise ValueError(f"its {name} have the shape {numbers.shape}")


def check_same_run(folder: Path, saved: Mapping[str, Any], fingerprint: Mapping[str, Any]) -> None:
    """Refuse the checkpoint of another run."""
    changes = list(differences(saved, to_jsonable(fingerprint)))
    if changes:
        raise CheckpointError(f"cannot resume from {folder}, which belongs to another run: {'; '.join(changes)}")


def differences(saved: Any, current: Any, name: str = "") -> Iterator[str]:
    """What differs between two fingerprints, by name."""
    if isinstance(saved, dict) and isinstance(current, dict):
        for key in dict.fromkeys([*saved, *current]):
            yield from differences(saved.get(key), current.get(key), key)
    elif isinstance(saved, list) and isinstance(current, list) and len(saved) == len(current):
        for one, other in zip(saved, current, strict=True):
            yield from differences(one, other, name)
    elif saved != current:
        yield f"{name} was {shorten(saved)}, but is {shorten(current)} now"


def shorten(value: Any) -> str:
    """A value as text; only the end of a long one, where paths differ."""
    text = str(value)
    return text if len(text) <= MAX_VALUE_LENGTH else f"…{text[1 - MAX_VALUE_LENGTH :]}"
