"""Small text files of users: lines in UTF-8, and TOML."""

import os
import tomllib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from pathlib import Path
from typing import Any

from embeddings.errors import FormatError
from embeddings.support.local_paths import local_path

MAX_LINE_BYTES = 1 << 20


def read_text_lines(path: Path, kind: str) -> list[str]:
    """Return the lines of a file without line ends or a byte order mark; `kind` names the file in messages."""
    try:
        with local_path(path).open("rb") as stream:
            data = stream.read(MAX_LINE_BYTES)
            if len(data) == MAX_LINE_BYTES and b"\n" not in data:  # such as /dev/zero, which never ends
                raise FormatError(f"{path} is not a {kind}: it has a line of more than {MAX_LINE_BYTES} bytes")
            if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # also the first bytes of UTF-32
                raise FormatError(f"{path} is not a {kind}: it is in UTF-16 or UTF-32; convert it to UTF-8")
            getincrementaldecoder("utf-8")().decode(data)  # or /dev/urandom
            data += stream.read()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise FormatError(f"{path} cannot be read as a {kind}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not a {kind}: not UTF-8 at byte {error.start}") from None
    return [line.removesuffix("\r") for line in text.split("\n")]


MAX_LENGTH, MAX_LINE_LENGTH = 1 << 16, 1 << 12  # characters


def read_toml(path: str | os.PathLike[str], kind: str) -> dict[str, Any]:
    """The content of a file; `kind` names it in messages.

    Raises FormatError if it cannot be read, is not TOML, or is longer than such files are.
    """
    try:
        with open(local_path(path), "rb") as stream:  # which may be a device
            data = stream.read(4 * MAX_LENGTH + 1)  # bytes, so many that the length of a longer text is refused
        text = data.decode("utf-8", "strict" if len(data) <= 4 * MAX_LENGTH else "replace")
        longest = max(map(len, text.split("\n")))
        if len(text) > MAX_LENGTH or longest > MAX_LINE_LENGTH:  # memory grows with the square of a key's parts
            sizes = f"{MAX_LENGTH} characters, {MAX_LINE_LENGTH} in a line"
            raise FormatError(f"{path} has more than {sizes}: it is not a {kind}")
        return tomllib.loads(text)
    except OSError as error:
        raise FormatError(f"cannot read {path}: {error.strerror or error}") from error
    except RecursionError:
        raise FormatError(f"{path} is not TOML: nested too deeply") from None
    except ValueError as error:
        raise FormatError(f"{path} is not TOML: {error}") from error
