"""Arrays for kernels: some share no cache line with other memory, others are read-only.

Small arrays that numpy allocates one after another often share cache lines. If two threads write to such neighbours,
each write takes the line away from the other thread's core.
"""

import math

import numpy as np

SEPARATION = 128  # bytes: two cache lines, as CPUs may fetch lines in pairs


def separate_zeros(shape: int | tuple[int, ...], dtype: type = np.float32) -> np.ndarray:
    """Zeros that start at a multiple of `SEPARATION` and share no such part of memory with another array.

    Rows start at a cache line if their width is a multiple of `row_operations.PADDING`.
    """
    size = math.prod(shape if isinstance(shape, tuple) else (shape,)) * np.dtype(dtype).itemsize
    room = -(-size // SEPARATION) * SEPARATION
    raw = np.zeros(room + SEPARATION, np.uint8)
    start = -raw.ctypes.data % SEPARATION
    array: np.ndarray = raw[start : start + size].view(dtype).reshape(shape)
    return array


def separate_ones(size: int, dtype: type = np.float32) -> np.ndarray:
    """Ones, (size,), likewise."""
    array = separate_zeros(size, dtype)
    array[:] = 1
    return array


def read_only(array: np.ndarray) -> np.ndarray:
    """A contiguous view that cannot be written to, as memory-mapped files are, so that kernels are compiled once."""
    view = np.ascontiguousarray(array).view(np.ndarray)
    view.flags.writeable = False
    return view
