"""Checkpoints in an object store: written to a local folder first, then uploaded, the record last."""

import hashlib
import shutil
import tempfile
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path

from embeddings.errors import EmbeddingsError, FormatError, OutputError, RemoteError
from embeddings.support.cache_folder import cache_folder
from embeddings.support.foreign_files import path_below
from embeddings.support.remote.address import Address, StrPath, parse_address


@cache
def local_folder(address: Address) -> Path:
    """Return the local folder of checkpoints that are written to an address."""
    parent = cache_folder("checkpoints") or Path(tempfile.mkdtemp(prefix="embeddings-checkpoints-"))
    return parent / hashlib.sha256(str(address).encode()).hexdigest()[:24]


class RemoteCheckpoints:
    """The checkpoints below an address; a checkpoint is complete if its record is there.

    Files that are not of checkpoints are neither read nor removed.

    Arguments:
        record: the name of the file that is uploaded last.
        pattern: that of the names of checkpoints, as for `fnmatch`.
    """

    def __init__(self, path: StrPath, record: str, pattern: str) -> None:
        self.address, self.record, self.pattern = parse_address(path), record, pattern

    @property
    def folder(self) -> Path:
        """The local folder."""
        return local_folder(self.address)

    def files(self) -> list[Address]:
        """All files of checkpoints, complete or not."""
        from embeddings.support.remote.copies import files_below

        try:
            return files_below(self.address, lambda parts: len(parts) > 1 and fnmatchcase(parts[0], self.pattern))
        except RemoteError as error:
            raise OutputError(str(error)) from None

    def names(self) -> list[str]:
        """The complete checkpoints, oldest first."""
        parts = [file.relative_to(self.address).split("/") for file in self.files()]
        return sorted(one[0] for one in parts if one[1:] == [self.record])

    def check(self) -> None:
        """Refuse an address that cannot be written."""
        from embeddings.support.remote.writing import check_remote_output

        check_remote_output(str(self.address), force=True)

    def fetch(self, name: str) -> Path:
        """Copy a checkpoint to the local folder."""
        from embeddings.support.remote.copies import local_copy

        target = path_below(self.folder, name)
        try:
            source = local_copy(str(self.address.child(name)))
        except RemoteError as error:
            raise FormatError(str(error)) from None
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
        return target

    def upload(self, folder: Path) -> None:
        """Write a checkpoint of the local folder to the store."""
        from embeddings.support.remote.writing import upload_folder

        try:
            upload_folder(folder, self.address.child(folder.name), force=True)
        except RemoteError as error:
            raise OutputError(str(error)) from None

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
        from embeddings.support.remote.retry import attempt
        from embeddings.support.remote.store import arrow_store

        with suppress(EmbeddingsError):
            for file in sorted(files, key=lambda file: file.name != self.record):
                attempt(file, partial(arrow_store(file).writer.delete_file, file.store_path), writes=True)
