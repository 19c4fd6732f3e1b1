"""Lines of small UTF-8 files."""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path

from embeddings.errors import FormatError
from embeddings.support.local_paths import local_path


def read_text_lines(path: Path, kind: str) -> list[str]:
    """Return the lines of a file without line ends or a byte order mark; `kind` names the file in messages."""
    try:
        data = local_path(path).read_bytes()
        if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # also the first bytes of UTF-32
            raise FormatError(f"{path} is not a {kind}: it is in UTF-16 or UTF-32; convert it to UTF-8")
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise FormatError(f"{path} cannot be read as a {kind}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not a {kind}: not UTF-8 at byte {error.start}") from None
    return [line.removesuffix("\r") for line in text.split("\n")]
