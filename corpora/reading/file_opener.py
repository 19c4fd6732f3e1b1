"""Opens files for reading in order; compressed files are decompressed in threads of their own, several at a time."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from queue import Queue
from threading import Event, Thread
from typing import NamedTuple, Self

from embeddings.corpora.reading.compression import MAX_READ, PeekableStream, Read, decompress, detect_compression, peek
from embeddings.corpora.reading.sources import File, Source
from embeddings.errors import CorpusError

MAX_PARTS = 8  # of MAX_READ bytes, in memory at a time


class ReadAhead:
    """Reads a stream to its end, or until it is closed; an error is raised where the stream raises it.

    A regular file is required: reading a pipe may block, and then the thread could not be ended.
    """

    def __init__(self, source: Read) -> None:
        self.source = source
        self.parts: Queue[bytes | BaseException] = Queue(MAX_PARTS)
        self.is_closed = Event()
        self.part = b""
        self.start = 0
        self.is_end = False
        self.thread = Thread(target=self.fill, name="decompression", daemon=True)

    def fill(self) -> None:
        """Read parts until the end."""
        part: bytes | BaseException = b"-"
        while part and not isinstance(part, BaseException) and not self.is_closed.is_set():
            try:
                part = self.source(MAX_READ)
            except BaseException as error:
                part = error
            self.parts.put(part)

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; b"" only at the end."""
        if self.start == len(self.part) and not self.is_end:
            part = self.parts.get()
            self.is_end = isinstance(part, BaseException) or not part
            if isinstance(part, BaseException):
                raise part
            self.part, self.start = part, 0
        data = self.part[self.start : self.start + size]
        self.start += len(data)
        return data

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_closed.set()
        while self.thread.is_alive():
            while not self.parts.empty():  # so that the thread is not blocked
                self.parts.get()
            self.thread.join(0.01)


MAX_AHEAD = 8  # files, of each of which `ReadAhead` keeps up to 9 MiB


class OpenFile(NamedTuple):
    """A file as stored, and what reads its decompressed content."""

    raw: PeekableStream
    read: Read


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
                content = stack.enter_context(open_file(file, reads_ahead=self.threads > 1))
            while self.coming and len(self.opened) < self.threads - 1:
                following = self.coming.popleft()
                if following is not file:
                    with suppress(CorpusError), ExitStack() as opening:
                        ahead = opening.enter_context(open_file(following, reads_ahead=True))
                        self.opened.append((following, ahead, opening.pop_all()))
            yield content

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self.opened:
            self.opened.popleft()[2].close()


@contextmanager
def open_file(file: File, *, reads_ahead: bool) -> Iterator[OpenFile]:
    """Open a file; its content is decompressed in another thread if it is `reads_ahead`, and the file is regular."""
    with file.open_stream() as stream, ExitStack() as stack:
        raw = peek(stream, file.name)
        read = decompress(raw)
        if reads_ahead and file.is_regular and detect_compression(raw.head):
            read = stack.enter_context(ReadAhead(read)).read
        yield OpenFile(raw, read)
