"""Reading remote files: in order with read-ahead, or at any position."""

import io
import time
from collections.abc import Iterator
from itertools import chain, pairwise
from threading import Event
from typing import Any

from embeddings.errors import RemoteError
from embeddings.support.remote.address import Address
from embeddings.support.remote.requests import (
    ATTEMPTS,
    CHANGED,
    FIRST_WAIT,
    PermanentError,
    attempt,
    map_ahead,
    may_pass,
    reason,
)
from embeddings.support.remote.store import RemoteStatus, WebStore, file_status, open_store

PART_SIZE = 1 << 23  # bytes of a range
FIRST_PART = 1 << 16  # of the first range: often only the start of a file is read
N_AHEAD = 4  # ranges that are read at a time


class RemoteReader(io.RawIOBase):
    """Reads a file, or the bytes from `start` up to `stop`, in order; several ranges are fetched ahead of the reader.

    A range is requested again if its connection drops. Without ranges, the file is requested again from its start,
    and what was read already is skipped.

    Raises:
        RemoteError: the file does not exist or cannot be read, or changes while it is read.
    """

    def __init__(self, address: Address, start: int = 0, stop: int | None = None) -> None:
        self.address, self.status = address, file_status(address)
        self.store = open_store(address)
        self.is_closed = Event()
        self.data, self.offset = b"", 0
        size = self.status.size
        if self.status.has_ranges and size is not None:
            self.parts = self.fetch_ahead(start, size if stop is None else min(stop, size))
        else:
            self.parts = self.read_whole(start, stop)

    def readable(self) -> bool:
        """Return true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes into a buffer; 0 only at the end."""
        while self.offset == len(self.data):
            part = next(self.parts, None)
            if part is None:
                return 0
            self.data, self.offset = part, 0
        size = min(len(buffer), len(self.data) - self.offset)
        buffer[:size] = self.data[self.offset : self.offset + size]
        self.offset += size
        return size

    def fetch_ahead(self, start: int, stop: int) -> Iterator[bytes]:
        """Yield the ranges of the file in order, while threads fetch the next ranges."""
        borders = chain([start], range(start + FIRST_PART, stop, PART_SIZE), [stop])  # lazy: a server names the size
        ranges = pairwise(borders if stop > start else [])
        if (first := next(ranges, None)) is not None:
            yield self.fetch(*first)
        yield from map_ahead(lambda borders: self.fetch(*borders), ranges, N_AHEAD)
        if file_status(self.address).identity != self.status.identity:
            raise RemoteError(self.address, CHANGED)

    def fetch(self, start: int, stop: int) -> bytes:
        """Return the bytes of a range."""

        def read_range() -> bytes:
            if self.is_closed.is_set():
                raise PermanentError("was closed while it was read")
            return self.store.read_range(self.address, start, stop, self.status)

        return attempt(self.address, read_range)

    def read_whole(self, start: int, stop: int | None) -> Iterator[bytes]:
        """Yield the bytes of a file without ranges."""
        assert isinstance(self.store, WebStore)  # object stores have ranges
        position, attempts = start, 0
        while True:
            attempts += 1
            skip, room = position, None if stop is None else stop - position
            try:
                for part in self.store.stream(self.address, self.status):
                    data = part[skip:][:room]
                    skip = max(0, skip - len(part))
                    room = None if room is None else room - len(data)
                    position += len(data)
                    if data:
                        attempts = 1
                        yield data
                    if room == 0:
                        return
                return
            except OSError as error:
                if attempts >= ATTEMPTS or not may_pass(error):
                    raise RemoteError(self.address, reason(error)) from None
            time.sleep(FIRST_WAIT * attempts)

    def close(self) -> None:
        """Close the reader; threads make no further attempts to fetch ranges."""
        self.is_closed.set()
        super().close()


class RandomReader(io.RawIOBase):
    """Reads a file with ranges at any position."""

    def __init__(self, address: Address, status: RemoteStatus) -> None:
        assert status.size is not None
        self.address, self.status, self.size = address, status, status.size
        self.store, self.position = open_store(address), 0

    def readable(self) -> bool:
        """Return true."""
        return True

    def seekable(self) -> bool:
        """Return true."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a position."""
        self.position = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.position, io.SEEK_END: self.size}[whence])
        return self.position

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, which is filled except at the end of the file."""
        start, stop = self.position, min(self.position + len(buffer), self.size)
        if stop <= start:
            return 0
        data = attempt(self.address, lambda: self.store.read_range(self.address, start, stop, self.status))
        buffer[: len(data)] = data
        self.position = stop
        return len(data)
