"""Exchange of the rows that replicas changed, between workers at a merge.

Two workers send each other all changed rows, and each merges all rows where they are. More workers divide the rows:
row i of a table is merged by worker i modulo the number of workers, so that frequent words, which change at every
merge, are divided evenly. Each worker sends every other one its changed rows of that part, and gets all merged rows
back. Rows are merged by the rules and in the order of replicas on one machine, so the result is the same.

Two workers on one machine share rows through an anonymous file (memfd, Linux only), which remains readable after its
writer is lost.
"""

import mmap
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from embeddings.cluster.cluster_task import ClusterTask
from embeddings.compilation.checked_build import register_rows
from embeddings.kernels import merge_rows
from embeddings.kernels.separate_arrays import read_only, separate_zeros
from embeddings.models.table import Arrays, Table

ALIGNMENT = 128  # bytes: two cache lines
TOKEN_BYTES = 16  # at the start of the memory, by which it is recognized
FILE_NAME = "embeddings-rows"
MIN_ROWS = 1 << 10  # minimum rows of a segment
GENERATIONS = 2  # of buffers in shared memory

Item = TypeVar("Item")


class LostMemoryError(Exception):
    """Rows are in the memory of a process that was lost."""


class SharedArray(NamedTuple):
    """The place, shape and type of an array in shared memory."""

    offset: int
    shape: tuple[int, ...]
    dtype: str


class SharedMemory:
    """Memory of this process that other processes can map; `name` is empty if memory cannot be shared.

    It has room for arrays of these sizes in bytes; pages without data take no memory.
    """

    def __init__(self, sizes: list[int]) -> None:
        self.name, self.filled, self.start = "", ALIGNMENT, 0
        if not sizes:
            return
        size = ALIGNMENT + sum(aligned(one) for one in sizes)
        with suppress(AttributeError, OSError, ValueError):  # another system, or no room
            file = os.memfd_create(FILE_NAME)  # stays open: other workers open it through /proc
            try:
                os.ftruncate(file, size)
                self.mapped = mmap.mmap(file, size)
            except (OSError, ValueError):
                os.close(file)
                raise
            with suppress(AttributeError, OSError):
                self.mapped.madvise(mmap.MADV_HUGEPAGE)
            token = os.urandom(TOKEN_BYTES)
            self.mapped[:TOKEN_BYTES] = token
            self.start = np.frombuffer(self.mapped, np.uint8).ctypes.data
            self.name = f"/proc/{os.getpid()}/fd/{file}:{token.hex()}"

    def empty(self, shape: tuple[int, ...], dtype: type | np.dtype) -> np.ndarray:
        """An array of arbitrary values, in shared memory if possible."""
        array: np.ndarray = np.empty(0 if self.name else shape, dtype)
        if self.name:
            count = int(np.prod(shape))
            array = np.frombuffer(self.mapped, dtype, count, self.filled).reshape(shape)
            self.filled += aligned(array.nbytes)
        return array

    def place_of(self, array: np.ndarray) -> SharedArray:
        """The place of a contiguous part of an array in shared memory."""
        return SharedArray(array.ctypes.data - self.start, array.shape, array.dtype.str)


class PeerMemory:
    """The shared memory of another process; `name` is empty if it cannot be mapped."""

    def __init__(self, name: str) -> None:
        self.name, (path, _, token) = "", name.partition(":")
        with suppress(OSError, ValueError):
            if FILE_NAME not in os.readlink(path):  # of a process on another machine
                return
            file = os.open(path, os.O_RDONLY)
            try:
                self.mapped = mmap.mmap(file, 0, access=mmap.ACCESS_READ)
            finally:
                os.close(file)
            if self.mapped[:TOKEN_BYTES].hex() == token:
                self.name = name

    def array(self, place: SharedArray) -> np.ndarray:
        """An array in the memory."""
        count = int(np.prod(place.shape))
        return np.frombuffer(self.mapped, place.dtype, count, place.offset).reshape(place.shape)


