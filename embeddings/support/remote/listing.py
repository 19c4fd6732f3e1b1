"""The files of remote folders and patterns."""

from fnmatch import fnmatchcase

from embeddings.errors import RemoteError
from embeddings.support.hidden_files import is_hidden
from embeddings.support.remote.address import MAGIC, WEB, Address
from embeddings.support.remote.copies import files_below
from embeddings.support.remote.retry import attempt
from embeddings.support.remote.store import absence, arrow_store


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
    """Whether the parts of a path match those of a pattern, or are below a folder that does."""
    if not steps:
        return True
    if steps[0] == "**":
        return any(matches(parts[start:], steps[1:]) for start in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], steps[0]) and matches(parts[1:], steps[1:])
