"""Checks of memory-mapped files, which another program may truncate: reading beyond their new end kills the process."""

import os
from collections.abc import Iterable

import numpy as np

from embeddings.errors import FormatError


def check_mapped_files(arrays: Iterable[np.ndarray]) -> None:
    """Check that the files of memory-mapped arrays are still as long as when they were mapped.

    A file that was removed or replaced is no error: the mapped content remains. This takes microseconds per array.
    Arrays that are not mapped from a file by numpy are ignored.

    Raises:
        FormatError: a file is shorter than what is mapped of it.
    """
    for mapped in map(mapped_base, arrays):
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


def mapped_base(array: np.ndarray) -> "np.memmap | None":
    """The memory-mapped file that an array views, if any."""
    mapped: np.memmap | None = None
    base: object = array
    while isinstance(base, np.ndarray):
        mapped, base = (base if isinstance(base, np.memmap) and base.filename else mapped), base.base
    return mapped
