"""Decompression of gzip, bzip2, zstd and xz, which are detected by their first bytes."""

import bz2
import lzma
from typing import IO, Any

from embeddings.corpora.reading.peekable_stream import PeekableStream, Read
from embeddings.corpora.reading.sources import read_error
from embeddings.errors import CorpusError

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
    import pyarrow

    inner: Any = pyarrow.CompressedInputStream(pyarrow.PythonFile(stream, mode="r"), kind)

    def read(size: int) -> bytes:
        try:
            data: bytes = inner.read(size)
        except pyarrow.ArrowException as error:  # some are not OSErrors
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
