"""Errors of outputs, local and remote: what exists, what contains files of others, what cannot be written."""

import os
from collections.abc import Iterator, Set
from contextlib import contextmanager

from embeddings.errors import EmbeddingsError, OutputError, S


def exists_error(target: object) -> OutputError:
    """The error for an output that exists."""
    return OutputError(f"{target} exists; choose another path, or set {S.force(True)} to replace it")


def check_other_files(place: object, names: Set[str], contents: str) -> None:
    """Refuse to replace a folder that contains other files: `names`, which do not belong to `contents`."""
    if names:
        raise OutputError(
            f"{place} is not replaced: it contains {min(names)!r:.80}, which is not part of {contents}; "
            "remove this file or choose another folder"
        )


@contextmanager
def output_errors(target: object, scratch: str) -> Iterator[None]:
    """Turn an OSError of writing into an OutputError about `target`; paths of temporary files contain `scratch`."""
    try:
        yield
    except OSError as error:
        is_input = isinstance(error.filename, str | os.PathLike) and scratch not in os.fspath(error.filename)
        if isinstance(error, EmbeddingsError) or (is_input and error.filename2 is None):  # a rename has two names
            raise
        raise OutputError(f"{target} cannot be written: {error.strerror or error}") from error
