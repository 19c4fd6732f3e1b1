"""Writing remote files: local files, complete and closed, are uploaded under temporary names and then renamed.

An object store makes an object visible only when its upload is complete. A file therefore appears as a whole or not at
all; of several files, the main one appears last. Nothing is replaced unless asked for.
"""

import re
import secrets
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from embeddings.errors import FormatError, OutputError, RemoteError
from embeddings.support.cache_folder import temporary_root
from embeddings.support.foreign_files import check_name
from embeddings.support.logs import log
from embeddings.support.output_errors import check_other_files, exists_error, output_errors
from embeddings.support.remote.address import Address, StrPath, parse_address
from embeddings.support.remote.requests import attempt
from embeddings.support.remote.store import arrow_store, files_below

BLOCK = 1 << 23
MAX_COPY = 5 * 10**9  # bytes that S3 copies; a larger object is uploaded under its own name
PARTIAL = ".partial"
TEMPORARY = re.compile(rf"\..+\.[0-9a-f]{{8}}{re.escape(PARTIAL)}")  # what `temporary_name` returns


def check_remote_output(path: StrPath, *, force: bool) -> Address:
    """Return the address of a file or folder that can be written.

    Raises OutputError if the address exists and `force` is not set, is a web address, or cannot be written.
    """
    address = parse_address(path)
    try:
        if not address.path:
            raise OutputError(f"{address} is a bucket; add the name of a file or folder")
        check_name(address.path, is_local=False)
        if has_files(address) and not force:
            raise exists_error(address)
        # a listing needs other rights than writing, and buckets have rules for prefixes
        store, probe = arrow_store(address), temporary_name(address)  # writing is the only test of the permission
        attempt(probe, lambda: store.writer.open_output_stream(probe.store_path).close(), attempts=1, writes=True)
        attempt(probe, lambda: store.writer.delete_file(probe.store_path), attempts=1, writes=True)
    except RemoteError as error:
        raise OutputError(f"{address} {error.strerror}") from None
    except FormatError as error:
        raise OutputError(f"{address} cannot be written: {error}") from None
    return address


def has_files(address: Address) -> bool:
    """Whether a file, or a folder with files, has this address."""
    store = arrow_store(address)
    return attempt(address, lambda: store.status(address)) is not None or bool(files_below(address))


def remote_names(path: StrPath) -> set[str]:
    """The names of the files below an address, relative to it, without temporary files of uploads."""
    address = parse_address(path)
    return {one.relative_to(address) for one in files_below(address) if not TEMPORARY.fullmatch(one.name)}


@contextmanager
def remote_write(
    paths: Sequence[StrPath], *, force: bool, folder: bool, removable: Set[str] = frozenset()
) -> Iterator[list[Path]]:
    """Yield temporary local paths for files of a remote folder, or for a folder; uploads them if the block succeeds.

    Raises OutputError as `check_remote_output` and `upload_folder`, or if the upload fails.
    """
    addresses = [check_remote_output(path, force=force) for path in paths]
    with TemporaryDirectory(prefix="embeddings-upload-", dir=temporary_root()) as scratch:
        local = [Path(scratch) / address.name for address in addresses]
        if folder:
            local[0].mkdir()
        with output_errors(addresses[0], scratch):
            yield local
        try:
            if folder:
                upload_folder(local[0], addresses[0], force=force, removable=removable)
            else:
                upload_files(list(zip(local, addresses, strict=True)), force=force)
        except RemoteError as error:
            raise OutputError(f"{error.args[0]}; nothing of {addresses[0]} was replaced after that") from None
    log.debug("wrote %s", ", ".join(map(str, addresses)))


def upload_folder(local: Path, address: Address, *, force: bool, removable: Set[str] = frozenset()) -> None:
    """Upload a folder; its .json file, or else its first file, is the last to appear.

    Files of an older folder that the new one does not have are removed if they are `removable`. Otherwise nothing is
    changed, and OutputError is raised.
    """
    files = sorted(path for path in local.rglob("*") if path.is_file())
    files.sort(key=lambda path: (path.suffix != ".json", path.name))
    pairs = [(path, address.child(path.relative_to(local).as_posix())) for path in files]
    store, new = arrow_store(address), {target for _, target in pairs}
    old = [one for one in files_below(address) if one not in new] if force else []
    others = {one.relative_to(address) for one in old if not TEMPORARY.fullmatch(one.name)}
    check_other_files(address, others - removable, "the new folder")
    upload_files(pairs, force=force)
    for one in old:
        attempt(one, partial(store.writer.delete_file, one.store_path), writes=True)


def upload_files(pairs: Sequence[tuple[Path, Address]], *, force: bool) -> None:
    """Upload files under temporary names, then rename them; the first file is the main file, and renamed last."""
    placed = []
    try:
        for path, address in pairs:
            size = path.stat().st_size
            target = temporary_name(address) if size <= MAX_COPY else address
            placed.append((target, address))
            upload(path, target)
        # uploads take minutes: another writer may have come first
        for target, address in reversed(placed):
            if not force and has_files(address):
                raise exists_error(address)
            if target != address:
                move = arrow_store(address).writer.move
                attempt(address, partial(move, target.store_path, address.store_path), writes=True)
    except BaseException:  # KeyboardInterrupt too
        for target, address in placed:
            if target != address:
                with suppress(Exception):
                    arrow_store(target).writer.delete_file(target.store_path)
        raise


def upload(path: Path, address: Address) -> None:
    """Upload one file, and check its size."""
    store = arrow_store(address)

    def write() -> None:
        with path.open("rb") as source, store.writer.open_output_stream(address.store_path) as sink:
            while block := source.read(BLOCK):
                sink.write(block)
        if store.info(address).size != path.stat().st_size:
            raise OSError("the upload is incomplete")

    attempt(address, write, attempts=2, writes=True)


def temporary_name(address: Address) -> Address:
    """The address of a temporary file in the folder of a file."""
    return address.sibling(f".{address.name}.{secrets.token_hex(4)}{PARTIAL}")
