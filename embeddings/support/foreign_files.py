"""Files that come from elsewhere: their names, and what is in their place.

`path_below` is the only way from a name in an object store, in a record or of another machine to a local path. A test
reads the source for others.
"""

from pathlib import Path, PureWindowsPath

from embeddings.errors import FormatError


def check_name(name: str) -> list[str]:
    """Return the parts of a name, which slashes separate.

    Raises:
        FormatError: on some system the name may lead out of its folder.
    """
    parts = name.split("/")
    if "\0" in name or any(part == ".." or PureWindowsPath(part).name != part or not part for part in parts):
        raise FormatError(
            f"the file name {name!r:.200} is not safe: it has an empty part, '.', '..', a backslash, a drive or NUL"
        )
    return parts


def path_below(folder: Path, name: str) -> Path:
    """Return the path of a file or folder below `folder`.

    Arguments:
        name: relative to `folder`, with slashes; it comes from elsewhere, and is not trusted.

    Raises:
        FormatError: as `check_name`; links lead out of the folder; or it is a pipe or device.
    """
    path = folder.joinpath(*check_name(name))
    if not path.resolve().is_relative_to(folder.resolve()):
        raise FormatError(f"{path} is a link that leads out of {folder}; copy the file or folder to its place")
    check_no_stream(path)
    return path


def is_stream(path: Path) -> bool:
    """Whether a path is a pipe or device."""
    return path.exists() and not (path.is_file() or path.is_dir())


def check_no_stream(path: Path) -> None:
    """Refuse a pipe or device, as reading it may wait or never end.

    Raises:
        FormatError: it is one.
    """
    if is_stream(path):
        raise FormatError(f"{path} is a pipe or device, not a file")
