"""One-dimensional .npy files, written block by block and read back memory-mapped."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import FormatError, OutputError
from embeddings.support.threads import map_in_order

HEADER_SIZE = 128  # bytes; fixed, as the number of items is known only at the end
BLOCK = 1 << 18  # items processed at a time

MapBlock = Callable[[NDArray[np.int32]], NDArray[np.int32]]


@contextmanager
def output_errors(path: Path, contents: str = "the encoded corpus") -> Iterator[None]:
    """Convert every OSError, such as a full disk, to an OutputError that names the contents and the folder."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{contents} cannot be written to {path.parent}: {error.strerror or error}; "
            "set EMBEDDINGS_CACHE or TMPDIR to another folder"
        ) from error


class ArrayFile:
    """A growing .npy file of one dtype; `digest` is the SHA-256 of its items. Methods raise OutputError.

    `map` also sets `file_digest`, of the whole file, which integrity checks of a corpus compare.

    is_draft: do not hash appended items, because `map` will replace them all. threads: of `map`.
    """

    def __init__(self, path: Path, dtype: Any, *, is_draft: bool = False, threads: int = 1) -> None:
        self.path = path
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self.count = 0
        self.is_draft = is_draft
        self.digest = hashlib.sha256()
        self.file_digest: str | None = None
        self.threads = threads
        with output_errors(path):
            self.file = path.open("w+b")
            self.file.write(bytes(HEADER_SIZE))

    @property
    def end(self) -> int:
        """The position in the file after the last item."""
        return HEADER_SIZE + self.count * int(self.dtype.itemsize)

    def append(self, items: NDArray[Any]) -> None:
        """Append items."""
        block = np.ascontiguousarray(items, self.dtype)
        with output_errors(self.path):
            # raw ids are replaced at the end; hashing them would take as long as writing them
            if self.is_draft:
                self.file.seek(self.end)
            else:
                self.digest.update(block.data)
            self.file.write(block.data)
        self.count += len(block)

    def write(self, items: NDArray[Any], start: int) -> None:
        """Write items to a draft from item `start` on; threads may call it for different places."""
        # a file object of its own, so that threads need not wait for each other
        with output_errors(self.path), self.path.open("r+b") as file:
            file.seek(HEADER_SIZE + start * self.dtype.itemsize)
            file.write(np.ascontiguousarray(items, self.dtype).data)

    def map(self, function: MapBlock) -> None:
        """Replace every block of items by the result of `function`, which may change the block in place.

        The digests are recomputed; nothing can be appended afterwards.
        """
        from embeddings.kernels.checksum import FileDigest  # imports numba

        self.digest, file_digest, size = hashlib.sha256(), FileDigest(), BLOCK * self.dtype.itemsize
        file_digest.add(self.header())

        def replace(position: int) -> NDArray[Any]:
            with output_errors(self.path), self.path.open("r+b") as file:
                file.seek(position)
                block = function(np.fromfile(file, self.dtype, min(size, self.end - position) // self.dtype.itemsize))
                file.seek(position)
                file.write(block.data)
            return block

        with output_errors(self.path):
            self.file.flush()
        for block in map_in_order(replace, range(HEADER_SIZE, self.end, size), self.threads, "array file"):
            file_digest.add(block.data.cast("B"))
            self.digest.update(block.data)
        self.file_digest = file_digest.hexdigest()

    def header(self) -> bytes:
        """Return the header of a .npy file with the current number of items."""
        fields = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.count,)}
        text = repr(fields).encode().ljust(HEADER_SIZE - 11) + b"\n"  # .npy format 1.0
        return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text

    def close(self) -> None:
        """Write the header and close the file."""
        with output_errors(self.path), self.file:
            self.file.seek(0)
            self.file.write(self.header())


def load_array(path: Path, dtype: Any, count: int) -> NDArray[Any]:
    """Memory-map a .npy file read-only."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # the header is Python text, and numpy's parser raises many types
        raise FormatError(f"{path} is not a readable .npy file: {' '.join(str(error).split())}") from error
    if array.dtype != np.dtype(dtype) or array.shape != (count,):
        raise FormatError(f"{path} has {array.dtype} {array.shape}, expected {np.dtype(dtype)} ({count},)")
    return np.asarray(array)