def aligned(size: int) -> int:
    """Round a size up to a multiple of ALIGNMENT."""
    return -(-size // ALIGNMENT) * ALIGNMENT


class Rows(NamedTuple):
    """Row numbers of a table, ascending, and the values of the rows (rows, width) or their rounded changes, int16."""

    numbers: np.ndarray
    values: np.ndarray


class Segment(NamedTuple):
    """Rows `first` to `last` (exclusive) of a table, which one thread handles; all workers have the same segments."""

    name: str
    first: int
    last: int


Changes = dict[tuple[int, Segment], Any]  # Rows by replica, or the places of their arrays in shared memory
MergedRows = dict[Segment, Rows]


class SentChanges(NamedTuple):
    """Changed rows that a worker sends to another worker.

    Arguments:
        memory: the name of the sender's shared memory.
        mapped: the name of the receiver's memory, if the sender has mapped it; rows are then sent through memory.
        is_shared: whether `rows` has places in `memory`.
    """

    rows: Changes
    memory: str
    mapped: str
    is_shared: bool


class RowBuffer:
    """Memory for the changed rows of a segment, in parts, which is used at every merge; pages are allocated on use.

    `empty` allocates an array of a shape and type.
    """

    def __init__(
        self, parts: int, rows: int, width: int, dtype: np.dtype, empty: Callable[..., np.ndarray] = np.empty
    ) -> None:
        room = -(-rows // parts)
        self.counts = separate_zeros(parts, np.int64)
        self.numbers = empty((parts, room), np.int64)
        self.values = empty((parts, room, width), dtype)

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
        self.own_part = number if task.parts > 1 else -1
        self.hosted = task.replicas_of(number)
        threads, self.rounds = task.threads_per_worker, task.replicas.rounds_changes
        self.dtype = dtype = np.dtype(np.int16 if self.rounds else np.float32)
        widths = {name: table.shape[1] + self.rounds for name, table in base.items()}  # with the exponent of the unit
        self.segments = [Segment(name, *bound) for name, table in base.items() for bound in bounds(len(table), threads)]
        is_shared = task.workers == 2 and task.parts == 1
        sizes = [(last - first) * row for name, first, last in self.segments if is_shared
                 for row in (8, widths[name] * dtype.itemsize)]  # fmt: skip
        self.memory = SharedMemory(sizes * len(self.hosted) * GENERATIONS)  # of the arrays of all buffers
        self.other_memory = PeerMemory("")
        self.is_mapped = False  # this worker's memory, by the other one
        empty = self.memory.empty if task.parts == 1 else np.empty
        # rows of the last merge are read while rows of the next merge are written
        self.generations = [
            {
                (replica, one): RowBuffer(task.parts, one.last - one.first, widths[one.name], dtype, empty)
                for replica in self.hosted
                for one in self.segments
            }
            for _ in range(GENERATIONS if self.memory.name else 1)
        ]
        self.buffers = self.generations[0]
        self.merged: dict[Segment, RowBuffer] = {}  # this worker's part of the last merge
        if task.parts > 1 or self.rounds:
            self.merged = {one: RowBuffer(1, self.part_size(one), widths[one.name], dtype) for one in self.segments}
        for copy in copies.values():
            register_rows(copy.reshape(-1, copy.shape[2]), copy)

    def compile(self) -> None:
        """Compile the kernels that find and merge rows, while there are no changes."""
        self.changes()
        others = [replica for replica in range(self.task.replicas.count) if replica not in self.hosted]
        nothing: list[Changes] = [{(replica, one): Rows(np.zeros(0, np.int64), np.zeros((0, 0), self.dtype))
                    for replica in others for one in self.segments}]  # fmt: skip
        if self.task.parts == 1:
            self.merge_all([SentChanges(nothing[0], "", "", False)])
        else:
            self.set_merged([self.merge_part(nothing)])

    def part_size(self, segment: Segment) -> int:
        """The maximum number of rows of a segment in one part."""
        return -(-(segment.last - segment.first) // self.task.parts)

    def changes(self) -> list[Any]:
        """The rows that the replicas changed since the last merge, by part; None for the part of this worker.

        Rows in shared memory are valid until the second next call, other rows until the next call.
        """
        self.generations.append(self.generations.pop(0))
        self.buffers = self.generations[-1]

        def find(key: tuple[int, Segment]) -> None:
            replica, segment = key
            buffer, copy = self.buffers[key], self.copies[segment.name][replica - self.hosted.start]
            nothing = np.zeros((self.task.parts, 0, 0), np.float32 if self.rounds else np.int16)
            merge_rows.find_changed_rows(
                self.base[segment.name], copy, segment.first, segment.last, self.own_part, buffer.counts,
                buffer.numbers, *((nothing, buffer.values) if self.rounds else (buffer.values, nothing)),
            )  # fmt: skip

        self.in_threads(find, self.buffers)
        if self.task.parts == 1:
            rows: Changes = {key: buffer.rows(0) for key, buffer in self.buffers.items()}
            if self.is_mapped:
                rows = {key: tuple(map(self.memory.place_of, one)) for key, one in rows.items()}
            return [SentChanges(rows, self.memory.name, self.other_memory.name, self.is_mapped)]
        return [
            None if part == self.own_part else {key: buffer.rows(part) for key, buffer in self.buffers.items()}
            for part in range(self.task.parts)
        ]

    def receive(self, sent: SentChanges) -> Changes:
        """The changed rows that the other worker sent; LostMemoryError if its memory cannot be mapped."""
        self.map_memory(sent.memory)
        self.is_mapped = bool(self.memory.name) and sent.mapped == self.memory.name
        if not sent.is_shared:
            return sent.rows
        if self.other_memory.name != sent.memory:
            raise LostMemoryError("rows in the memory of another worker were lost with it")
        return {key: Rows(*map(self.other_memory.array, places)) for key, places in sent.rows.items()}

    def map_memory(self, memory: str) -> None:
        """Map the memory of the other worker, if this is possible and not done."""
        if memory and self.task.workers == 2 and memory != self.other_memory.name:
            self.other_memory = PeerMemory(memory)

    def bytes_sent(self) -> int:
        """The bytes of changed rows that other workers get."""
        receivers = self.task.workers - 1 if self.task.parts == 1 else 1  # of each part
        parts = [part for part in range(self.task.parts) if part != self.own_part]
        return receivers * sum(
            array.nbytes for one in self.buffers.values() for part in parts for array in one.rows(part)
        )

    def merge_part(self, changes: Sequence[Changes]) -> MergedRows:
        """Merge this worker's part of the rows with the changes of other workers; `set_merged` sets the results."""

        def merge(segment: Segment) -> None:
            buffer = self.merged[segment]
            merged, rounded = buffer.values[0], np.zeros((0, 0), np.int16)
            if self.rounds:
                merged, rounded = np.empty((1, merged.shape[1] - 1), np.float32), merged
            arguments = self.merge_arguments(segment, changes)
            buffer.counts[0] = merge_rows.merge_sent_rows(*arguments, buffer.numbers[0], merged, rounded)

        self.in_threads(merge, self.segments)
        return self.merged_rows()

    def merged_rows(self) -> MergedRows:
        """This worker's part of the last merge."""
        return {segment: buffer.rows(0) for segment, buffer in self.merged.items()}

    def merge_all(self, sent: Iterable[SentChanges]) -> None:
        """Merge all rows in place, given the changes of other workers."""
        changes = [self.receive(one) for one in sent]
        if self.rounds:
            self.set_merged([self.merge_part(changes)])
            return

        def merge(segment: Segment) -> None:
            merge_rows.merge_sent_rows_in_place(*self.merge_arguments(segment, changes))

        self.in_threads(merge, self.segments)

    def merge_arguments(
        self, segment: Segment, changes: Sequence[Changes]
    ) -> tuple[np.ndarray, np.ndarray, merge_rows.SentRows, int, np.ndarray]:
        """The first arguments of the kernels that merge a segment."""
        count, sent = self.task.replicas.count, {key: rows for part in changes for key, rows in part.items()}
        base, copies = self.base[segment.name], self.copies[segment.name]
        width = base.shape[1]
        numbers: list[np.ndarray] = []
        starts, values = np.zeros(count + 1, np.int64), np.zeros(count, np.int64)
        is_table, rounded = np.zeros(count, np.bool_), [np.zeros((0, width + 1), np.int16)]
        for replica in range(count):
            if replica in self.hosted:
                rows = self.buffers[replica, segment].rows(max(self.own_part, 0))
                values[replica] = copies[replica - self.hosted.start].ctypes.data
                is_table[replica] = True
            else:
                rows = sent[replica, segment]
                register_rows(rows.values, rows.values)
                values[replica] = rows.values.ctypes.data - starts[replica] * width * rows.values.itemsize
                if self.rounds:
                    values[replica] = sum(map(len, rounded)) - starts[replica]
                    rounded.append(rows.values.reshape(len(rows.numbers), width + 1))
            numbers.append(rows.numbers)
            starts[replica + 1] = starts[replica] + len(rows.numbers)
        rule = merge_rows.RULES.index(self.declared[segment.name].on_merge or self.task.replicas.rule)
        bounds, changed = (starts[:-1].copy(), starts[1:].copy()), read_only(np.concatenate(rounded))
        rows_of_all = merge_rows.SentRows(np.concatenate(numbers), *bounds, values, is_table, changed)
        return base, copies, rows_of_all, rule, separate_zeros((count, width))

    def set_merged(self, parts: Iterable[MergedRows]) -> None:
        """Copy merged rows into the merged tables and into the tables of all replicas of this worker."""

        def set_segment(item: tuple[Segment, Rows]) -> None:
            segment, rows = item
            base, copies = self.base[segment.name], self.copies[segment.name]
            numbers, values = map(read_only, rows)  # like arrays of the object store
            if self.rounds:
                merge_rows.add_rounded_rows(base, copies, numbers, values)
                return
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
