"""Search in hash tables: rows whose bits are the query's, or nearly, are candidates, compared exactly. Compiled.

A table cuts space by `bits` hyperplanes. Its buckets are one array of rows sorted by their codes, and where each
code starts. Multi-probing looks not only into the query's own bucket but into those where a row near it is likeliest
to be: the ones across the hyperplanes that the query lies close to, in order of the sum of squared margins (Lv et
al. 2007).
"""

import threading
from typing import NamedTuple

import numpy as np

from embeddings.indexes.hyperplanes import Planes, packed, project
from embeddings.indexes.multiprobe import Heap, flipped, new_heap, next_set, start_sets
from embeddings.indexes.ranking import Lists, rank_exactly
from embeddings.kernels.jit import hot, piece

MOST_QUERIES = 2**31 - 2  # that scratch can tell apart


class Tables(NamedTuple):
    """`starts` (tables, 2^bits + 1) int32: bucket c of table t is `members[t, starts[t, c]:starts[t, c + 1]]`.

    `members` (tables, rows) int32, ascending in each bucket.
    """

    starts: np.ndarray
    members: np.ndarray


def new_tables(codes: np.ndarray, bits: int) -> Tables:
    """The buckets of rows from their codes (tables, rows), each below 2^bits."""
    members = np.argsort(codes, axis=1, kind="stable").astype(np.int32)
    starts = np.zeros((len(codes), (1 << bits) + 1), np.int32)
    for table, own in enumerate(codes):
        np.cumsum(np.bincount(own, minlength=1 << bits), out=starts[table, 1:])
    return Tables(starts, members)


class Scratch(NamedTuple):
    """What one search writes on."""

    query: np.ndarray  # (dim,) float32
    products: np.ndarray  # (tables * bits,) float32
    margins: np.ndarray  # (bits,) float64: squared, ascending
    flips: np.ndarray  # (bits,) int64: the bit of each margin
    heap: Heap
    seen: np.ndarray  # (rows,) int32: the last query that met a row
    rows: np.ndarray  # (rows,) int32
    asked: np.ndarray  # (1,) int32: the queries so far, of which each has the next number


def new_scratch(dim: int, tables: int, bits: int, probes: int, rows: int) -> Scratch:
    """Scratch for searches; good for so many queries as an int32 counts."""
    return Scratch(
        np.empty(dim, np.float32),
        np.empty(tables * bits, np.float32),
        np.empty(bits),
        np.empty(bits, np.int64),
        new_heap(probes),
        np.full(rows, -1, np.int32),
        np.empty(rows, np.int32),
        np.zeros(1, np.int32),
    )


@hot
def search(
    units: np.ndarray,
    queries: np.ndarray,
    planes: Planes,
    tables: Tables,
    probes: int,
    found: Lists,
    scratch: Scratch,
) -> None:
    """Find the rows nearest to each of `queries` (queries, dim) among those of the `probes` best buckets of each table.

    Rows are candidates below the length of `scratch.seen`.
    """
    bits = scratch.margins.shape[0]
    for q in range(queries.shape[0]):
        project(queries[q], scratch.query, planes, scratch.products)
        n, scratch.asked[0] = 0, scratch.asked[0] + 1
        for t in range(tables.starts.shape[0]):
            start, stop = t * bits, (t + 1) * bits
            products, offsets = scratch.products[start:stop], planes.offsets[start:stop]
            sort_margins(products, offsets, scratch)
            n = gather(
                tables.starts[t], tables.members[t], packed(products, offsets), probes, scratch.asked[0], n, scratch
            )
        rank_exactly(units, queries[q], scratch.rows[:n], found.ids[q], found.similarities[q])
        found.looked[q] = n


@piece
def sort_margins(products: np.ndarray, offsets: np.ndarray, scratch: Scratch) -> None:
    """Squared distances to the planes, ascending, and which planes they are: by insertion, as there are few."""
    for j in range(products.shape[0]):
        margin = np.float64(products[j] - offsets[j]) ** 2
        at = j
        while at > 0 and scratch.margins[at - 1] > margin:
            scratch.margins[at] = scratch.margins[at - 1]
            scratch.flips[at] = scratch.flips[at - 1]
            at -= 1
        scratch.margins[at] = margin
        scratch.flips[at] = j


@piece
def gather(
    starts: np.ndarray, members: np.ndarray, code: np.uint64, probes: int, query: int, n: int, scratch: Scratch
) -> int:
    """Add the rows of a table's best buckets to the n candidates that there are; gives how many there are then."""
    n = add_bucket(starts, members, int(code), query, n, scratch)
    size = start_sets(scratch.heap, scratch.margins)
    for _ in range(probes - 1):
        crossed, size = next_set(scratch.heap, size, scratch.margins)
        n = add_bucket(starts, members, int(code) ^ flipped(crossed, scratch.flips), query, n, scratch)
    return n


@piece
def add_bucket(starts: np.ndarray, members: np.ndarray, code: int, query: int, n: int, scratch: Scratch) -> int:
    """Add the rows of one bucket that this query has not met."""
    for i in range(starts[code], starts[code + 1]):
        row = members[i]
        if row >= scratch.seen.shape[0]:
            break
        if scratch.seen[row] != query:
            scratch.seen[row] = query
            scratch.rows[n] = row
            n += 1
    return n


class Desk(threading.local):
    """A thread's own scratch, since to make it takes as long as a search does.

    Arguments:
        dim: and the rest are those of `new_scratch`.
    """

    def __init__(self, dim: int, tables: int, bits: int, probes: int, rows: int) -> None:
        self.shape = dim, tables, bits, probes, rows
        self.kept: Scratch | None = None

    def scratch(self, queries: int, rows: int) -> Scratch:
        """Scratch for so many queries, of which only the first so many rows are candidates."""
        if self.kept is None or int(self.kept.asked[0]) + queries > MOST_QUERIES:
            self.kept = new_scratch(*self.shape)
        return self.kept._replace(seen=self.kept.seen[:rows])
