"""Replicas: copies of all tables, trained independently on one thread each, and merged at regular intervals.

Each replica reads a share of its own with random numbers of its own, at a learning rate that follows from its own
progress, and rows are merged in order of the replicas. So the result depends on the number of replicas, but not on the
number of threads that do the work, or on timing.

A replica consists of its tables and its worker's state. A merge reads the merged rows and the rows that each replica
changed, and writes merged rows, from which all replicas continue.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from embeddings.errors import SettingError
from embeddings.kernels.merge_rows import RULES, merge_rows
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.models.table import Arrays, Table
from embeddings.settings import Range, check_value
from embeddings.support.mapped_files import memory_mapped_zeros
from embeddings.support.system import free_memory

MergeRule = Literal["mean", "mean-changed", "sum", "coherence"]
MAX_REPLICAS = 1024
MergeInterval = Annotated[int, Range(ge=1, le=10**12)]  # words
MERGE_INTERVALS = {2: 3_200_000, 4: 800_000}  # words, by the largest number of replicas that they suit
MANY_REPLICAS_INTERVAL = 200_000  # words
FIRST_INTERVAL = 5_000  # words: replicas differ most at the start
MAX_GROWTH = 8  # an interval is at most 1 / min(replicas, MAX_GROWTH) of the words read so far
REPLICA_BLOCK_SIZE = 2048  # words, so that intervals are short at the start


@dataclass(frozen=True)
class Replicas:
    """How many replicas learn, and how they are merged.

    Arguments:
        count: train N copies of all tables, each on a share of the corpus, and merge them at regular intervals: the
            result is bit-reproducible with any number of threads. One learns as a single thread does.
        merge_every: words that each replica reads between two merges; by default 3,200,000 for 2 replicas, 800,000 for
            3 or 4, 200,000 for more. They are fewer at the start, where an interval is 5,000 words or 1/n of what the
            replica has read, whichever is larger; n is the number of replicas, at most 8. A trainer that reads other
            units than words, such as texts, counts these.
        rule: how changes of a row by several replicas are combined; by default by "coherence". In Python see
            `embeddings.kernels.merge_rows`.

    Raises:
        SettingError: a value is of the wrong type or out of range.
    """

    count: int
    merge_every: MergeInterval | None = None
    rule: MergeRule = "coherence"

    def __post_init__(self) -> None:
        check_value("replicas", self.count, int, {"ge": 1, "le": MAX_REPLICAS})
        check_value("merge_every", self.merge_every, MergeInterval | None, {})
        check_value("merge_rule", self.rule, MergeRule, {})
        if self.merge_every is None:
            object.__setattr__(self, "merge_every", default_interval(self.count))


def default_interval(replicas: int) -> int:
    """Words that each replica reads between two merges, chosen by measurement."""
    return next((words for count, words in MERGE_INTERVALS.items() if replicas <= count), MANY_REPLICAS_INTERVAL)


class MergeSchedule:
    """When replicas are merged next, in units read per replica."""

    def __init__(self, replicas: int, merge_every: int | None) -> None:
        self.merge_every = merge_every or default_interval(replicas)
        self.growth = min(replicas, MAX_GROWTH)
        self.next_merge = min(FIRST_INTERVAL, self.merge_every)

    def advance(self) -> None:
        """Go to the next merge."""
        # Replicas differ most at the start, where rates are high, so intervals grow with what has been read.
        self.next_merge += min(max(self.next_merge // self.growth, FIRST_INTERVAL), self.merge_every)


CHUNK_BYTES = 1 << 22  # of merged rows that one thread merges at a time


class ReplicaTables:
    """The tables of all replicas, next to the arrays of the merged tables, which a number of threads merge."""

    def __init__(self, replicas: Replicas, declared: Mapping[str, Table], merged: Arrays, threads: int) -> None:
        self.replicas, self.declared, self.merged, self.threads = replicas, declared, merged, threads
        size = sum(table.nbytes for name, table in merged.items() if declared[name].zeros is None)  # others are files
        available = free_memory()
        if available is not None and replicas.count * size > available:
            raise SettingError(
                f"{replicas.count} replicas of tables of {size / 1e9:,.1f} GB take "
                f"{replicas.count * size / 1e9:,.1f} GB, but {available / 1e9:,.1f} GB are free; use fewer replicas, "
                "or threads without replicas"
            )
        self.copies = {}  # of each table, float32 (replicas, rows, width)
        for name, (rows, width) in ((name, table.shape) for name, table in merged.items()):
            if declared[name].zeros is not None:
                # A table in a file does not fit into memory, and neither do its copies.
                copies = memory_mapped_zeros(replicas.count * rows, width, name="documents of replicas")
            else:
                copies = separate_zeros((replicas.count * rows, width))
            self.copies[name] = copies.reshape(replicas.count, rows, width)
        self.broadcast()
        self.merge()  # compiles the kernel

    def tables(self, replica: int) -> Arrays:
        """The tables of one replica."""
        return type(self.merged)({name: copies[replica] for name, copies in self.copies.items()})

    def broadcast(self) -> None:
        """Let all replicas go on from the merged tables."""
        self.in_chunks(lambda name, rows: np.copyto(self.copies[name][:, rows], self.merged[name][rows]))

    def merge(self) -> None:
        """Merge the rows that replicas changed, and let all replicas go on from them."""

        def merge_chunk(name: str, rows: slice) -> None:
            is_single = self.replicas.count == 1  # the rows of a single replica are copied
            rule = RULES.index("sum" if is_single else self.declared[name].on_merge or self.replicas.rule)
            count, _, width = self.copies[name].shape
            # Scratch of each chunk, as threads merge several chunks at once.
            changes, changed = separate_zeros((count, width)), separate_zeros(count, np.int64)
            merge_rows(self.merged[name], self.copies[name], rows.start, rows.stop, rule, changes, changed)

        self.in_chunks(merge_chunk)

    def in_chunks(self, work: Callable[[str, slice], None]) -> None:
        """Do some work on all rows of all tables, with all threads."""
        with ThreadPoolExecutor(self.threads, thread_name_prefix="merge") as pool:
            running = []
            for name, table in self.merged.items():
                step = max(1, CHUNK_BYTES // table.strides[0])
                for first in range(0, len(table), step):
                    running.append(pool.submit(work, name, slice(first, min(first + step, len(table)))))
        # Raises what a thread has raised.
        for one in running:
            one.result()
