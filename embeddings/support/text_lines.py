"""Small text files of users: lines in UTF-8, and TOML."""

import os
import tomllib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from pathlib import Path
from typing import Any

from embeddings.errors import FormatError
from embeddings.support.foreign_files import format_errors
from embeddings.support.local_paths import local_path

MAX_LINE_BYTES = 1 << 20


def read_text_lines(path: Path, kind: str) -> list[str]:
    """Return the lines of a file without line ends or a byte order mark; `kind` names the file in messages.

    Raises FormatError if it cannot be read, is not UTF-8, or has only blank lines.
    """
    with format_errors(f"{path} ({kind})"), local_path(path).open("rb") as stream:
        data = stream.read(MAX_LINE_BYTES)
        is_endless = len(data) == MAX_LINE_BYTES and b"\n" not in data  # such as /dev/zero
        if not data.strip() or is_endless or data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # of UTF-32, too
            raise FormatError(f"expected text in UTF-8 with lines below {MAX_LINE_BYTES} bytes")
        getincrementaldecoder("utf-8")().decode(data)  # which refuses /dev/urandom
        text = (data + stream.read()).decode("utf-8-sig")
    return [line.removesuffix("\r") for line in text.split("\n")]


MAX_LENGTH, MAX_LINE_LENGTH = 1 << 16, 1 << 12  # characters


def read_toml(path: str | os.PathLike[str], kind: str) -> dict[str, Any]:
    """The content of a file; `kind` names it in messages.

    Raises FormatError if it cannot be read, is not TOML, or is longer than such files are.
    """
    with format_errors(f"{path} ({kind} in TOML)"), open(local_path(path), "rb") as stream:  # it may be a device
        data = stream.read(4 * MAX_LENGTH + 1)  # bytes, so many that the length of a longer text is refused
        text = data.decode("utf-8", "strict" if len(data) <= 4 * MAX_LENGTH else "replace")
        longest = max(map(len, text.split("\n")))
        if len(text) > MAX_LENGTH or longest > MAX_LINE_LENGTH:  # memory grows with the square of a key's parts
            sizes = f"{MAX_LENGTH} characters, {MAX_LINE_LENGTH} in a line"
            raise FormatError(f"it has more than {sizes}")
        return tomllib.loads(text)
