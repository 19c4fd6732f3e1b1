"""The bytes of a vector file, decompressed block by block if it is compressed."""

import io
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from embeddings.errors import CorpusError, FormatError, RemoteError
from embeddings.support.local_paths import local_path

HEAD_SIZE = 1 << 16
BUFFER_SIZE = 1 << 20


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading bytes, without decompression; of a remote file, its local copy."""
    try:
        path = local_path(path)
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise FormatError(f"{path} is a pipe or device, but vectors are read from files; save it to a file first")
        return path.open("rb")
    except RemoteError as error:
        raise FormatError(str(error)) from None
    except FileNotFoundError:
        raise FormatError(f"{path} does not exist") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise FormatError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error


class DecompressedFile(io.RawIOBase):
    """The decompressed content of a file, sequential only; truncated or corrupt data raise FormatError."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        from embeddings.corpora.reading.compression import decompress, peek

        try:
            self.inner = decompress(peek(stream, str(path)))
        except CorpusError as error:
            raise FormatError(str(error)) from error

    def readable(self) -> bool:
        """Return true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read one block into the buffer."""
        try:
            data = self.inner(len(buffer))
        except CorpusError as error:
            raise FormatError(str(error)) from error
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def open_decompressed(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file for reading bytes, decompressed if it is gzip, bzip2, zstd or xz."""
    try:
        with open_binary(path) as stream:
            if stream_compression(stream) is None:
                yield io.BufferedReader(stream, BUFFER_SIZE)  # type: ignore[arg-type]  # any binary stream works
            else:
                yield io.BufferedReader(DecompressedFile(path, stream), BUFFER_SIZE)
    except OSError as error:  # for example, a failing disk
        raise FormatError(f"{path} cannot be read: {error.strerror or error}") from error


def stream_compression(stream: BinaryIO) -> str | None:
    """Return the compression of an open file, None if it is plain; the file is rewound."""
    from embeddings.corpora.reading.compression import MAX_MAGIC, detect_compression

    head = stream.read(MAX_MAGIC)
    stream.seek(0)
    return detect_compression(head)


def file_compression(path: Path) -> str | None:
    """Return the compression of a file, None if it is plain, so that its size limits its content."""
    with open_binary(path) as stream:
        return stream_compression(stream)


def read_head(path: Path, size: int = HEAD_SIZE) -> bytes:
    """Return the first bytes of a file, decompressed."""
    with open_decompressed(path) as stream:
        return stream.read(size)
