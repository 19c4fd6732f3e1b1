"""Local paths of files that may be remote."""

import os
from collections.abc import Sequence
from pathlib import Path

from embeddings.errors import OutputError
from embeddings.support.remote.address import StrPath, display_name, is_remote


def local_path(path: StrPath, companions: Sequence[str] = ()) -> Path:
    """Return the path of a local file or folder, or of a local copy of a remote one.

    Arguments:
        companions: endings of files that belong to a file, such as ".txt" for the words of a matrix; they replace its
            ending or follow it, and are copied too where they exist.

    Raises:
        RemoteError: there is no such remote file or folder, or it cannot be read.
    """
    if not is_remote(path):
        return Path(path)
    from embeddings.support.remote.copies import local_copy

    return local_copy(path, companions)


def may_exist(path: StrPath) -> bool:
    """Whether there is a local file or folder at a path, or it is an address, which is not looked up."""
    return is_remote(path) or os.path.lexists(path)


def check_local(path: StrPath, contents: str) -> None:
    """Refuse a remote path for what is written bit by bit, such as "log" or "folder of a search".

    Raises OutputError if the path is remote.
    """
    if is_remote(path):
        raise OutputError(f"{display_name(path)} is remote, but a {contents} must be local; choose a local path")
