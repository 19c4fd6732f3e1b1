"""One-dimensional .npy files, written block by block and read back memory-mapped."""

import hashlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import FormatError, OutputError

HEADER_SIZE = 128  # bytes; fixed, as the number of items is known only at the end
BLOCK = 1 << 18  # items processed at a time
BLOCKS_AHEAD = 4  # blocks in memory for each thread

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

    `map` also sets `file_digest`, the digest of the whole file, which integrity checks of a corpus compare.

    is_draft: do not hash appended items, because `map` will replace them all.
    """

    def __init__(self, path: Path, dtype: Any, *, is_draft: bool = False) -> None:
        self.path = path
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self.count = 0
        self.is_draft = is_draft
        self.digest = hashlib.sha256()
        self.file_digest: str | None = None
        with output_errors(path):
            self.file = path.open("w+b")
            self.file.write(bytes(HEADER_SIZE))

    def append(self, items: NDArray[Any]) -> None:
        """Append items."""
        block = np.ascontiguousarray(items, self.dtype)
        # raw ids are replaced at the end; hashing them would take as long as writing them
        if not self.is_draft:
            self.digest.update(block.data)
        self.count += len(block)
        with output_errors(self.path):
            self.file.write(block.data)

    def map(self, function: MapBlock, threads: int = 1) -> None:
        """Replace every block of items by the result of `function`, which may change the block in place.

        The digests are recomputed.
        """
        from embeddings.kernels.checksum import FileDigest  # imports numba

        self.digest, file_digest = hashlib.sha256(), FileDigest()
        file_digest.add(self.header())
        lock = Lock()  # of the position in the file
        size, end = BLOCK * self.dtype.itemsize, HEADER_SIZE + self.count * self.dtype.itemsize

        def replace(position: int) -> NDArray[Any]:
            old = np.empty(min(size, end - position) // self.dtype.itemsize, self.dtype)
            with lock:
                self.file.seek(position)
                if self.file.readinto(old.data) != old.nbytes:
                    raise OSError("the file has become shorter")
            new = function(old)
            assert (new.shape, new.dtype) == (old.shape, old.dtype)
            with lock:
                self.file.seek(position)
                self.file.write(new.data)
            return new

        def add(items: NDArray[Any]) -> None:
            data = items.data.cast("B")
            self.digest.update(data)
            file_digest.add(data)

        pending: deque[Future[NDArray[Any]]] = deque()
        with output_errors(self.path), ThreadPoolExecutor(threads) as pool:
            for position in range(HEADER_SIZE, end, size):
                pending.append(pool.submit(replace, position))
                if len(pending) > BLOCKS_AHEAD * threads:
                    add(pending.popleft().result())
            for block in pending:
                add(block.result())
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
