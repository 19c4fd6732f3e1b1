"""Checkpoints: the complete state of a run, written regularly, from which an interrupted run can be resumed.

When a checkpoint is due, all threads halt at the end of their blocks, the state is written, and they continue. The
state (`embeddings.training.run`) holds everything that the rest of the run depends on: a resumed single-threaded run
ends with the same bytes as an uninterrupted one. With several threads, each continues where it stopped.

A checkpoint is a folder `words-N`, where N is the number of words read, with `checkpoint.json` and
`tensors.safetensors`. It is written under a temporary name, flushed, and renamed, so a folder `words-N` is complete
even if the process is killed. The last few are retained. The record holds the fingerprint of the run (trainer,
settings, corpus, vocabulary, seed, threads, versions, starting vectors), and a checkpoint of another run is refused.

`auto`, or a number with a unit and no space: seconds, minutes or hours (`30s`, `10m`, `1.5h`), or words of the corpus
(`500000w`, `500kw`, `5Mw`, `1Gw`). A number without a unit is refused as ambiguous.
"""

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from time import perf_counter
from typing import Any
from zlib import crc32

import numpy as np

from embeddings.errors import EmbeddingsError, FormatError, OutputError, RemoteError, S, SettingError, marked
from embeddings.models.model_files import RUN_DEFAULTS, remaining_settings
from embeddings.settings import check_value
from embeddings.support import tensors
from embeddings.support.cache_folder import cache_folder, temporary_root
from embeddings.support.files import atomic_write, check_output
from embeddings.support.foreign_files import path_below
from embeddings.support.logs import log
from embeddings.support.records import check_fields, read_versioned, to_jsonable
from embeddings.support.remote.address import Address, StrPath, display_name, is_remote, parse_address
from embeddings.support.remote.requests import attempt
from embeddings.training.progress import Progress
from embeddings.training.run_log import is_finite_number

FORMAT_VERSION = 3
RECORD, TENSORS = "checkpoint.json", "tensors.safetensors"
NAME = "words-{:015d}"
NAME_PATTERN = "words-" + "[0-9]" * 15  # for glob; specific enough not to match other folders
PARTIAL_SUFFIX = ".partial"
MAX_VALUE_LENGTH = 100  # characters of a value in a message
BYTES_PER_SECOND = 5e8  # assumed for the cost of the first checkpoint
AUTO = "auto"
SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
WORDS = {"w": 1.0, "kw": 1e3, "Mw": 1e6, "Gw": 1e9}
PATTERN = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)([a-zA-Z]+)", re.ASCII)


@dataclass(frozen=True)
class Interval:
    """Minimum seconds or words between two checkpoints (the other is 0); `share` limits the time spent writing."""

    seconds: float = 0.0
    words: float = 0.0
    share: float = 1.0

    @classmethod
    def parse(cls, text: str) -> "Interval":
        """Parse an interval."""
        if text == AUTO:
            return cls(seconds=60.0, share=0.01)
        match = PATTERN.fullmatch(text) if isinstance(text, str) else None
        number, unit = (float(match[1]), match[2]) if match else (0.0, "")
        if not number or unit not in SECONDS | WORDS:
            interval_forms = "auto, a time such as 30s, 10m or 1h, or words such as 500000w, 500kw or 5Mw"
            raise SettingError(f"the checkpoint interval must be {interval_forms}, got {text!r}")
        return cls(number * SECONDS.get(unit, 0.0), number * WORDS.get(unit, 0.0))

    def is_over(self, seconds: float, words: int, cost: float) -> bool:
        """Whether the next checkpoint is due, `seconds` and `words` after one that took `cost` seconds to write."""
        return seconds >= max(self.seconds, cost / self.share if self.share < 1 else 0.0) and words >= self.words


@cache
def local_folder(address: Address) -> Path:
    """Return the local folder of checkpoints that are written to an address."""
    # Cached: every call must return the same temporary folder.
    parent = cache_folder("checkpoints") or Path(tempfile.mkdtemp(prefix="embeddings-", dir=temporary_root()))
    return parent / hashlib.sha256(str(address).encode()).hexdigest()[:24]


