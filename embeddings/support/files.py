"""Atomic writes: to a temporary name, flushed to disk, then renamed into place."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from embeddings.errors import OutputError
from embeddings.support.logs import log

if TYPE_CHECKING:
    import numpy as np


def check_output(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Return the path if it can be written; nothing is changed."""
    target = Path(path)
    folder = target.absolute().parent
    try:
        if is_stream(target):  # a rename would replace even /dev/null
            raise OutputError(f"{target} is a pipe or device and cannot be replaced; write to a file")
        if os.path.lexists(target) and not force:
            raise OutputError(f"{target} exists; choose another path, or set force=True to replace it")
        if not folder.is_dir():
            raise OutputError(f"{target} cannot be written: {folder} is not a folder")
        with tempfile.TemporaryFile(dir=folder):  # checking permissions is not enough
            return target
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror or error} in {folder}") from error


def check_file(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Return the path if a file can be written there; nothing is changed."""
    target = check_output(path, force=force)
    if target.is_dir():
        raise OutputError(f"{target} is a folder, but the output is a file; choose another name")
    return target


def is_stream(path: Path) -> bool:
    """Whether a path is a pipe or device."""
    return path.exists() and not (path.is_file() or path.is_dir())


@contextmanager
def atomic_write(path: str | os.PathLike[str], *, force: bool = False, folder: bool = False) -> Iterator[Path]:
    """Yield a temporary path, a new folder if `folder`, that replaces `path` when the block succeeds.

    Raises:
        OutputError: as `check_output` or `check_file`; or writing fails (disk full, permission).
    """
    target = check_output(path, force=force) if folder else check_file(path, force=force)
    with scratch_folder(target) as scratch:
        temporary = scratch / target.name
        if folder:
            temporary.mkdir()
        yield temporary
        fsync(temporary)
        rename_into_place(temporary, target, scratch / "old")
        log.debug("wrote %s", target)


@contextmanager
def atomic_write_all(paths: Sequence[Path], *, force: bool = False) -> Iterator[list[Path]]:
    """Yield temporary paths for several files of one folder, all of which are replaced when the block succeeds.

    Name the main file first, then the files it needs: old files are moved away in this order, and new ones renamed into
    place in reverse, so that the main file exists only with its companions and never next to those of another
    version. If a rename fails, the old files are restored; if the process is killed between renames, they remain in
    the temporary folder.

    Raises:
        OutputError: as `check_file` for each path; or writing fails.
    """
    targets = [check_file(path, force=force) for path in paths]
    if len({target.name for target in targets}) < len(targets):
        raise OutputError(f"{targets[0]} and a file written with it would have the same name; choose another name")
    with scratch_folder(targets[0]) as scratch:
        temporary = [scratch / target.name for target in targets]
        yield temporary
        fsync(scratch)
        rename_all_into_place(temporary, targets, scratch / "old")
        log.debug("wrote %s", ", ".join(map(str, targets)))


@contextmanager
def scratch_folder(target: Path) -> Iterator[Path]:
    """Yield a folder next to `target` that is removed after the block; an OSError becomes an OutputError."""
    prefix, parent = f".{target.name}.", target.absolute().parent
    try:
        with tempfile.TemporaryDirectory(
            prefix=prefix, suffix=".partial", dir=parent, ignore_cleanup_errors=True
        ) as scratch:
            yield Path(scratch)
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror or error}") from error


def fsync(path: Path) -> None:
    """Flush a file, or every file in a folder, to disk."""
    for file in [path] if path.is_file() else [entry for entry in path.rglob("*") if entry.is_file()]:
        with file.open("rb+") as stream:
            os.fsync(stream.fileno())


def write_npy(array: "np.ndarray", stream: BinaryIO) -> None:
    """Write an array as .npy in C order; raises OSError on a full disk, which `numpy.save` does not notice."""
    from numpy.lib.format import header_data_from_array_1_0, write_array_header_1_0

    contiguous = array if array.flags.c_contiguous else array.copy(order="C")
    write_array_header_1_0(stream, header_data_from_array_1_0(contiguous))
    stream.write(contiguous.reshape(-1).view("u1").data)


def rename_into_place(temporary: Path, target: Path, old: Path) -> None:
    """Rename to `target`; an existing folder is exchanged, or moved to `old` and restored if the rename fails."""
    if temporary.is_file() or not os.path.lexists(target):
        temporary.replace(target)
        return
    if exchange(temporary, target):
        return
    target.replace(old)
    try:
        temporary.replace(target)
    except BaseException:  # KeyboardInterrupt too
        old.replace(target)
        raise


def rename_all_into_place(temporary: Sequence[Path], targets: Sequence[Path], old: Path) -> None:
    """Rename files to `targets`, the last first; existing files are moved to `old` and restored if that fails."""
    if len(targets) == 1:  # atomic
        temporary[0].replace(targets[0])
        return
    old.mkdir()
    existing = [target for target in targets if os.path.lexists(target)]
    try:
        for target in existing:
            target.replace(old / target.name)
        for path, target in reversed(list(zip(temporary, targets, strict=True))):
            path.replace(target)
    except BaseException:  # KeyboardInterrupt too
        for target in reversed(existing):
            if (old / target.name).exists():
                (old / target.name).replace(target)
        raise


def exchange(first: Path, second: Path) -> bool:
    """Swap two names atomically, so that a crash leaves both in place; False if the system cannot."""
    import ctypes

    at_cwd, rename_exchange = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):  # not Linux, or an old libc
        return False
    return bool(rename(at_cwd, os.fsencode(first), at_cwd, os.fsencode(second), rename_exchange) == 0)
