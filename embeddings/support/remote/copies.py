"""Local copies of remote files and folders, for readers that require a local path, such as memory-mapped vectors.

A copy stays in the cache folder, and is used again while the size, time of modification and ETag of each file are the
same. The least recently used copies are removed when all copies exceed `cache_folder.default_limit` together.
"""

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Event

from embeddings.errors import FormatError, RemoteError
from embeddings.support.cache_folder import (
    PARTIAL,
    CacheEntry,
    cache_folder,
    default_limit,
    evict,
    foreign_access,
    remove_abandoned,
    temporary_root,
)
from embeddings.support.foreign_files import path_below
from embeddings.support.logs import log
from embeddings.support.remote.address import WEB, Address, StrPath, parse_address
from embeddings.support.remote.requests import map_ahead
from embeddings.support.remote.store import RemoteReader, RemoteStatus, absence, files_below, find_status, statuses
from embeddings.support.system import size_on_disk

BLOCK = 1 << 20
PARALLEL_DOWNLOADS = 4  # of the files of a folder
COPY_NAME = re.compile(r"[0-9a-f]{24}(-[0-9a-f]{24})*")  # other folders of the cache may be the user's


def local_copy(path: StrPath, companions: Sequence[str] = ()) -> Path:
    """Return the path of a local copy of a remote file or folder; arguments and errors as `local_paths.local_path`."""
    address = parse_address(path)
    status = find_status(address)
    if status is not None:
        stem = address.name.rpartition(".")[0] or address.name
        companion_names = dict.fromkeys(name for end in companions for name in (stem + end, address.name + end))
        others = [address.sibling(name) for name in companion_names if name != address.name]
        addresses = [address, *(one for one in others if find_status(one) is not None)]
        known = [status, *statuses(addresses[1:])]
        return path_below(copy_all(address, addresses, [one.name for one in addresses], known), address.name)
    addresses = [] if address.scheme in WEB else files_below(address, is_local=True)
    if not addresses:
        raise RemoteError(address, absence(address))
    names = [one.relative_to(address) for one in addresses]
    return copy_all(address, addresses, names, statuses(addresses))


def copy_all(address: Address, addresses: list[Address], names: list[str], known: list[RemoteStatus]) -> Path:
    """Return a folder of the cache with current copies of remote files, copied if necessary.

    `names` are those of the copies, relative to the folder, and `known` the status of each file.

    Raises RemoteError if a name is not safe, or a file cannot be read or copied.
    """
    companions = names if address in addresses else []  # a file has a copy with each set of companions
    parts = [str(address), *companions], [[name, *one.identity] for name, one in zip(names, known, strict=True)]
    digests = [hashlib.sha256(json.dumps(part).encode()).hexdigest()[:24] for part in parts]
    name = "-".join(digests)
    cache_root = cache_folder("remote")
    if cache_root is None or foreign_access(cache_root / name):  # others could have written to it, or to the copy
        cache_root = Path(temporary_copies().name)
    target = cache_root / name
    if target.is_dir():
        with suppress(OSError):
            os.utime(target)
        return target
    # the name of a copy is made of identities, so a renamed folder is complete and current, or does not exist
    scratch = Path(tempfile.mkdtemp(prefix=".", suffix=PARTIAL, dir=cache_root))
    is_abandoned = Event()
    try:
        pairs = zip(addresses, [path_below(scratch, name) for name in names], strict=True)
        for _ in map_ahead(lambda pair: download(*pair, is_abandoned), pairs, PARALLEL_DOWNLOADS):
            pass
        remove_copies(scratch, target)
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
    """Return a folder for copies without a cache, which is removed at the end of the process."""
    return tempfile.TemporaryDirectory(prefix="embeddings-remote-", dir=temporary_root())


def remove_copies(scratch: Path, target: Path) -> None:
    """Make room for the new copy `target`, which is still in the folder `scratch`.

    Removes its outdated copies, the least recently used copies if all take too much room, and abandoned downloads.
    """
    cache_root, identity = target.parent, target.name.split("-")[0]
    remove_abandoned(cache_root)
    entries = []
    for path in cache_root.iterdir():
        if path == target or not COPY_NAME.fullmatch(path.name):
            continue
        with suppress(OSError):
            if path.name.startswith(f"{identity}-"):
                remove_copy(path)
            else:
                entries.append(CacheEntry(path, size_on_disk(path), path.stat().st_mtime))
    limit = default_limit(cache_root) - size_on_disk(scratch)
    evict(sorted(entries, key=lambda entry: entry.last_used), limit, remove_copy)


def remove_copy(folder: Path) -> bool:
    """Remove a copy, and return whether it is gone; memory-mapped files stay readable until they are closed."""
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()
