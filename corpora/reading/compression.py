"""Decompression of gzip, bzip2, zstd and xz, which are detected by their first bytes."""

import bz2
import io
import lzma
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

from embeddings.corpora.reading.sources import read_error
from embeddings.errors import CorpusError, FormatError, RemoteError, marked
from embeddings.support.arrow import pa
from embeddings.support.local_paths import local_path

HEAD = 8192  # bytes, by default
MAX_READ = 1 << 20  # bytes requested at once, whatever size the header of a file claims

Read = Callable[[int], bytes]  # returns up to the given number of bytes, b"" only at the end


class PeekableStream:
    """Reads a stream from its start after `head` was inspected, and counts the bytes read."""

    closed = False  # for pyarrow: whoever opened the stream closes it

    def __init__(self, read: Read, name: str, head_size: int = HEAD) -> None:
        self.source = read
        self.name = name
        self.buffer, self.bytes_read = b"", 0
        self.head = self.buffer = self.read(head_size)
        self.bytes_read = 0

    def read_some(self, size: int) -> bytes:
        """Return up to `size` bytes; b"" only at the end."""
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        data = data or self.source(min(size, MAX_READ))
        self.bytes_read += len(data)
        return data

    def read(self, size: int = HEAD) -> bytes:
        """Return `size` bytes; fewer only at the end."""
        parts = []
        while size and (data := self.read_some(size)):
            parts.append(data)
            size -= len(data)
        return b"".join(parts)

    def close(self) -> None:
        """Do nothing: see `closed`."""


MAGIC = {
    b"\x1f\x8b\x08": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\x00": "xz",
}
MAX_MAGIC = max(map(len, MAGIC))


def detect_compression(head: bytes) -> str | None:
    """Return the name of the compression that starts with these bytes; None for plain data."""
    return next((name for magic, name in MAGIC.items() if head.startswith(magic)), None)


def peek(stream: IO[bytes], name: str) -> PeekableStream:
    """Wrap an open file so that its compression can be detected; read errors become CorpusErrors that name it."""

    def read(size: int) -> bytes:
        try:
            return stream.read(size)
        except OSError as error:
            raise read_error(name, error) from error

    return PeekableStream(read, name, MAX_MAGIC)


def decompress(stream: PeekableStream) -> Read:
    """Return a function that reads up to a number of decompressed bytes, of all members in turn, and b"" at the end."""
    kind = detect_compression(stream.head)
    if kind is None:
        return stream.read_some
    inner = stdlib_reader(stream, kind) if kind in ("xz", "bz2") else arrow_reader(stream, kind)

    def read(size: int) -> bytes:
        try:
            return inner(size)
        except (OSError, lzma.LZMAError, EOFError) as error:
            reason = " ".join(str(error).split())
            raise CorpusError(f"{stream.name} is truncated or corrupt {kind} data: {reason}") from error

    return read


def arrow_reader(stream: PeekableStream, kind: str) -> Read:
    """Decompress with pyarrow, which refuses truncated streams and trailing garbage."""
    inner: Any = pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), kind)

    def read(size: int) -> bytes:
        try:
            data: bytes = inner.read(size)
        except pa.ArrowException as error:  # some are not OSErrors
            raise OSError(str(error)) from error
        return data

    return read


def stdlib_reader(stream: PeekableStream, kind: str, block: int = 1 << 16) -> Read:
    """Decompress with the standard library, one member after another, in bounded memory."""
    new_decoder: Any = bz2.BZ2Decompressor if kind == "bz2" else lzma.LZMADecompressor
    decoder = new_decoder()
    data = b""

    def read(size: int) -> bytes:
        nonlocal decoder, data
        while True:
            if decoder.eof:
                data = next_member(stream, decoder.unused_data, kind, block)
                if not data:
                    return b""
                decoder = new_decoder()
            elif decoder.needs_input and not data and not (data := stream.read_some(block)):
                raise EOFError("it ends before its end marker")
            output, data = decoder.decompress(data, size), b""
            if output:
                return bytes(output)

    return read


def next_member(stream: PeekableStream, rest: bytes, kind: str, block: int) -> bytes:
    """Return the first bytes of the next member of a stream, b"" if there is none; xz may pad with zeros."""
    while data := rest or stream.read_some(block):
        rest = b""
        if data := data.lstrip(b"\0") if kind == "xz" else data:
            return data
    return b""


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
        raise FormatError(marked(error)) from None
    except FileNotFoundError:
        raise FormatError(f"{path} does not exist") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise FormatError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error


class DecompressedFile(io.RawIOBase):
    """The decompressed content of a file, sequential only; truncated or corrupt data raise FormatError."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:

        try:
            self.inner = decompress(peek(stream, str(path)))
        except CorpusError as error:
            raise FormatError(marked(error)) from error

    def readable(self) -> bool:
        """Return true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read one block into the buffer."""
        try:
            data = self.inner(len(buffer))
        except CorpusError as error:
            raise FormatError(marked(error)) from error
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