class RemoteCheckpoints:
    """The checkpoints below an address; a checkpoint is complete if its record is there.

    Files that are not of checkpoints are neither read nor removed.
    """

    def __init__(self, path: StrPath) -> None:
        self.address = parse_address(path)

    def files(self) -> list[Address]:
        """All files of checkpoints, complete or not."""
        from embeddings.support.remote.store import files_below

        return files_below(self.address, lambda parts: len(parts) > 1 and fnmatchcase(parts[0], NAME_PATTERN))

    def names(self) -> list[str]:
        """The complete checkpoints, oldest first."""
        parts = [file.relative_to(self.address).split("/") for file in self.files()]
        return sorted(one[0] for one in parts if one[1:] == [RECORD])

    def fetch(self, name: str) -> Path:
        """Copy a checkpoint to the local folder."""
        from embeddings.support.remote.copies import local_copy

        target = path_below(local_folder(self.address), name)
        source = local_copy(str(self.address.child(name)))
        # A copy of an earlier run may have the same name, with other files.
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
        return target

    def upload(self, folder: Path) -> None:
        """Write a checkpoint of the local folder to the store."""
        from embeddings.support.remote.writing import upload_folder

        upload_folder(folder, self.address.child(folder.name), force=True)

    def remove(self, name: str) -> None:
        """Remove a checkpoint, its record first."""
        prefix = self.address.child(name).path + "/"
        self.remove_files([file for file in self.files() if file.path.startswith(prefix)])

    def remove_partial(self) -> None:
        """Remove files of incomplete checkpoints."""
        complete = tuple(self.address.child(name).path + "/" for name in self.names())
        self.remove_files([file for file in self.files() if not file.path.startswith(complete)])

    def remove_files(self, files: list[Address]) -> None:
        """Remove files, records first; what cannot be removed stays."""
        from embeddings.support.remote.store import arrow_store

        # A store removes files one by one: without its record, what a crash leaves is not taken for a checkpoint.
        for file in sorted(files, key=lambda file: file.name != RECORD):
            with suppress(EmbeddingsError):
                attempt(file, partial(arrow_store(file).writer.delete_file, file.store_path), writes=True)


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
        return Path(self.path) if self.remote is None else local_folder(self.remote.address)

    @property
    def remote(self) -> RemoteCheckpoints | None:
        """The checkpoints of an object store; None for a local folder."""
        return RemoteCheckpoints(self.path) if is_remote(self.path) else None

    def paths(self) -> list[Path]:
        """The folders of complete checkpoints, oldest first; for remote checkpoints, the folders of local copies."""
        if self.remote is not None:
            return [path_below(self.folder, name) for name in self.remote.names()]
        return sorted(path.parent for path in self.folder.glob(f"{NAME_PATTERN}/{RECORD}"))

    def check(self, *, resume: bool) -> None:
        """Refuse a folder that is not writable or, without `resume` or `force`, already holds checkpoints."""
        if self.remote is not None:
            from embeddings.support.remote.writing import check_remote_output

            check_remote_output(str(self.remote.address), force=True)
        elif self.folder.is_dir():
            check_output(self.folder / RECORD)
        elif self.folder.exists() or self.folder.is_symlink():
            raise OutputError(f"{self.folder} is not a folder, so no checkpoints can be written into it; move it away")
        else:
            check_output(self.folder)
        if self.paths() and not resume and not self.force:
            raise OutputError(
                f"{display_name(self.path)} holds checkpoints of an unfinished run: set {S.resume(True)} to continue "
                f"it, or {S.force(True)} to start over"
            )

    def latest(self) -> RunState | None:
        """The last checkpoint, with read-only memory-mapped arrays; None if there is none."""
        paths = self.paths()
        try:
            if paths and self.remote is not None:
                self.remote.fetch(paths[-1].name)
            return read_state(paths[-1]) if paths else None
        except (FormatError, RemoteError) as error:
            raise unusable(self, marked(error)) from None

    def write(self, state: RunState, words: int) -> Path:
        """Write a checkpoint and remove old ones beyond `keep`; returns its folder."""
        try:
            self.folder.mkdir(exist_ok=True, parents=self.remote is not None)
        except OSError as error:
            raise OutputError(f"cannot create {self.folder}: {error.strerror or error}") from error
        target = self.folder / NAME.format(words)
        if target.exists():  # damaged, or from an earlier run
            remove(target)
        # A folder gets its name only when both files are complete.
        with atomic_write(target, folder=True) as folder:
            tensors.save(state.arrays, folder / TENSORS)
            content = {"format_version": FORMAT_VERSION, "fingerprint": state.fingerprint, "values": state.values}
            (folder / RECORD).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        if self.remote is not None:
            self.remote.upload(target)
        # Only after the new one is complete, so that a crash in between leaves an older one.
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
        """Whether the next checkpoint, of about `size` bytes, is due; all threads then halt until it is written."""
        cost = size / BYTES_PER_SECOND if self.cost is None else self.cost
        return self.interval.is_over(perf_counter() - self.time, words - self.words, cost)

    def write(self, state: RunState, progress: Progress) -> Path | None:
        """Write one; if it cannot be written, a warning is logged and training continues."""
        started = perf_counter()
        try:
            return self.checkpoints.write(state, progress.words)
        except (OutputError, RemoteError) as error:
            log.warning("no checkpoint after %s words: %s", f"{progress.words:,}", error)
            return None
        finally:
            # From the end of the last one, so that a slow disk does not get one checkpoint after another.
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
    return RunState(*read_record(path), tensors.load(path / TENSORS))


