"""The tables of replicas, and their merging.

What a replica is made of: its tables, and the state of its worker. A merge needs the merged rows and, of each replica,
the rows that it changed; it gives merged rows, which all replicas go on from.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from embeddings.errors import SettingError
from embeddings.kernels.merge_rows import RULES, merge_rows
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.models.table import Arrays, Table
from embeddings.support.system import free_memory
from embeddings.training.document_stream import memory_mapped_zeros
from embeddings.training.replicas import MergeSchedule, Replicas

CHUNK_BYTES = 1 << 22  # of merged rows that one thread merges at a time


class ReplicaTables:
    """The tables of all replicas, next to the merged tables.

    Arguments:
        declared: the tables as the plan declares them.
        merged: the arrays that hold the merged tables.
        threads: how many threads merge.
    """

    def __init__(self, replicas: Replicas, declared: Mapping[str, Table], merged: Arrays, threads: int) -> None:
        self.replicas, self.declared, self.merged, self.threads = replicas, declared, merged, threads
        self.schedule = MergeSchedule(replicas.count, replicas.merge_every)
        check_memory(replicas.count, merged)
        self.copies = {name: self.allocate(declared[name], table) for name, table in merged.items()}
        self.broadcast()
        self.merge()  # compiles the kernel

    def allocate(self, declared: Table, table: np.ndarray) -> np.ndarray:
        """Room for a copy of a table for each replica, float32 (replicas, rows, width)."""
        rows, width = table.shape
        if declared.zeros is not None:
            copies = memory_mapped_zeros(self.replicas.count * rows, width, name="documents of replicas")
        else:
            copies = separate_zeros((self.replicas.count * rows, width))
        return copies.reshape(self.replicas.count, rows, width)

    def tables(self, replica: int) -> Arrays:
        """The tables of one replica."""
        return type(self.merged)({name: copies[replica] for name, copies in self.copies.items()})

    def due(self, total: int) -> float:
        """The share of training after which the next merge is due, where all replicas together read `total` units."""
        return self.schedule.next_merge * self.replicas.count / total

    def broadcast(self) -> None:
        """Let all replicas go on from the merged tables."""
        self.in_chunks(lambda name, rows: np.copyto(self.copies[name][:, rows], self.merged[name][rows]))

    def restore(self, next_merge: int) -> None:
        """Go on from restored merged tables."""
        self.schedule.next_merge = next_merge
        self.broadcast()

    def merge(self) -> None:
        """Merge the rows that replicas changed, and let all replicas go on from them."""

        def merge_chunk(name: str, rows: slice) -> None:
            is_only = self.replicas.count == 1  # then its rows are taken over
            rule = RULES.index("sum" if is_only else self.declared[name].on_merge or self.replicas.rule)
            count, _, width = self.copies[name].shape
            changes, changed = separate_zeros((count, width)), separate_zeros(count, np.int64)
            merge_rows(self.merged[name], self.copies[name], rows.start, rows.stop, rule, changes, changed)

        self.in_chunks(merge_chunk)

    def in_chunks(self, work: Callable[[str, slice], None]) -> None:
        """Do some work on all rows of all tables, with all threads."""
        with ThreadPoolExecutor(self.threads, thread_name_prefix="merge") as pool:
            running = [pool.submit(work, *chunk) for chunk in self.chunks()]
        for one in running:
            one.result()

    def chunks(self) -> list[tuple[str, slice]]:
        """All rows of all tables in chunks."""
        chunks = []
        for name, table in self.merged.items():
            step = max(1, CHUNK_BYTES // table.strides[0])
            chunks += [(name, slice(first, min(first + step, len(table)))) for first in range(0, len(table), step)]
        return chunks


def check_memory(count: int, merged: Arrays) -> None:
    """Refuse replicas that need more memory than is free."""
    size, available = sum(table.nbytes for table in merged.values()), free_memory()
    if available is not None and count * size > available:
        raise SettingError(
            f"{count} replicas of tables of {size / 1e9:,.1f} GB take {count * size / 1e9:,.1f} GB, but "
            f"{available / 1e9:,.1f} GB are free; use fewer replicas, or threads without replicas"
        )
