"""Local copies of remote files and folders, for what needs a local path, such as memory-mapped vectors.

A copy stays in the cache folder, and is used again while the size, time of modification and ETag of each file are the
same. Copies of the least recently used addresses are removed when they take more than `MAX_COPIES` bytes together.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from threading import Event

from embeddings.errors import FormatError, RemoteError
from embeddings.support.cache_folder import cache_folder, foreign_access
from embeddings.support.foreign_files import check_name, is_hidden, path_below
from embeddings.support.logs import log
from embeddings.support.remote.address import MAGIC, WEB, Address, StrPath, parse_address
from embeddings.support.remote.range_reader import RemoteReader
from embeddings.support.remote.requests import attempt, map_ahead
from embeddings.support.remote.store import RemoteStatus, absence, arrow_store, find_status, statuses
from embeddings.support.system import size_on_disk

MAX_COPIES = 20 * 10**9  # bytes, or a tenth of the disk if that is less
BLOCK = 1 << 20
PARTIAL = ".partial"
N_FILES = 4  # of a folder, at a time


def local_copy(path: StrPath, companions: Sequence[str] = ()) -> Path:
    """Return the path of a local copy of a remote file or folder; arguments and errors as `local_paths.local_path`."""
    address = parse_address(path)
    status = find_status(address)
    if status is not None:
        addresses = [address, *companion_addresses(address, companions)]
        known = [status, *statuses(addresses[1:])]
        return path_below(copy_all(address, addresses, [one.name for one in addresses], known), address.name)
    addresses = [] if address.scheme in WEB else files_below(address, is_local=True)
    if not addresses:
        raise RemoteError(address, absence(address))
    names = [one.relative_to(address) for one in addresses]
    return copy_all(address, addresses, names, statuses(addresses))


def files_below(
    folder: Address, is_wanted: Callable[[list[str]], bool] | None = None, *, is_local: bool = False
) -> list[Address]:
    """Return the files below a remote folder by name; none if there is no such folder.

    Clients of stores resolve `..`, so a file whose name has it would be read, replaced or deleted elsewhere.

    Arguments:
        is_wanted: chooses files by the parts of their name relative to the folder.
        is_local: as that of `check_name`.

    Raises:
        RemoteError: the store cannot be read, or the name of a wanted file is not safe.
    """
    store = arrow_store(folder)
    names = attempt(folder, lambda: store.names(folder))
    wanted = [name for name in names if is_wanted is None or is_wanted(name.split("/"))]
    try:
        for name in wanted:
            check_name(name, is_local=is_local)
    except FormatError as error:
        raise RemoteError(folder, f"cannot be read: {error}; rename or remove this file") from None
    return [folder.child(name) for name in wanted]


def companion_addresses(address: Address, companions: Sequence[str]) -> list[Address]:
    """Return the files that belong to a file and exist."""
    stem = address.name.rpartition(".")[0] or address.name
    names = dict.fromkeys(name for end in companions for name in (stem + end, address.name + end))
    candidates = [address.sibling(name) for name in names if name != address.name]
    return [one for one in candidates if find_status(one) is not None]


def copy_all(address: Address, addresses: list[Address], names: list[str], known: list[RemoteStatus]) -> Path:
    """Copy remote files to a folder of the cache, unless it has current copies, and return the folder.

    Arguments:
        names: of the copies, relative to the folder.
        known: the status of each file.

    Raises:
        RemoteError: a name is not safe, or a file cannot be read or copied.
    """
    parts = [str(address)], [[name, *status.identity] for name, status in zip(names, known, strict=True)]
    digests = [hashlib.sha256(json.dumps(part).encode()).hexdigest()[:24] for part in parts]
    name = "-".join(digests)
    cache_root = copies_folder(name)
    target = cache_root / name
    if target.is_dir():
        with suppress(OSError):
            os.utime(target)
        return target
    scratch = Path(tempfile.mkdtemp(prefix=".", suffix=PARTIAL, dir=cache_root))
    is_abandoned = Event()
    try:
        pairs = zip(addresses, [path_below(scratch, name) for name in names], strict=True)
        for _ in map_ahead(lambda pair: download(*pair, is_abandoned), pairs, N_FILES):
            pass
        remove_copies(cache_root, digests[0])
        scratch.rename(target)
    except FormatError as error:
        raise RemoteError(address, f"cannot be read: {error}; rename or remove this file") from None
    except OSError as error:
        if isinstance(error, RemoteError):
            raise
        if not target.is_dir():  # another process may have been faster
            raise RemoteError(address, f"cannot be copied to {cache_root}: {error.strerror or error}") from error
    finally:
        is_abandoned.set()
        shutil.rmtree(scratch, ignore_errors=True)
    log.debug("copied %s", address)
    return target


def download(address: Address, target: Path, is_abandoned: Event) -> None:
    """Copy a remote file to a local path, until the copy is abandoned."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with RemoteReader(address) as reader, target.open("wb") as stream:
        while not is_abandoned.is_set() and (block := reader.read(BLOCK)):
            stream.write(block)


@cache
def temporary_copies() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that is removed at the end of the process, for where there is no cache."""
    return tempfile.TemporaryDirectory(prefix="embeddings-remote-")


def copies_folder(name: str) -> Path:
    """Return the folder of copies; a temporary one if others could have written to it, or to the copy of this name."""
    folder = cache_folder("remote")
    if folder is None or foreign_access(folder / name):
        return Path(temporary_copies().name)
    return folder


def remove_copies(folder: Path, name: str) -> None:
    """Remove outdated copies of an address, and those that were not used for longest if all take too much room."""
    limit = min(MAX_COPIES, shutil.disk_usage(folder).total // 10)
    copies = []
    for path in folder.iterdir():
        with suppress(OSError):
            if path.name.startswith("."):
                continue
            copies.append((path.stat().st_mtime, size_on_disk(path), path))
    total = sum(size for _, size, _ in copies)
    for _, size, path in sorted(copies):
        if path.name.startswith(f"{name}-") or total > limit:
            shutil.rmtree(path, ignore_errors=True)  # memory-mapped files stay readable until they are closed
            total -= size


def find_remote(address: Address) -> list[Address]:
    """Return the file, the files of the folder, or the files that match the pattern (*, ?, [...], and ** for folders).

    Raises:
        RemoteError: there is none, or the store cannot be read.
    """
    if address.scheme in WEB:
        return [address]
    store = arrow_store(address)
    if attempt(address, lambda: store.status(address)) is not None:
        return [address]
    if files := files_below(address, is_shown):
        return files
    if not address.is_pattern:
        raise RemoteError(address, absence(address))
    steps = address.path.split("/")
    first = next(number for number, step in enumerate(steps) if MAGIC.search(step))
    folder = Address(address.scheme, address.host, "/".join(steps[:first]))
    files = files_below(folder, lambda parts: is_shown(parts) and matches(parts, steps[first:]))
    if not files:
        is_folder = attempt(folder, lambda: store.is_folder(folder))
        raise RemoteError(address, "matches no file" if is_folder else absence(folder))
    return files


def is_shown(parts: list[str]) -> bool:
    """Whether a file is neither hidden nor a record of Spark's own, by the parts of its name."""
    return not any(is_hidden(part) for part in parts if part not in (".", ".."))  # names with these are refused


def matches(parts: list[str], steps: list[str]) -> bool:
    """Whether the parts of a path match the parts of a pattern, or the path is below a folder that matches."""
    if not steps:
        return True
    if steps[0] == "**":
        return any(matches(parts[start:], steps[1:]) for start in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], steps[0]) and matches(parts[1:], steps[1:])
