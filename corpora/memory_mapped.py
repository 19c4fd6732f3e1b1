"""Arrays on disk: one-dimensional .npy files written block by block and read back memory-mapped."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import FormatError, OutputError

HEADER = 128  # bytes; a fixed length, as the number of items is known at the end only
BLOCK = 1 << 18  # items renumbered at a time

Renumber = Callable[[NDArray[np.int32]], NDArray[np.int32]]


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """A block that writes the encoded corpus to `path`.

    Raises:
        OutputError: for every OSError in it, such as a full disk.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(
            f"the encoded corpus cannot be written to {path.parent}: {reason}; EMBEDDINGS_CACHE and TMPDIR move it"
        ) from error


class Column:
    """A growing .npy file of numbers of one type; `digest` identifies what was written."""

    def __init__(self, path: Path, dtype: Any) -> None:
        self.path = path
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self.count = 0
        self.digest = hashlib.sha256()
        with writing(path):
            self.file = path.open("w+b")
            self.file.write(bytes(HEADER))

    def append(self, items: NDArray[Any]) -> None:
        """Write these numbers behind those there are.

        Raises:
            OutputError: they cannot be written.
        """
        block = np.ascontiguousarray(items, self.dtype)
        self.digest.update(block.data)
        self.count += len(block)
        with writing(self.path):
            self.file.write(block.data)

    def renumber(self, new: Renumber) -> None:
        """Replace the numbers in the file by those that `new` gives; the digest is that of the new numbers.

        Raises:
            OutputError: they cannot be written.
        """
        self.digest = hashlib.sha256()
        place = HEADER
        with writing(self.path):
            while True:
                self.file.seek(place)
                old = np.frombuffer(self.file.read(BLOCK * self.dtype.itemsize), self.dtype)
                if not len(old):
                    return
                block = new(old)
                self.digest.update(block.data)
                self.file.seek(place)
                self.file.write(block.data)
                place += block.nbytes

    def close(self) -> None:
        """Write the header and close the file.

        Raises:
            OutputError: it cannot be written.
        """
        with writing(self.path), self.file:
            self.file.seek(0)
            self.file.write(header(self.dtype, self.count))


def header(dtype: Any, count: int) -> bytes:
    """The start of a .npy file, format 1.0, of `count` items in one dimension."""
    fields = {"descr": dtype.str, "fortran_order": False, "shape": (count,)}
    text = repr(fields).encode().ljust(HEADER - 11) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def load_column(path: Path, dtype: Any, count: int) -> NDArray[Any]:
    """The numbers of a .npy file, memory-mapped, read only.

    Raises:
        FormatError: the file is missing, broken, or not of this type and length.
    """
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # the header is Python text, and numpy's parser lets much through
        raise FormatError(f"{path} is not a readable .npy file: {' '.join(str(error).split())}") from error
    if array.dtype != np.dtype(dtype) or array.shape != (count,):
        raise FormatError(f"{path} holds {array.dtype} {array.shape}, not {np.dtype(dtype)} ({count},)")
    return np.asarray(array)
