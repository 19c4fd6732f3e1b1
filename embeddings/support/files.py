"""Atomic writes: to a temporary name, flushed to disk, then renamed into place; and locks of files and folders.

An address such as s3://bucket/file is written by `embeddings.support.remote.writing`, in the same functions.

Without `force`, the rename refuses to replace, so that of several processes that write the same output exactly one
succeeds. The permissions of what is written follow the umask.

Shared locks protect a folder from removal while a process uses it, exclusive ones protect renames. A lock ends with the
process that holds it, and requires no write access. `filelock` offers exclusive locks on writable files, and a shared
lock through SQLite; neither suits a cache that may be read-only. On Windows no lock is required: a folder that contains
an open file cannot be renamed.
"""

import csv
import errno
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from time import time
from typing import Any

from embeddings.errors import OutputError
from embeddings.support.foreign_files import is_stream
from embeddings.support.logs import log
from embeddings.support.output_errors import check_other_files, exists_error, output_errors
from embeddings.support.remote.address import display_name, is_remote

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2  # flags of renameat2 on Linux
AT_FDCWD = -100
TABLES = (".csv", ".tsv")  # extensions of tables of `write_rows`
LOCK_SECONDS = 60  # after which a writer has surely locked its temporary folder


def check_output(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Return the path if it can be written; nothing is changed."""
    target = Path(path)
    if is_remote(path):
        from embeddings.support.remote.writing import check_remote_output

        check_remote_output(path, force=force)
        return target
    # not `resolve`: a link itself is replaced, so the folder that must be writable is that of the link
    folder = target.absolute().parent
    try:
        if is_stream(target):  # a rename would replace even /dev/null
            raise OutputError(f"{target} is a pipe or device and cannot be replaced; write to a file")
        if os.path.lexists(target) and not force:
            raise exists_error(target)
        if not folder.is_dir():
            raise OutputError(f"{target} cannot be written: {folder} is not a folder")
        with tempfile.TemporaryFile(dir=folder):  # checking permissions is not enough
            return target
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror or error} in {folder}") from error


def check_own_folder(
    path: str | os.PathLike[str], main_file: str, files: Set[str], contents: str, *, force: bool
) -> Path:
    """Return the path if a folder of `files` can be written there; nothing is changed.

    With `force` an existing folder is replaced if it contains `main_file` and nothing but `files`.

    Arguments:
        main_file: the file without which a folder is not of this kind.
        contents: what the folder holds, such as "model", for messages.
    """
    target = check_output(path, force=True)  # advice to set `force` comes only if it helps
    if is_remote(path):
        from embeddings.support.remote.writing import remote_names

        names = remote_names(path)
    elif target.is_dir():
        names = {entry.name for entry in target.iterdir()}
    else:
        names = {""} if os.path.lexists(target) else set()
    if names and main_file not in names:
        raise OutputError(f"{display_name(path)} is not a saved {contents}, so it is not replaced; choose another name")
    check_other_files(display_name(path), names - files, f"the {contents}")
    return target if force else check_output(path)


def check_file(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Return the path if a file can be written there; nothing is changed."""
    target = check_output(path, force=force)
    if target.is_dir():
        raise OutputError(f"{target} is a folder, but the output is a file; choose another name")
    return target


@contextmanager
def atomic_write(
    path: str | os.PathLike[str], *, force: bool = False, folder: bool = False, removable: Set[str] = frozenset()
) -> Iterator[Path]:
    """Yield a temporary path, a new folder if `folder`, that replaces `path` when the block succeeds.

    Arguments:
        removable: names of files that are deleted from an existing remote folder if the new folder lacks them.

    Raises:
        OutputError: as `check_output` or `check_file`; writing fails (disk full, permission); or without `force`,
            another process has written `path` in the meantime.
    """
    if is_remote(path):
        from embeddings.support.remote.writing import remote_write

        with remote_write([path], force=force, folder=folder, removable=removable) as temporaries:
            yield temporaries[0]
    elif not folder:
        with atomic_write_all([Path(path)], force=force) as temporaries:
            yield temporaries[0]
    else:
        target = check_output(path, force=force)
        with scratch_folder(target) as scratch:
            temporary = scratch / target.name
            temporary.mkdir()
            yield temporary
            # before the rename: after a crash of the system, a renamed but unwritten file would be empty
            fsync(temporary)
            if force:
                replace_folder(temporary, target, scratch / "old")
            else:
                rename_to_new(temporary, target)
            log.debug("wrote %s", target)


@contextmanager
def atomic_write_all(paths: Sequence[Path], *, force: bool = False) -> Iterator[list[Path]]:
    """Yield a temporary path for each of several files of one folder, all replaced together when the block succeeds.

    Name the main file first, then the files it needs: old files are moved away in this order, and new ones renamed into
    place in reverse, so that the main file exists only with its companions and never next to those of another
    version. If a rename fails, the new files are removed and the old ones restored; if the process is killed between
    renames, the old ones remain in the temporary folder.

    Raises:
        OutputError: as `check_file` for each path; writing fails; or another process has written one of the files in
            the meantime.
    """
    if is_remote(paths[0]):
        from embeddings.support.remote.writing import remote_write

        with remote_write(paths, force=force, folder=False) as remote:
            yield remote
        return
    targets = [check_file(path, force=force) for path in paths]
    if len({target.name for target in targets}) < len(targets):
        raise OutputError(f"{targets[0]} and a file written with it would have the same name; choose another name")
    with scratch_folder(targets[0]) as scratch:
        temporary = [scratch / target.name for target in targets]
        yield temporary
        fsync(scratch)
        if len(targets) == 1:
            (Path.replace if force else rename_to_new)(temporary[0], targets[0])
        else:
            with exclusive_lock(scratch.parent):  # the files of two writers must not be mixed
                rename_all_into_place(temporary, targets, scratch / "old", force=force)
        log.debug("wrote %s", ", ".join(map(str, targets)))


@contextmanager
def scratch_folder(target: Path) -> Iterator[Path]:
    """Yield a folder next to `target` that is removed after the block, as are those of killed writers to `target`.

    An OSError of writing becomes an OutputError; one of a file that the block reads stays as it is.
    """
    prefix, parent = f".{target.name}.", target.absolute().parent
    with (
        output_errors(target, prefix),
        tempfile.TemporaryDirectory(
            prefix=prefix, suffix=".partial", dir=parent, ignore_cleanup_errors=True
        ) as scratch,
        exclusive_lock(Path(scratch)) as has_locks,  # which tells other writers that it is in use
    ):
        for other in parent.glob(f"{escape(prefix)}????????.partial") if has_locks else ():
            with suppress(OSError):
                is_old = other.stat().st_mtime < time() - LOCK_SECONDS
                if is_old and is_unlocked(other) and not (other / "old").exists():  # else it has the only copy
                    shutil.rmtree(other)
        yield Path(scratch)


def fsync(path: Path) -> None:
    """Flush a file, or every file in a folder, to disk."""
    for file in [path] if path.is_file() else [entry for entry in path.rglob("*") if entry.is_file()]:
        with file.open("rb+") as stream:
            os.fsync(stream.fileno())


def replace_folder(temporary: Path, target: Path, old: Path) -> None:
    """Rename to `target`; an existing folder is exchanged, or moved to `old` and restored if the rename fails."""
    if not os.path.lexists(target):
        temporary.replace(target)
        return
    # two renames would leave a moment without the folder
    if exchange(temporary, target):
        return
    target.replace(old)
    try:
        temporary.replace(target)
    except BaseException:  # KeyboardInterrupt too
        old.replace(target)
        raise


def rename_all_into_place(temporary: Sequence[Path], targets: Sequence[Path], old: Path, *, force: bool) -> None:
    """Rename files to `targets`, the last first; with `force`, existing files are moved to `old` and restored on error.

    Even with `force`, a file that appears in the meantime is not replaced.
    """
    # readers open the main file first, so it goes first and comes last
    old.mkdir()
    existing = [target for target in targets if force and os.path.lexists(target)]
    placed: list[tuple[Path, Path]] = []
    try:
        for target in existing:
            target.replace(old / target.name)
        for path, target in reversed(list(zip(temporary, targets, strict=True))):
            placed.append((target, path))
            rename_to_new(path, target)
    except BaseException:  # KeyboardInterrupt too
        for target, path in placed:
            if not os.path.lexists(path):
                target.replace(path)
        for target in reversed(existing):
            if os.path.lexists(old / target.name):
                (old / target.name).replace(target)
        raise


def rename_to_new(temporary: Path, target: Path) -> None:
    """Rename to `target`; raises OutputError if it exists, also if another process creates it at the same time."""
    try:
        problem = renameat2(temporary, target, RENAME_NOREPLACE)
        if problem in (errno.ENOSYS, errno.EINVAL):  # an old kernel, or a file system without it
            link_or_rename(temporary, target)
        elif problem:
            raise OSError(problem, os.strerror(problem))
    except OSError as error:
        if os.path.lexists(target) and os.path.lexists(temporary):
            raise exists_error(target) from error
        raise


def link_or_rename(temporary: Path, target: Path) -> None:
    """Rename on a system that cannot refuse to replace: files by a link; folders replace only an empty folder."""
    if temporary.is_file():
        with suppress(OSError):  # the target exists, or the file system has no links
            os.link(temporary, target)
            temporary.unlink()
            return
    if os.path.lexists(target) and not (target.is_dir() and temporary.is_dir()):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    temporary.rename(target)


def exchange(first: Path, second: Path) -> bool:
    """Swap two names atomically, so that a crash leaves both in place; False if the system cannot."""
    return renameat2(first, second, RENAME_EXCHANGE) == 0


def renameat2(source: Path, target: Path, flag: int) -> int:
    """The system call of Linux; returns 0 or an error number, ENOSYS on other systems."""
    import ctypes

    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # not Linux, or an old libc
        return errno.ENOSYS
    # libc's own errno: Python's would be that of another call
    failed = rename(AT_FDCWD, os.fsencode(source), AT_FDCWD, os.fsencode(target), flag)
    return ctypes.get_errno() if failed else 0


def acquire_shared(path: Path) -> int | None:
    """Return a file descriptor with a shared lock; None if the file is missing or its folder is being removed."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    # between opening and locking, a remover may have taken the folder: a lock on a removed file protects nothing
    with suppress(OSError):  # another file may have this path by now, or none
        if try_lock(descriptor, exclusive=False) and os.path.samestat(path.stat(), os.fstat(descriptor)):
            return descriptor
    os.close(descriptor)
    return None


@contextmanager
def exclusive_lock(folder: Path) -> Iterator[bool]:
    """Wait until no other process holds this lock on a folder, and hold it; yields False if the system has no locks."""
    descriptor, is_locked = None, False
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        if fcntl:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            is_locked = True
    try:
        yield is_locked
    finally:
        release(descriptor)


def release(descriptor: int | None) -> None:
    """Unlock and close a file or folder, if there is one; a process that was forked meanwhile shares its lock."""
    if descriptor is not None:
        if fcntl:
            with suppress(OSError):  # the file system has no locks
                fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def is_unlocked(path: Path) -> bool:
    """Whether no process, including this one, holds a lock on the file; true if the file is missing."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return True
    try:
        return try_lock(descriptor, exclusive=True)
    finally:
        os.close(descriptor)


def try_lock(descriptor: int, *, exclusive: bool) -> bool:
    """Lock a file without waiting; also true on file systems without locks."""
    try:
        if fcntl:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # the file system has no locks
        return True
    return True


def write_rows(columns: Iterable[str], rows: Iterable[Mapping[str, Any]], path: Path, *, force: bool = False) -> None:
    """Write rows separated by commas, or by tabs as the extension says; missing values are empty, lists have spaces."""
    with atomic_write(path, force=force) as fresh, fresh.open("w", encoding="utf-8", newline="") as stream:
        delimiter = "," if path.suffix.lower() == TABLES[0] else "\t"
        out = csv.DictWriter(stream, list(columns), delimiter=delimiter, lineterminator="\n")
        out.writeheader()
        for row in rows:
            items = row.items()
            out.writerow({name: " ".join(map(str, one)) if isinstance(one, list) else one for name, one in items})
