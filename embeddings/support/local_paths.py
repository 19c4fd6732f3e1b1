"""Where files are opened: local paths stay as they are, remote files and folders are copied."""

from collections.abc import Sequence
from pathlib import Path

from embeddings.support.remote_address import StrPath, is_remote


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
    from embeddings.support.remote_copies import local_copy

    return local_copy(path, companions)
