"""Decompression of gzip, bzip2, zstd and xz, which are detected by their first bytes, several files at a time."""

import bz2
import io
import lzma
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, Self

from embeddings.corpora.reading.bzip2_blocks import Read, decompress_blocks
from embeddings.corpora.reading.sources import File, Source, read_errors
from embeddings.errors import CorpusError, FormatError, marked
from embeddings.support.arrow import pa
from embeddings.support.local_paths import local_path

HEAD = 8192  # bytes, by default
MAX_READ = 1 << 20  # bytes requested at once, whatever size the header of a file claims


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
    """Return the name of the compression of data by its first bytes; None for plain data."""
    return next((name for magic, name in MAGIC.items() if head.startswith(magic)), None)


def peek(stream: IO[bytes], name: str) -> PeekableStream:
    """Wrap an open file so that its compression can be detected; read errors become CorpusErrors that name it."""

    def read(size: int) -> bytes:
        with read_errors(name):
            return stream.read(size)

    return PeekableStream(read, name, MAX_MAGIC)


def decompress(stream: PeekableStream) -> Read:
    """Return a function that reads up to a number of decompressed bytes, of all members in turn, and b"" at the end."""
    kind = detect_compression(stream.head)
    if kind is None:
        return stream.read_some
    if kind in ("xz", "bz2"):
        inner = stdlib_reader(stream, kind)
    else:  # pyarrow refuses truncated streams and trailing garbage
        inner = pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), kind).read

    def read(size: int) -> bytes:
        try:
            return inner(size)
        except (OSError, lzma.LZMAError, EOFError, pa.ArrowException) as error:
            reason = " ".join(str(error).split())
            raise CorpusError(f"{stream.name} is truncated or corrupt {kind} data: {reason}") from error

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
                rest = decoder.unused_data
                while not data and (rest := rest or stream.read_some(block)):
                    data, rest = rest.lstrip(b"\0") if kind == "xz" else rest, b""  # xz may pad with zeros
                if not data:
                    return b""
                decoder = new_decoder()
            elif decoder.needs_input and not data and not (data := stream.read_some(block)):
                raise EOFError("it ends before its end marker")
            output, data = decoder.decompress(data, size), b""
            if output:
                return bytes(output)

    return read


MAX_PARTS = 8  # of MAX_READ bytes, in memory at a time


class ReadAhead:
    """Reads a stream in a thread, some parts ahead, until it is closed; an error is raised where the stream raises it.

    A regular file is required: reading a pipe may block, and then the thread could not be ended.
    """

    def __init__(self, source: Read) -> None:
        self.source = source
        self.pool = ThreadPoolExecutor(1, "decompression")
        self.parts: deque[Future[bytes]] = deque()
        self.part = memoryview(b"")

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; b"" only at the end."""
        if not self.part and self.parts:
            self.part = memoryview(self.parts.popleft().result())
            if self.part:
                self.parts.append(self.pool.submit(self.source, MAX_READ))
        data, self.part = bytes(self.part[:size]), self.part[size:]
        return data

    def __enter__(self) -> Self:
        self.parts.extend(self.pool.submit(self.source, MAX_READ) for _ in range(MAX_PARTS))
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(cancel_futures=True)


MAX_AHEAD = 8  # files, of each of which `ReadAhead` keeps up to 9 MiB


OpenFile = tuple[PeekableStream, Read]  # a file as stored, and what reads its decompressed content


class FileOpener:
    """Opens files in the order of the sources.

    Arguments:
        sources: those that are going to be read; of these, the next local files are opened ahead.
        threads: the number of compressed files that are decompressed at a time; with one thread, where they are read.
    """

    def __init__(self, sources: Sequence[Source] = (), threads: int = 1) -> None:
        self.threads = min(threads, MAX_AHEAD)
        self.coming = deque(source for source in sources if type(source) is File and source.is_regular)
        self.opened: deque[tuple[File, OpenFile, ExitStack]] = deque()  # ahead, and what closes them

    @contextmanager
    def open(self, file: File) -> Iterator[OpenFile]:
        """Open a file, and files after it; raises CorpusError if the first fails, others are left for their turn."""
        with ExitStack() as stack:
            if self.opened and self.opened[0][0] is file:
                _, content, opened = self.opened.popleft()
                stack.push(opened)
            else:
                if self.coming and self.coming[0] is file:
                    self.coming.popleft()
                # with files to come, these are decompressed at the same time instead of blocks of one file
                threads = 1 if self.coming else self.threads  # of which the next files need some
                content = stack.enter_context(open_file(file, reads_ahead=self.threads > 1, threads=threads))
            while self.coming and len(self.opened) < self.threads - 1:
                following = self.coming.popleft()
                # a file that cannot be opened is reported in its turn, after the text before it
                with suppress(CorpusError), ExitStack() as opening:
                    ahead = opening.enter_context(open_file(following, reads_ahead=True))
                    self.opened.append((following, ahead, opening.pop_all()))
            yield content

    @contextmanager
    def peek(self, file: File) -> Iterator[PeekableStream]:
        """Open a file to inspect the head of its content; `open` then continues with it, as a pipe is read once."""
        with ExitStack() as stack:
            raw, content = stack.enter_context(self.open(file))
            data = PeekableStream(content, file.name)
            yield data
            self.opened.appendleft((file, (raw, data.read_some), stack.pop_all()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self.opened:
            self.opened.popleft()[2].close()


@contextmanager
def open_file(file: File, *, reads_ahead: bool, threads: int = 1) -> Iterator[OpenFile]:
    """Open a file; its content is decompressed in another thread if it is `reads_ahead`, and the file is regular.

    With several threads, several blocks of a local file of bzip2 are decompressed at a time.
    """
    with file.open_stream() as stream, ExitStack() as stack:
        raw = peek(stream, file.name)
        kind = None if file.is_plain_text else detect_compression(raw.head)
        read = decompress(raw) if kind else raw.read_some
        if kind == "bz2" and threads > 1 and type(file) is File and file.is_regular:

            def start_again() -> Read:
                stream.seek(0)
                return decompress(peek(stream, file.name))

            parts = decompress_blocks(raw.read, start_again, threads)
            stack.callback(parts.close)
            read = stack.enter_context(ReadAhead(lambda _: next(parts, b""))).read
        elif kind and reads_ahead and file.is_regular:
            read = stack.enter_context(ReadAhead(read)).read
        yield raw, read


HEAD_SIZE = 1 << 16
BUFFER_SIZE = 1 << 20


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading bytes, without decompression; of a remote file, its local copy."""
    with vector_file_errors(path):
        path = local_path(path)
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise FormatError(f"{path} is a pipe or device, but vectors are read from files; save it to a file first")
        return path.open("rb")


@contextmanager
def vector_file_errors(path: Path) -> Iterator[None]:
    """Convert errors of a file that cannot be read, or is not complete, to a FormatError of one line that names it."""
    try:
        with read_errors(str(path)):
            yield
    except CorpusError as error:
        raise FormatError(marked(error)) from error


class DecompressedFile(io.RawIOBase):
    """The decompressed content of a file, sequential only; truncated or corrupt data raise FormatError."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self.path = path
        with vector_file_errors(path):
            self.inner = decompress(peek(stream, str(path)))

    def readable(self) -> bool:
        """Return true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read one block into the buffer."""
        with vector_file_errors(self.path):
            data = self.inner(len(buffer))
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
    except OSError as error:  # for example, a failing disk; other errors may be of the caller
        with vector_file_errors(path):
            raise error from None


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
