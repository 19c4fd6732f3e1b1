"""Which files of a folder belong to a corpus, and local copies of remote files."""

from collections.abc import Sequence
from pathlib import Path

from embeddings.errors import OutputError
from embeddings.support.remote_address import StrPath, display_name, is_remote

SPARK_FILES = {"_SUCCESS", "_metadata", "_common_metadata", "_temporary"}  # records of Spark and of other writers
SPARK_PREFIXES = ("_started_", "_committed_")


def is_hidden(name: str) -> bool:
    """Whether a file or folder in the folder of a corpus is not a part of it: hidden, or a record of Spark's own."""
    return name.startswith((".", *SPARK_PREFIXES)) or name in SPARK_FILES


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


def check_local(path: StrPath, contents: str) -> None:
    """Refuse a remote path for what is written bit by bit, such as "log" or "folder of a search".

    Raises:
        OutputError: the path is remote.
    """
    if is_remote(path):
        raise OutputError(f"{display_name(path)} is remote, but a {contents} must be local; choose a local path")
