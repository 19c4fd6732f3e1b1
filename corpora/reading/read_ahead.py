"""A stream that a thread of its own reads, so that decompression does not delay what is done with its bytes."""

from queue import Queue
from threading import Event, Thread
from typing import Self

from embeddings.corpora.reading.peekable_stream import MAX_READ, Read

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
