"""A byte stream whose first bytes can be inspected before it is read."""

from collections.abc import Callable

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
