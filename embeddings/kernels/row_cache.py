"""Thread-private copies of the most frequent rows, so that cores do not wait for each other's writes.

A row that two cores write in turn moves from cache to cache each time, and every thread constantly uses the most
frequent words. So each of `LEAST_THREADS` or more threads works on copies of these rows and synchronises a copy with
the table every `SYNC_INTERVAL` uses and at the end of a block. Other rows are prefetched for each use: another core
may have written them since the last one.
"""

from typing import NamedTuple

import numpy as np

from embeddings.compilation.checked_build import register_rows
from embeddings.compilation.jit import entry_point, inline, noinline
from embeddings.kernels.integers import Int
from embeddings.kernels.row_operations import address, copy_row, sum_rows
from embeddings.kernels.separate_arrays import separate_ones, separate_zeros

LEAST_THREADS = 8  # for two, synchronising copies takes as long as waiting for each other, or longer
MAX_CACHED_ROWS = 32  # more would not stay in a core's own cache
SYNC_INTERVAL = 32  # uses of a row between synchronisations


class RowCache(NamedTuple):
    """Copies of the first rows of a table.

    table_location: (2,) address of the table, and bytes from row to row.
    rows: (2 cached rows, width): each copy, followed by its value at the last synchronisation.
    uses: (cached rows,) since the last flush.
    factor, operand: (1,) arguments of `sum_rows`.
    """

    table_location: np.ndarray
    rows: np.ndarray
    uses: np.ndarray
    factor: np.ndarray
    operand: np.ndarray


def new_row_cache(rows: int, width: int, dtype: type = np.float32) -> RowCache:
    """An empty cache of `rows` rows that is not attached to a table."""
    return RowCache(
        table_location=separate_zeros(2, np.int64),
        rows=separate_zeros((2 * rows, width), dtype),
        uses=separate_zeros(rows, np.int64),
        factor=separate_ones(1, dtype),
        operand=separate_zeros(1, np.int64),
    )


def cache_of(table: np.ndarray) -> RowCache:
    """A cache for the most frequent rows of a table."""
    cache = new_row_cache(min(MAX_CACHED_ROWS, len(table)), table.shape[1], table.dtype.type)
    register_rows(table, cache.table_location)
    cache.table_location[:] = table.ctypes.data, table.strides[0]
    return cache


@inline
def row_address(table: np.ndarray, cache: RowCache, row: Int) -> Int:
    """The address of a row that is about to be used: the thread's copy if it is cached, else the row of the table."""
    if row >= cache.uses.shape[0]:
        return address(table, row)
    # Also at the first use, when the copy still holds nothing.
    if cache.uses[row] % SYNC_INTERVAL == 0:
        sync_row(cache, row)
    cache.uses[row] += 1
    return address(cache.rows, 2 * row)


@noinline
def sync_row(cache: RowCache, row: int) -> None:
    """Add a copy's changes to the table and refresh the copy.

    Other threads may write to the table meanwhile, so the refreshed value is read exactly once.
    """
    width, shared = cache.rows.shape[1], cache.table_location[0] + row * cache.table_location[1]
    own, before = address(cache.rows, 2 * row), address(cache.rows, 2 * row + 1)
    # own -= before leaves the change of this thread alone; the table gets the change, not the value, so that what other
    # threads have written meanwhile is not overwritten.
    if cache.uses[row] > 0:
        cache.factor[0], cache.operand[0] = -1, before
        sum_rows(cache.factor, own, cache.operand, 1, width)
        cache.factor[0], cache.operand[0] = 1, own
        sum_rows(cache.factor, shared, cache.operand, 1, width)
    # The shared row is read once into `own`; reading it a second time for `before` could see a different value, and the
    # difference would be added as if it had been learned here.
    copy_row(cache.factor, own, shared, width)
    copy_row(cache.factor, before, own, width)


@entry_point
def flush(cache: RowCache) -> None:
    """Add all changes to the table, at the end of a block."""
    # Only rows that were used: others would be read from memory for nothing.
    for row in range(cache.uses.shape[0]):
        if cache.uses[row] > 0:
            sync_row(cache, row)
            cache.uses[row] = 0
