"""What workers exchange at a merge: the rows that their replicas changed, divided among the workers that merge them.

Row i of a table is merged by worker i modulo the number of workers, so that frequent words, which change at every
merge, are divided evenly. Each worker sends every other one its changed rows of that part, and gets all merged rows
back. Rows are merged by the rules and in the order of replicas on one machine, so the result is the same.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from embeddings.kernels.merge_rows import RULES, copy_rows, find_changed_rows, merge_sent_rows, set_rows
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.models.parameters import Arrays
from embeddings.models.table import Table

MIN_ROWS = 1 << 10  # that are worth a thread


class Rows(NamedTuple):
    """Some rows of a table: their numbers, ascending, and their values (rows, width)."""

    numbers: np.ndarray
    values: np.ndarray


Changes = dict[tuple[int, str], Rows]  # by replica and table
MergedRows = dict[str, Rows]  # by table


def in_ranges(count: int, threads: int, work: Callable[[int, int], object]) -> None:
    """Call `work(first, last)` for ranges that make up 0 to `count`, with several threads if it pays."""
    threads = max(1, min(threads, count // MIN_ROWS))
    if threads == 1:
        work(0, count)
        return
    bounds = np.linspace(0, count, threads + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads, thread_name_prefix="merge") as pool:
        for running in [pool.submit(work, *bound) for bound in pairwise(bounds)]:
            running.result()


def changed_rows(merged: np.ndarray, copy: np.ndarray, parts: int, threads: int) -> list[Rows]:
    """The rows of a replica that differ from the merged ones, for each of the workers that merge them."""
    is_changed = np.zeros(len(merged), np.bool_)
    in_ranges(len(merged), threads, lambda first, last: find_changed_rows(merged, copy, first, last, is_changed))
    numbers = [np.flatnonzero(is_changed[part::parts]) * parts + part for part in range(parts)]
    return [Rows(one, rows_of(copy, one, threads)) for one in numbers]


def rows_of(table: np.ndarray, numbers: np.ndarray, threads: int) -> np.ndarray:
    """Copies of the rows with these numbers."""
    values = np.empty((len(numbers), table.shape[1]), np.float32)
    in_ranges(len(numbers), threads, partial(copy_rows, table, numbers, values))
    return values


def merge_changes(
    base: Arrays, declared: Mapping[str, Table], changes: Sequence[Changes], replicas: int, rule: str, threads: int
) -> MergedRows:
    """Merge the changes of all replicas to a part of the rows; `base` is not changed.

    Arguments:
        base: the tables that all replicas started from.
        changes: those of each worker.
        replicas: their number, with those that changed nothing.
        rule: that of tables that do not declare one.
    """
    merged: MergedRows = {}
    for name, table in base.items():
        by_replica = {replica: rows for part in changes for (replica, other), rows in part.items() if other == name}
        number = RULES.index(declared[name].on_merge or rule)
        merged[name] = merge_table(table, by_replica, replicas, number, threads)
    return merged


def merge_table(base: np.ndarray, by_replica: Mapping[int, Rows], replicas: int, rule: int, threads: int) -> Rows:
    """Merge the rows of a table that replicas changed."""
    numbers = np.concatenate([rows.numbers for rows in by_replica.values()])
    values = np.concatenate([rows.values for rows in by_replica.values()])
    starts = dict(
        zip(by_replica, np.cumsum([0, *(len(rows.numbers) for rows in by_replica.values())]).tolist(), strict=False)
    )
    is_changed = np.zeros(len(base), np.bool_)
    is_changed[numbers] = True
    changed = np.flatnonzero(is_changed)
    merged = np.empty((len(changed), base.shape[1]), np.float32)

    def work(first: int, last: int) -> None:
        rows = changed[first:last]
        cursors, ends = np.zeros(replicas, np.int64), np.zeros(replicas, np.int64)
        for replica, one in by_replica.items() if last > first else ():
            places = starts[replica] + np.searchsorted(one.numbers, [rows[0], rows[-1] + 1])
            cursors[replica], ends[replica] = places
        scratch = separate_zeros((replicas, base.shape[1])), separate_zeros(replicas, np.int64)
        merge_sent_rows(base, rows, numbers, values, cursors, ends, rule, *scratch, merged[first:last])

    in_ranges(len(changed), threads, work)
    return Rows(changed, merged)


def apply_merged(base: Arrays, copies: Mapping[str, np.ndarray], parts: Sequence[MergedRows], threads: int) -> None:
    """Set rows of the merged tables and of all replicas of a worker."""
    for part in parts:
        for name, rows in part.items():
            numbers, values = (array.view() for array in rows)
            numbers.flags.writeable = values.flags.writeable = False  # as those of the object store
            for table in (base[name], *copies[name]):
                in_ranges(len(numbers), threads, partial(set_rows, table, numbers, values))


def compile_exchange() -> None:
    """Compile what workers exchange rows with."""
    tables = {"": np.zeros((2, 16), np.float32)}
    copy = np.ones((1, 2, 16), np.float32)
    (rows,) = changed_rows(tables[""], copy[0], 1, 1)
    merged = merge_table(tables[""], {0: rows, 1: rows}, 2, RULES.index("mean"), 1)
    apply_merged(tables, {"": copy}, [{"": merged}], 1)


def size(parts: Sequence[Mapping[object, Rows]]) -> int:
    """The bytes of rows."""
    return sum(rows.values.nbytes + rows.numbers.nbytes for part in parts for rows in part.values())
