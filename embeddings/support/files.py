"""Writing that a crash cannot spoil: beside the target, flushed, then renamed into place."""

import os
import shutil
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
    """The path, if it can be written; nothing is changed.

    Raises:
        OutputError: it exists and `force` is not given, is a pipe or device (a file would replace even /dev/null), or
            its folder is missing or not writable.
    """
    target = Path(path)
    folder = target.absolute().parent
    try:
        if is_stream(target):
            raise OutputError(f"{target} is a pipe or device, and is not replaced; write to a file")
        if os.path.lexists(target) and not force:
            raise OutputError(f"{target} exists; choose another name, or --force to replace it")
        if not folder.is_dir():
            raise OutputError(f"{target} cannot be written: {folder} is not a folder")
        with tempfile.TemporaryFile(dir=folder):  # the only sure test: permissions do not tell all
            return target
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror or error} in {folder}") from error


def check_file(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """The path, if a file can be written there; nothing is changed.

    Raises:
        OutputError: as `check_output`, or it is a folder: no file takes the place of all that is in one.
    """
    target = check_output(path, force=force)
    if target.is_dir():
        raise OutputError(f"{target} is a folder, and a file is written: choose another name")
    return target


def is_stream(path: Path) -> bool:
    """Whether a path is a pipe or device."""
    return path.exists() and not (path.is_file() or path.is_dir())


@contextmanager
def replacing(path: str | os.PathLike[str], *, force: bool = False, folder: bool = False) -> Iterator[Path]:
    """A temporary path beside `path` (a folder if asked for) that takes its place when the block ends well.

    Raises:
        OutputError: as `check_output`, or `check_file`; and when writing fails (disk full, permission).
    """
    target = check_output(path, force=force) if folder else check_file(path, force=force)
    try:
        scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".partial", dir=target.absolute().parent))
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror or error}") from error
    try:
        fresh = scratch / target.name
        if folder:
            fresh.mkdir()
        yield fresh
        flush(fresh)
        swap(fresh, target, scratch / "old")
        log.debug("wrote %s", target)
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def replacing_all(paths: Sequence[Path], *, force: bool = False) -> Iterator[list[Path]]:
    """Temporary paths for several files of one folder, all of which take their places when the block ends well.

    All are on the disk before the first is renamed, the last one first: a file that needs others beside it is
    named first, and stands only where they do. Old ones step aside before, the first one first, so that no old file
    ever stands beside new ones; they come back if anything fails, and lie in the temporary folder, whole, if the
    process is killed at this very moment.

    Raises:
        OutputError: as `check_file` of each, and when writing fails.
    """
    targets = [check_file(path, force=force) for path in paths]
    if len({target.name for target in targets}) < len(targets):
        raise OutputError(f"{targets[0]} and what goes beside it would be one file; choose another name")
    try:
        with tempfile.TemporaryDirectory(
            prefix=f".{targets[0].name}.", suffix=".partial", dir=targets[0].absolute().parent
        ) as scratch:
            fresh = [Path(scratch) / target.name for target in targets]
            yield fresh
            flush(Path(scratch))
            swap_all(fresh, targets, Path(scratch) / "old")
            log.debug("wrote %s", ", ".join(map(str, targets)))
    except OSError as error:
        raise OutputError(f"{targets[0]} cannot be written: {error.strerror or error}") from error


def flush(path: Path) -> None:
    """Force a file, or every file of a folder, to the disk."""
    for file in [path] if path.is_file() else [entry for entry in path.rglob("*") if entry.is_file()]:
        with file.open("rb+") as stream:
            os.fsync(stream.fileno())


def write_npy(array: "np.ndarray", stream: BinaryIO) -> None:
    """Write an array as numpy's own format has it, in C order; numpy itself does not notice when a disk gets full.

    Raises:
        OSError: it cannot be written.
    """
    from numpy.lib.format import header_data_from_array_1_0, write_array_header_1_0

    whole = array if array.flags.c_contiguous else array.copy(order="C")
    write_array_header_1_0(stream, header_data_from_array_1_0(whole))
    stream.write(whole.reshape(-1).view("u1").data)


def swap(fresh: Path, target: Path, old: Path) -> None:
    """Rename into place; what a folder replaces, a link too, steps aside and comes back if that fails."""
    if fresh.is_file() or not os.path.lexists(target):
        fresh.replace(target)
        return
    if exchanged(fresh, target):
        return
    target.replace(old)
    try:
        fresh.replace(target)
    except BaseException:  # an interrupt too
        old.replace(target)
        raise


def swap_all(fresh: Sequence[Path], targets: Sequence[Path], aside: Path) -> None:
    """Rename files into place, the last one first; old ones step aside before, and come back if that fails."""
    if len(targets) == 1:  # in one step
        fresh[0].replace(targets[0])
        return
    aside.mkdir()
    there = [target for target in targets if target.exists() or target.is_symlink()]
    try:
        for target in there:
            target.replace(aside / target.name)
        for path, target in reversed(list(zip(fresh, targets, strict=True))):
            path.replace(target)
    except BaseException:  # an interrupt too
        for target in reversed(there):
            if (aside / target.name).exists():
                (aside / target.name).replace(target)
        raise


def exchanged(first: Path, second: Path) -> bool:
    """Give each of two the name of the other in one step, where the system can: then no crash finds neither there."""
    import ctypes

    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):  # not Linux, or an old one
        return False
    return bool(rename(here, os.fsencode(first), here, os.fsencode(second), exchange) == 0)
