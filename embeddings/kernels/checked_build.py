"""The checked build of kernels, for tests: every index and every row address is checked before memory is accessed.

With EMBEDDINGS_CHECKED=1 in the environment, kernels raise IndexError instead of accessing memory that is not theirs:

* an index outside its array,
* a row outside its table, in `row_operations.address`,
* a row operation on an address that is not the start of a known row, or beyond the end of that row.

Known rows are those of the two-dimensional arrays among the arguments of the running kernels, and of arrays passed to
`register_rows`. Kernels of this build are several times slower and have cache folders of their own.
"""

import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
from llvmlite import binding
from numba.core.registry import CPUDispatcher

IS_CHECKED = os.environ.get("EMBEDDINGS_CHECKED", "") not in ("", "0")
CHECKED_OPTIONS: dict[str, Any] = {"boundscheck": True} if IS_CHECKED else {}

KNOWN_ROWS = "embeddings_known_rows"  # by which compiled code refers to `entries`
MAX_ARRAYS = 2**14 if IS_CHECKED else 1
START, STOP, STRIDE, ROW_SIZE = range(4)  # of an entry, in bytes: addresses of the array, between rows, of a row
entries = np.zeros((1 + MAX_ARRAYS, 4), np.int64)  # the first holds how many there are, free ones included
entries[1:, STRIDE] = 1
free = list(range(MAX_ARRAYS, 0, -1))
lock = Lock()

if IS_CHECKED:
    binding.add_symbol(KNOWN_ROWS, entries.ctypes.data)


def register_rows(table: np.ndarray, owner: np.ndarray) -> None:
    """Let kernels of the checked build access the rows of a two-dimensional array as long as `owner` exists."""
    if IS_CHECKED:
        weakref.finalize(owner, remove_entry, add_entry(table)).atexit = False


@contextmanager
def known_rows(args: Any) -> Iterator[None]:
    """Let kernels access the rows of all two-dimensional arrays among these arguments and in their tuples."""
    added = [add_entry(array) for array in arrays_in(args) if array.ndim == 2]
    try:
        yield
    finally:
        for entry in added:
            remove_entry(entry)


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    """All arrays in nested tuples."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from arrays_in(item)


def add_entry(table: np.ndarray) -> int:
    """Add the rows of an array; returns the number of the entry."""
    start, stride, size = table.ctypes.data, table.strides[0], table.shape[1] * table.itemsize
    with lock:
        number = free.pop()
        entries[0, 0] = max(entries[0, 0], number)
        entries[number] = start, 0, max(stride, 1), size
        entries[number, STOP] = start + len(table) * stride  # last: until then no address is in it
    return number


def remove_entry(number: int) -> None:
    """Free an entry."""
    with lock:
        entries[number, STOP] = 0
        free.append(number)


class CheckedEntryPoint(CPUDispatcher):  # type: ignore[misc]
    """A kernel whose calls make the rows of its arguments known."""

    __slots__ = ()

    def __call__(self, *args: Any) -> Any:
        """Call the kernel."""
        with known_rows(args):
            return super().__call__(*args)


def check_calls(compiled: Callable[..., Any]) -> None:
    """Let the calls of a kernel make the rows of its arguments known."""
    if IS_CHECKED and isinstance(compiled, CPUDispatcher):  # with NUMBA_DISABLE_JIT it is the function itself
        compiled.__class__ = CheckedEntryPoint
