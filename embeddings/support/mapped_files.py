"""Memory-mapped files: arrays in temporary files, and checks that no other program has truncated a mapped file."""

import os
import tempfile
from collections.abc import Iterable

import numpy as np

from embeddings.errors import FormatError, OutputError
from embeddings.support.cache_folder import cache_folder


def check_mapped_files(arrays: Iterable[np.ndarray]) -> None:
    """Check that the files of memory-mapped arrays are still as long as when they were mapped.

    Reading beyond the new end of a truncated file kills the process.
    A file that was removed or replaced is no error: the mapped content remains. This takes microseconds per array.
    Arrays that are not mapped from a file by numpy are ignored.

    Raises:
        FormatError: a file is shorter than what is mapped of it.
    """
    for array in arrays:
        mapped: np.memmap | None = None
        base: object = array
        while isinstance(base, np.ndarray):
            mapped, base = (base if isinstance(base, np.memmap) and base.filename else mapped), base.base
        if mapped is None:
            continue
        needed = mapped.offset + mapped.nbytes
        try:
            size = os.stat(str(mapped.filename)).st_size
        except OSError:
            continue
        if size < needed:
            raise FormatError(
                f"{mapped.filename} was truncated from at least {needed:,} to {size:,} bytes while it was being read; "
                "make it again, and replace files by renaming instead of writing into them"
            )


def memory_mapped_zeros(rows: int, width: int, dtype: type = np.float32, name: str = "documents") -> np.ndarray:
    """Zeros mapped from an unnamed temporary file, four bytes each, (rows, width); `name` says of what, for messages.

    The file is in the cache folder or, if there is none, the system's folder for temporary files.
    """
    size, folder = 4 * rows * width, cache_folder("scratch")
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):  # fail now if the disk is full, not by a crash when pages are written
                os.posix_fallocate(file.fileno(), 0, size)
            return np.asarray(np.memmap(file, dtype, "r+", shape=(rows, width)))
    except OSError as error:
        reason = f"{error.strerror or error}; set EMBEDDINGS_CACHE to another folder"
        raise OutputError(f"cannot map a table of {rows} {name}, {size:,} bytes, in {folder}: {reason}") from error
