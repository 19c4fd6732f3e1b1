"""Emits the code of the checked build that checks row numbers and addresses; see `checked_build`.

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
from functools import reduce
from threading import Lock
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba.core import cgutils
from numba.core.registry import CPUDispatcher

from embeddings.compilation.vector_emitter import INT64, Emitter, int64

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


CONTAINS_ROW = "embeddings_contains_row"
BIT = ir.IntType(1)


class CheckedEmitter(Emitter):
    """Emits vector code that raises IndexError before it accesses memory outside an array or a known row."""

    def __init__(self, context: Any, builder: Any, dtype: Any, sizes: dict[int, Any]) -> None:
        """`sizes` maps the id of an address to the size in bytes of the array that begins there."""
        super().__init__(builder, dtype)
        self.context, self.sizes = context, sizes

    def pointer(self, address: Any, offset: Any, kind: Any) -> Any:
        """A pointer to a value in an array or a row, after a check."""
        builder, count = self.builder, kind.count if isinstance(kind, ir.VectorType) else 1
        size = int64(8 if kind is INT64 else count * self.size)
        if id(address) in self.sizes:
            end, limit = builder.add(offset, size), self.sizes[id(address)]
            is_inside = builder.and_(builder.icmp_signed(">=", offset, int64(0)), builder.icmp_signed("<=", end, limit))
            message = "a row operation exceeds one of its arrays"
        else:
            is_inside = builder.call(contains_row(builder.module), [address, offset, size])
            message = "a row operation exceeds the known rows"
        require(self.context, builder, is_inside, message)
        return super().pointer(address, offset, kind)


def require(context: Any, builder: Any, condition: Any, message: str) -> None:
    """Raise IndexError unless a condition holds."""
    with builder.if_then(builder.not_(condition), likely=False):
        context.call_conv.return_user_exc(builder, IndexError, (message,))


def contains_row(module: Any) -> Any:
    """The function that returns whether `size` bytes from an offset on are in the known row at an address."""
    function = cgutils.get_or_insert_function(module, ir.FunctionType(BIT, [INT64] * 3), CONTAINS_ROW)
    if function.is_declaration:
        function.linkage = "linkonce_odr"
        write_contains_row(ir.IRBuilder(function.append_basic_block()), *function.args)
    return function


def write_contains_row(builder: Any, address: Any, offset: Any, size: Any) -> None:
    """The body of `contains_row`: a search of all entries."""
    entries = cgutils.add_global_variable(builder.module, ir.ArrayType(INT64, 0), KNOWN_ROWS)

    def item(entry: Any, column: int) -> Any:
        index = builder.add(builder.mul(entry, int64(4)), int64(column))
        return builder.load(builder.gep(entries, [int64(0), index]))

    last = item(int64(0), 0)
    with cgutils.for_range(builder, builder.add(last, int64(1)), start=int64(1), intp=INT64) as loop:
        entry, end = loop.index, builder.add(offset, size)
        distance = builder.sub(address, item(entry, START))
        conditions = [
            builder.icmp_signed(">=", distance, int64(0)),
            builder.icmp_signed("<", address, item(entry, STOP)),
            builder.icmp_signed("==", builder.srem(distance, item(entry, STRIDE)), int64(0)),
            builder.icmp_signed(">=", offset, int64(0)),
            builder.icmp_signed("<=", end, item(entry, ROW_SIZE)),
        ]
        with builder.if_then(reduce(builder.and_, conditions)):
            builder.ret(ir.Constant(BIT, 1))
    builder.ret(ir.Constant(BIT, 0))
