"""Lines of small UTF-8 files."""

from pathlib import Path

from embeddings.errors import FormatError


def read_text_lines(path: Path, kind: str) -> list[str]:
    """Return the lines of a file without line ends or a byte order mark; `kind` names the file in messages."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise FormatError(f"{path} cannot be read as a {kind}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not a {kind}: not UTF-8 at byte {error.start}") from None
    return [line.removesuffix("\r") for line in text.split("\n")]
