"""Small text files of users: lines in UTF-8."""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from pathlib import Path

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
