"""Memory that a worker shares with another one on the same machine: rows need not pass through Ray's object store.

The memory is a file without a name, which the system frees with the last process that maps it. So a worker can read
what another one wrote before it was lost. It is available on Linux.
"""

import mmap
import os
from contextlib import suppress
from typing import NamedTuple

import numpy as np

ALIGNMENT = 128  # bytes: two cache lines
TOKEN_BYTES = 16  # at the start of the memory, by which it is recognized
FILE_NAME = "embeddings-rows"


class LostMemoryError(Exception):
    """Rows are in the memory of a process that was lost."""


class SharedArray(NamedTuple):
    """Where an array is in shared memory."""

    offset: int
    shape: tuple[int, ...]
    dtype: str


class SharedMemory:
    """Memory of this process that others can map; `name` is empty if they cannot, and pages without data take no room.

    Arguments:
        sizes: bytes of the arrays that are allocated in it.
    """

    def __init__(self, sizes: list[int]) -> None:
        self.name, self.filled, self.start = "", ALIGNMENT, 0
        if not sizes:
            return
        size = ALIGNMENT + sum(aligned(one) for one in sizes)
        with suppress(AttributeError, OSError, ValueError):  # another system, or no room
            file = os.memfd_create(FILE_NAME)
            os.ftruncate(file, size)
            self.mapped = mmap.mmap(file, size)
            with suppress(AttributeError, OSError):
                self.mapped.madvise(mmap.MADV_HUGEPAGE)
            token = os.urandom(TOKEN_BYTES)
            self.mapped[:TOKEN_BYTES] = token
            self.start = np.frombuffer(self.mapped, np.uint8).ctypes.data
            self.name = f"/proc/{os.getpid()}/fd/{file}:{token.hex()}"

    def empty(self, shape: tuple[int, ...], dtype: type) -> np.ndarray:
        """An array of any values; in the memory of this process alone, if memory cannot be shared."""
        array: np.ndarray = np.empty(0 if self.name else shape, dtype)
        if self.name:
            count = int(np.prod(shape))
            array = np.frombuffer(self.mapped, dtype, count, self.filled).reshape(shape)
            self.filled += aligned(array.nbytes)
        return array

    def place_of(self, array: np.ndarray) -> SharedArray:
        """Where a contiguous part of an array is."""
        return SharedArray(array.ctypes.data - self.start, array.shape, array.dtype.str)


class ForeignMemory:
    """The shared memory of another process; `name` is empty if it cannot be mapped."""

    def __init__(self, name: str) -> None:
        self.name, (path, _, token) = "", name.partition(":")
        with suppress(OSError, ValueError):
            if FILE_NAME not in os.readlink(path):  # of a process on another machine
                return
            file = os.open(path, os.O_RDONLY)
            try:
                self.mapped = mmap.mmap(file, 0, access=mmap.ACCESS_READ)
            finally:
                os.close(file)
            if self.mapped[:TOKEN_BYTES].hex() == token:
                self.name = name

    def array(self, place: SharedArray) -> np.ndarray:
        """An array in it."""
        count = int(np.prod(place.shape))
        return np.frombuffer(self.mapped, place.dtype, count, place.offset).reshape(place.shape)


def aligned(size: int) -> int:
    """A size, rounded up."""
    return -(-size // ALIGNMENT) * ALIGNMENT
