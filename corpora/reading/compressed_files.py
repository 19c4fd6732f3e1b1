"""The bytes of a vector file, decompressed where they are compressed, without ever holding more than a block."""

import io
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from embeddings.errors import CorpusError, FormatError

SNIFFED = 1 << 16
BUFFER = 1 << 20


def opened(path: Path) -> BinaryIO:
    """The file as it lies there, opened for reading bytes.

    Raises:
        FormatError: it is missing, a folder, a pipe or device (which cannot be read twice), or may not be read.
    """
    try:
        kind = path.stat().st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise FormatError(f"{path} is a pipe or device, and vectors are read from files; save it to one first")
        return path.open("rb")
    except FileNotFoundError:
        raise FormatError(f"{path} does not exist") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise FormatError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error


class Decompressed(io.RawIOBase):
    """A compressed file as the bytes it stands for, in order only."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        from embeddings.corpora.reading.compression import Opened, decompressed

        try:
            self.inner = decompressed(Opened(stream, str(path)))
        except CorpusError as error:
            raise FormatError(str(error)) from error

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer as far as one block goes.

        Raises:
            FormatError: the compressed data are cut short or broken.
        """
        try:
            data = self.inner(len(buffer))
        except CorpusError as error:
            raise FormatError(str(error)) from error
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def plain(path: Path) -> Iterator[io.BufferedReader]:
    """The bytes of a file, decompressed if gzip, bzip2, zstd or xz begins it.

    Raises:
        FormatError: as `opened`; and while reading, where compressed data are broken.
    """
    try:
        with opened(path) as stream:
            if compression_of(stream) is None:
                yield io.BufferedReader(stream, BUFFER)  # type: ignore[arg-type]  # any raw or buffered stream will do
            else:
                yield io.BufferedReader(Decompressed(path, stream), BUFFER)
    except OSError as error:  # of a disk that fails
        raise FormatError(f"{path} cannot be read: {error.strerror or error}") from error


def compression_of(stream: BinaryIO) -> str | None:
    """The compression that begins a file, whose place stays at its start; None for a plain one."""
    from embeddings.corpora.reading.compression import LONGEST_MAGIC, compression

    start = stream.read(LONGEST_MAGIC)
    stream.seek(0)
    return compression(start)


def compressed(path: Path) -> str | None:
    """The compression of a file, None if it is plain; then its size vouches for what it can hold."""
    with opened(path) as stream:
        return compression_of(stream)


def start_of(path: Path, size: int = SNIFFED) -> bytes:
    """The first bytes of a file, decompressed."""
    with plain(path) as stream:
        return stream.read(size)
