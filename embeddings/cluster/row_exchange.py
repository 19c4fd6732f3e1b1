"""Exchange of the rows that replicas changed, between workers at a merge.

Row i of a table is merged by worker i modulo the number of workers, so that frequent words, which change at every
merge, are divided evenly. Each worker sends every other one its changed rows of that part, and gets all merged rows
back. Rows are merged by the rules and in the order of replicas on one machine, so the result is the same.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from embeddings.cluster.cluster_task import ClusterTask
from embeddings.compilation.checked_build import register_rows
from embeddings.kernels import merge_rows
from embeddings.kernels.separate_arrays import read_only, separate_zeros
from embeddings.models.table import Arrays, Table

MIN_ROWS = 1 << 10  # minimum rows of a segment

Item = TypeVar("Item")


class Rows(NamedTuple):
    """Row numbers of a table, ascending, and the values of the rows, float32 (rows, width)."""

    numbers: np.ndarray
    values: np.ndarray


class Segment(NamedTuple):
    """Rows `first` to `last` (exclusive) of a table, which one thread handles; all workers have the same segments."""

    name: str
    first: int
    last: int


Changes = dict[tuple[int, Segment], Rows]  # by replica
MergedRows = dict[Segment, Rows]


class RowBuffer:
    """Memory for the changed rows of a segment, in parts, which is used at every merge; pages are allocated on use."""

    def __init__(self, parts: int, rows: int, width: int) -> None:
        # Rows are dealt out in turn, so no part has more than the quotient, rounded up.
        room = -(-rows // parts)
        self.counts = separate_zeros(parts, np.int64)
        self.numbers = np.empty((parts, room), np.int64)
        self.values = np.empty((parts, room, width), np.float32)

    def rows(self, part: int) -> Rows:
        """The rows of a part."""
        count = self.counts[part]
        return Rows(self.numbers[part, :count], self.values[part, :count])


class RowExchange:
    """The rows that the worker with a number sends and merges.

    base: the merged tables, which all replicas started from. copies: those of the replicas of this worker, float32
    (replicas, rows, width). declared: the tables as the plan declares them.
    """

    def __init__(
        self, task: ClusterTask, number: int, declared: Mapping[str, Table], base: Arrays, copies: Arrays
    ) -> None:
        self.task, self.number, self.declared, self.base, self.copies = task, number, declared, base, copies
        self.hosted, workers = task.replicas_of(number), task.workers
        threads, widths = task.threads_per_worker, {name: table.shape[1] for name, table in base.items()}
        self.segments = [Segment(name, *bound) for name, table in base.items() for bound in bounds(len(table), threads)]
        self.buffers = {
            (replica, one): RowBuffer(workers, one.last - one.first, widths[one.name])
            for replica in self.hosted
            for one in self.segments
        }
        self.merged = {  # this worker's part of the last merge
            one: RowBuffer(1, -(-(one.last - one.first) // workers), widths[one.name]) for one in self.segments
        }
        for copy in copies.values():
            register_rows(copy.reshape(-1, copy.shape[2]), copy)

    def compile(self) -> None:
        """Compile the kernels that find and merge rows, while there are no changes."""
        self.changes()
        # As many inputs as at a real merge, so that the same kernel is compiled.
        others = [replica for replica in range(self.task.replicas.count) if replica not in self.hosted]
        nothing = Rows(np.zeros(0, np.int64), np.zeros((0, 0), np.float32))
        self.set_merged([self.merge_part([{(replica, one): nothing for replica in others for one in self.segments}])])

    def changes(self) -> list[Changes | None]:
        """The rows that the replicas changed since the last merge, by worker that merges them; None for this worker.

        The arrays are valid until the next call.
        """

        def find(key: tuple[int, Segment]) -> None:
            replica, segment = key
            buffer, copy = self.buffers[key], self.copies[segment.name][replica - self.hosted.start]
            merge_rows.find_changed_rows(
                self.base[segment.name], copy, segment.first, segment.last, self.number, buffer.counts,
                buffer.numbers, buffer.values,
            )  # fmt: skip

        self.in_threads(find, self.buffers)
        return [
            None if part == self.number else {key: buffer.rows(part) for key, buffer in self.buffers.items()}
            for part in range(self.task.workers)
        ]

    def merge_part(self, changes: Sequence[Changes]) -> MergedRows:
        """Merge this worker's part of the rows with the changes of other workers; `set_merged` sets the results."""

        def merge(segment: Segment) -> None:
            buffer = self.merged[segment]
            arguments = self.merge_arguments(segment, changes)
            buffer.counts[0] = merge_rows.merge_sent_rows(*arguments, buffer.numbers[0], buffer.values[0])

        self.in_threads(merge, self.segments)
        return self.merged_rows()

    def merged_rows(self) -> MergedRows:
        """This worker's part of the last merge."""
        return {segment: buffer.rows(0) for segment, buffer in self.merged.items()}

    def merge_arguments(
        self, segment: Segment, changes: Sequence[Changes]
    ) -> tuple[np.ndarray, np.ndarray, merge_rows.SentRows, int, np.ndarray]:
        """The first arguments of the kernel that merges a segment."""
        count, sent = self.task.replicas.count, {key: rows for part in changes for key, rows in part.items()}
        base, copies = self.base[segment.name], self.copies[segment.name]
        width = base.shape[1]
        numbers: list[np.ndarray] = []
        starts, values = np.zeros(count + 1, np.int64), np.zeros(count, np.int64)
        is_table = np.zeros(count, np.bool_)
        for replica in range(count):
            if replica in self.hosted:
                rows = self.buffers[replica, segment].rows(self.number)
                values[replica] = copies[replica - self.hosted.start].ctypes.data
                is_table[replica] = True
            else:
                rows = sent[replica, segment]
                register_rows(rows.values, rows.values)
                # The kernel adds the place among the numbers of all replicas, so the address is that of place 0.
                values[replica] = rows.values.ctypes.data - starts[replica] * width * rows.values.itemsize
            numbers.append(rows.numbers)
            starts[replica + 1] = starts[replica] + len(rows.numbers)
        rule = merge_rows.RULES.index(self.declared[segment.name].on_merge or self.task.replicas.rule)
        first, last = starts[:-1].copy(), starts[1:].copy()
        rows_of_all = merge_rows.SentRows(np.concatenate(numbers), first, last, values, is_table)
        return base, copies, rows_of_all, rule, separate_zeros((count, width))

    def set_merged(self, parts: Iterable[MergedRows]) -> None:
        """Copy merged rows into the merged tables and into the tables of all replicas of this worker."""

        def set_segment(item: tuple[Segment, Rows]) -> None:
            segment, rows = item
            base, copies = self.base[segment.name], self.copies[segment.name]
            numbers, values = map(read_only, rows)  # like arrays of the object store
            for table in (base, *copies):
                merge_rows.set_rows(table, numbers, values, 0, len(numbers))

        self.in_threads(set_segment, [item for part in parts for item in part.items()])

    def in_threads(self, work: Callable[[Item], None], items: Iterable[Item]) -> None:
        """Call `work` for each item, with all threads of the worker."""
        if self.task.threads_per_worker == 1:
            for item in items:
                work(item)
            return
        with ThreadPoolExecutor(self.task.threads_per_worker, thread_name_prefix="merge") as pool:
            for running in [pool.submit(work, item) for item in items]:
                running.result()


def bounds(rows: int, threads: int) -> list[tuple[int, int]]:
    """Split a table into one segment per thread, each of at least MIN_ROWS rows."""
    count = max(1, min(threads, rows // MIN_ROWS))
    return [*pairwise(np.linspace(0, rows, count + 1).astype(int).tolist())]
