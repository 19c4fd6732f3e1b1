"""Plain bytes from any file: gzip, bzip2, zstd and xz are told by their first bytes, never by their name."""

import lzma
from collections.abc import Callable
from typing import IO, Any

from embeddings.corpora.sources import unreadable
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
    inner = xz(opened) if form == "xz" else arrow(opened, form)

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
    read: Read = stream.read
    return read


def xz(opened: Opened, block: int = 1 << 16) -> Read:
    """Decompression by the standard library, one xz stream after another, with bounded memory."""
    decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ)
    rest = b""

    def read(size: int) -> bytes:
        nonlocal decoder, rest
        while True:
            if decoder.eof:
                rest = (decoder.unused_data or opened.read(block)).lstrip(b"\0")  # padding between streams
                if not rest and not (rest := opened.read(block).lstrip(b"\0")):
                    return b""
                decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ)
            elif decoder.needs_input and not rest and not (rest := opened.read(block)):
                raise EOFError("it ends before its end marker")
            data, rest = decoder.decompress(rest, size), b""
            if data:
                return data

    return read