def read_record(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fingerprint and the values of the checkpoint in a folder."""
    record = path / RECORD
    content = read_versioned(record, FORMAT_VERSION)
    check_fields(record, content, {"fingerprint": dict, "values": dict})
    fingerprint, values = content["fingerprint"], content["values"]
    settings = fingerprint.get("settings")
    if isinstance(settings, dict):
        needed = {name: settings[name] for name, value in RUN_DEFAULTS.items() if settings.get(name, value) != value}
        trainer = str(fingerprint.get("trainer"))
        added = {"device": "cpu"} if trainer in ("skipgram", "cbow") else {}  # earlier versions had no other
        fingerprint["settings"] = added | remaining_settings(record, trainer, settings) | needed
    for name, setting, value in (("replicas", "precision", "float32"), ("init", "mode", "initial")):
        part = fingerprint.get(name)
        if isinstance(part, dict) and part.get(setting) == value:
            del part[setting]  # of earlier versions, which did with this value what is always done now
    return fingerprint, values


def checksum(arrays: Mapping[str, np.ndarray], values: Mapping[str, Any] | None = None) -> int:
    """The CRC-32 of JSON values, if given, and of all arrays in order of their names; detects corruption."""
    value = 0 if values is None else crc32(json.dumps(values).encode())
    for name in sorted(arrays):
        value = crc32(np.ascontiguousarray(arrays[name]).data.cast("B") if arrays[name].size else b"", value)
    return value


def check_same_run(folder: Path, saved: Mapping[str, Any], fingerprint: Mapping[str, Any]) -> None:
    """Refuse the checkpoint of another run."""
    changes = list(differences(saved, to_jsonable(fingerprint)))
    if changes:
        raise CheckpointError(f"cannot resume from {folder}, which belongs to another run: {'; '.join(changes)}")


def differences(saved: Any, current: Any, name: str = "") -> Iterator[str]:
    """The differences between two fingerprints, by name."""
    if isinstance(saved, dict) and isinstance(current, dict):
        for key in dict.fromkeys([*saved, *current]):
            yield from differences(saved.get(key), current.get(key), key)
    elif isinstance(saved, list) and isinstance(current, list) and len(saved) == len(current):
        for one, other in zip(saved, current, strict=True):
            yield from differences(one, other, name)
    elif saved != current:
        texts = (str(saved), str(current))  # of long ones only the end, where paths differ
        was, now = (one if len(one) <= MAX_VALUE_LENGTH else f"…{one[1 - MAX_VALUE_LENGTH :]}" for one in texts)
        yield f"{name} was {was}, but is {now} now"


def summarize_checkpoints(paths: list[Path]) -> dict[str, Any]:
    """A summary: the run they belong to, and the progress of the last one."""
    fingerprint, values = read_record(paths[-1])
    tally = values.get("tally")
    words, seconds = (tally.get("words"), tally.get("seconds")) if isinstance(tally, dict) else (None, None)
    summary: dict[str, Any] = to_jsonable(
        {
            "trainer": fingerprint.get("trainer"),
            "checkpoints": [path.name for path in paths],
            "words": sum(number for number in words if is_finite_number(number)) if isinstance(words, list) else 0,
            "seconds": seconds if is_finite_number(seconds) else None,
            **{name: fingerprint.get(name) for name in ("seed", "threads", "replicas", "settings", "packages")},
        }
    )
    return summary
