"""Checks of names and files from untrusted sources: object stores, records, folders, other machines.

`path_below` is the only way from a name in an object store, in a record or of another machine to a local path.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PureWindowsPath

from embeddings.errors import EmbeddingsError, FormatError, SettingError, marked


@contextmanager
def format_errors(place: object) -> Iterator[None]:
    """Turn whatever the content of a file makes a reader raise into one line, a FormatError that begins with `place`.

    Of the package's own errors these are those of a value that does not fit; others, such as that a library is not
    installed, are not about the file.
    """
    try:
        yield
    except FormatError as error:
        # an inner reader has named the file already
        if str(place) in str(error):
            raise
        raise FormatError(f"{place}: {marked(error)}") from None
    except EmbeddingsError as error:
        if not isinstance(error, SettingError):
            raise
        raise FormatError(f"{place} is broken: {marked(error)}") from None
    except Exception as error:  # libraries raise almost anything
        problem = "cannot be read" if getattr(error, "strerror", None) else "is truncated or broken"
        kind = "" if isinstance(error, OSError | ValueError) else f"{type(error).__name__}: "
        reason = " ".join(f"{kind}{getattr(error, 'strerror', None) or error}".split())
        raise FormatError(f"{place} {problem}: {reason:.200}") from error


def check_name(name: str, *, is_local: bool = True) -> list[str]:
    """Return the parts of a name, which slashes separate.

    Arguments:
        is_local: whether the name becomes a local path, on any system; otherwise it stays one of an object store.

    Raises:
        FormatError: the name may lead out of its folder.
    """
    parts = name.split("/")
    for part in parts:
        problem = None
        if part in (".", ".."):
            problem = f"the part {part!r}"
        elif not part:
            problem = "an empty part"
        elif "\0" in part:
            problem = "a NUL character"
        # on any system: the folder may be copied to Windows, where a backslash or a drive leads elsewhere
        elif is_local and PureWindowsPath(part).name != part:
            problem = "a backslash" if "\\" in part else f"the drive {PureWindowsPath(part).drive!r}"
        if problem is not None:
            raise FormatError(f"the file name {name!r:.200} is not safe: it has {problem}")
    return parts


def path_below(folder: Path, name: str) -> Path:
    """Return the path of a file or folder below `folder`.

    Arguments:
        name: an untrusted name relative to `folder`, with slashes.

    Raises:
        FormatError: as `check_name`; links lead out of the folder; or it is a pipe or device, or cannot be a path.
    """
    path = folder.joinpath(*check_name(name))
    # resolving follows links, so that one in the middle of the path cannot lead out either
    try:
        is_inside = path.resolve().is_relative_to(folder.resolve())
        with suppress(FileNotFoundError):
            path.stat()  # since Python 3.13, resolve() ignores these errors
        check_no_stream(path)
    except (OSError, ValueError, RuntimeError) as error:  # too long, not encodable, links in a circle, no permission
        reason = getattr(error, "strerror", None) or error
        raise FormatError(f"the file name {name!r:.200} cannot be used in {folder}: {reason}") from None
    if not is_inside:
        raise FormatError(f"{path} is a link that leads out of {folder}; copy the file or folder to its place")
    return path


def is_stream(path: Path) -> bool:
    """Whether a path is a pipe or device."""
    return path.exists() and not (path.is_file() or path.is_dir())


def check_no_stream(path: Path) -> None:
    """Refuse a pipe or device, as reading it may wait or never end; raises FormatError if it is one."""
    if is_stream(path):
        raise FormatError(f"{path} is a pipe or device, not a file")


SPARK_FILES = {"_SUCCESS", "_metadata", "_common_metadata", "_temporary"}  # records of Spark and of other writers
SPARK_PREFIXES = ("_started_", "_committed_")


def is_hidden(name: str) -> bool:
    """Whether a file or folder in the folder of a corpus is not a part of it: hidden, or a record of Spark's own."""
    return name.startswith((".", *SPARK_PREFIXES)) or name in SPARK_FILES
