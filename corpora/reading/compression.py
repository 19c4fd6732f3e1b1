"""Plain bytes from any file: gzip, bzip2, zstd and xz are told by their first bytes, never by their name."""

import bz2
import lzma
from collections.abc import Callable
from typing import IO, Any

from embeddings.corpora.reading.sources import unreadable
from embeddings.errors import CorpusError

MAGIC = {
    b"\x1f\x8b\x08": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\x00": "xz",
}
LONGEST_MAGIC = max(map(len, MAGIC))

Read = Callable[[int], bytes]


class Opened:
    """A stream whose first bytes were looked at: it reads from its start, and counts what was read."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self.stream = stream
        self.name = name
        self.bytes_read = 0
        self.head = b""
        while len(self.head) < LONGEST_MAGIC and (more := self.more(LONGEST_MAGIC - len(self.head))):
            self.head += more
        self.start = self.head

    def more(self, size: int) -> bytes:
        """Up to `size` bytes from the system.

        Raises:
            CorpusError: it reports an error; the message names the stream.
        """
        try:
            return self.stream.read(size)
        except OSError as error:
            raise unreadable(self.name, error) from error

    def read(self, size: int = LONGEST_MAGIC) -> bytes:
        """Up to `size` bytes; empty at the end of the stream only."""
        data, self.head = self.head[:size], self.head[size:]
        data = data or self.more(size)
        self.bytes_read += len(data)
        return data

    @property
    def closed(self) -> bool:
        """Always open to pyarrow: closing the stream is left to whoever opened it."""
        return False

    def close(self) -> None:
        """Nothing: see `closed`."""


def compression(start: bytes) -> str | None:
    """The name of the compression these first bytes of a stream tell of; None if it is plain."""
    return next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)


def decompressed(opened: Opened) -> Read:
    """A function that reads up to so many decompressed bytes, over all members, and b"" at the end.

    Raises (from that function):
        CorpusError: the compressed stream is cut short or broken; the message names it.
    """
    form = compression(opened.start)
    if form is None:
        return opened.read
    inner = standard(opened, form) if form in ("xz", "bz2") else arrow(opened, form)

    def read(size: int) -> bytes:
        try:
            return inner(size)
        except (OSError, lzma.LZMAError, EOFError) as error:
            reason = " ".join(str(error).split())
            raise CorpusError(f"{opened.name} is truncated or corrupt {form} data: {reason}") from error

    return read


def arrow(opened: Opened, form: str) -> Read:
    """Decompression by pyarrow, which refuses a truncated stream and rubbish after its end."""
    import pyarrow

    stream: Any = pyarrow.CompressedInputStream(pyarrow.PythonFile(opened, mode="r"), form)

    def read(size: int) -> bytes:
        try:
            data: bytes = stream.read(size)
        except pyarrow.ArrowException as error:  # some are no OSError
            raise OSError(str(error)) from error
        return data

    return read


def standard(opened: Opened, form: str, block: int = 1 << 16) -> Read:
    """Decompression by the standard library, one member after another, with bounded memory."""
    fresh: Any = bz2.BZ2Decompressor if form == "bz2" else lzma.LZMADecompressor
    decoder = fresh()
    rest = b""

    def read(size: int) -> bytes:
        nonlocal decoder, rest
        while True:
            if decoder.eof:
                rest = next_member(opened, decoder.unused_data, form, block)
                if not rest:
                    return b""
                decoder = fresh()
            elif decoder.needs_input and not rest and not (rest := opened.read(block)):
                raise EOFError("it ends before its end marker")
            data, rest = decoder.decompress(rest, size), b""
            if data:
                return bytes(data)

    return read


def next_member(opened: Opened, unused: bytes, form: str, block: int) -> bytes:
    """The first bytes of the next member of the stream, b"" if there is none; xz may put zeros between."""
    while data := unused or opened.read(block):
        unused = b""
        if data := data.lstrip(b"\0") if form == "xz" else data:
            return data
    return b""
