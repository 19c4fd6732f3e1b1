"""What workers exchange at a merge: the rows that their replicas changed, divided among the workers that merge them.

Row i of a table is merged by worker i modulo the number of workers, so that frequent words, which change at every
merge, are divided evenly. Each worker sends every other one its changed rows of that part, and gets all merged rows
back. Rows are merged by the kernel that merges replicas on one machine, so the result is the same.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from embeddings.kernels.merge_rows import RULES, find_changed_rows, merge_rows
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.models.parameters import Arrays
from embeddings.models.table import Table

BUFFER_BYTES = 1 << 26  # of the rows of all replicas that are merged at a time


class Rows(NamedTuple):
    """Some rows of a table: their numbers, ascending, and their values (rows, width)."""

    numbers: np.ndarray
    values: np.ndarray


Changes = dict[tuple[int, str], Rows]  # by replica and table
MergedRows = dict[str, Rows]  # by table


def changed_rows(merged: np.ndarray, copy: np.ndarray, threads: int) -> np.ndarray:
    """The numbers of the rows of a replica that differ from the merged ones."""
    is_changed = np.zeros(len(merged), np.bool_)
    bounds = np.linspace(0, len(merged), threads + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        parts = zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        for running in [pool.submit(find_changed_rows, merged, copy, *part, is_changed) for part in parts]:
            running.result()
    return np.flatnonzero(is_changed)


def divide(rows: np.ndarray, copy: np.ndarray, parts: int) -> list[Rows]:
    """Rows of a table for each of the workers that merge them."""
    numbers = [rows[rows % parts == part] for part in range(parts)]
    return [Rows(one, copy[one]) for one in numbers]


def merge_changes(
    base: Arrays, declared: Mapping[str, Table], changes: Sequence[Changes], replicas: int, rule: str
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
        touched = [rows.numbers for rows in by_replica.values()]
        numbers = np.unique(np.concatenate(touched)) if touched else np.zeros(0, np.int64)
        number = RULES.index("sum" if replicas == 1 else declared[name].on_merge or rule)  # one replica: its rows
        merged[name] = Rows(numbers, merge_table(table, numbers, by_replica, replicas, number))
    return merged


def merge_table(
    base: np.ndarray, numbers: np.ndarray, by_replica: Mapping[int, Rows], replicas: int, rule: int
) -> np.ndarray:
    """The merged values of some rows, (rows, width), a few rows at a time."""
    width = base.shape[1]
    merged: np.ndarray = base[numbers]
    changes, changed = separate_zeros((replicas, width)), separate_zeros(replicas, np.int64)
    step = max(1, BUFFER_BYTES // (4 * width * replicas))
    for first in range(0, len(numbers), step):
        block, values = numbers[first : first + step], merged[first : first + step]
        copies = np.repeat(values[np.newaxis], replicas, axis=0)
        for replica, rows in by_replica.items():
            begin, end = np.searchsorted(rows.numbers, [block[0], block[-1] + 1])
            copies[replica, np.searchsorted(block, rows.numbers[begin:end])] = rows.values[begin:end]
        merge_rows(values, copies, 0, len(block), rule, changes, changed)
    return merged


def apply_merged(base: Arrays, copies: Mapping[str, np.ndarray], parts: Sequence[MergedRows]) -> None:
    """Set rows of the merged tables and of all replicas of a worker."""
    for part in parts:
        for name, (numbers, values) in part.items():
            base[name][numbers] = values
            for copy in copies[name]:
                copy[numbers] = values


def size(parts: Sequence[Mapping[object, Rows]]) -> int:
    """The bytes of rows."""
    return sum(rows.values.nbytes + rows.numbers.nbytes for part in parts for rows in part.values())
