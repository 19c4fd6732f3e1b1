"""Search by signatures alone: every row's bits compared with the query's, the best rows then exactly. Compiled.

Distances are looked through as `selection` does with scores: the n-th smallest of the chunks' least distances is
not below the n-th smallest of all, and only chunks that reach it are read again. So at least n rows are compared
exactly, and a few more.
"""

from typing import NamedTuple

import numpy as np

from embeddings.indexes.hyperplanes import WORD, Planes, packed, project
from embeddings.indexes.ranking import Lists, clear, cosine, finish, insert, rank_exactly
from embeddings.kernels.jit import aside, hot, piece
from embeddings.kernels.popcount import popcount

BLOCK = 1024  # rows whose distances are taken together
CHUNK = 32


class Scratch(NamedTuple):
    """What one search writes on."""

    query: np.ndarray  # (dim,) float32
    products: np.ndarray  # (bits,) float32
    word: np.ndarray  # (words,) uint64
    distances: np.ndarray  # (rows,) uint16
    least: np.ndarray  # (chunks,) uint16
    histogram: np.ndarray  # (bits + 1,) int64
    rows: np.ndarray  # (rows,) int32
    chunk: int


def new_scratch(dim: int, bits: int, rows: int, wanted: int) -> Scratch:
    """Scratch for signatures of so many bits, and so many rows of which `wanted` are looked for."""
    chunk = max(1, min(CHUNK, rows // (2 * wanted)))
    return Scratch(
        np.empty(dim, np.float32),
        np.empty(bits, np.float32),
        np.empty(-(-bits // WORD), np.uint64),
        np.empty(rows, np.uint16),
        np.empty(-(-rows // chunk), np.uint16),
        np.empty(bits + 1, np.int64),
        np.empty(rows, np.int32),
        chunk,
    )


@hot
def search(
    units: np.ndarray,
    queries: np.ndarray,
    planes: Planes,
    signatures: np.ndarray,
    exactly: int,
    found: Lists,
    scratch: Scratch,
) -> None:
    """Find the rows nearest to each of `queries` (queries, dim); `signatures` are (words, rows).

    As many rows are candidates as `scratch` has distances for.

    At least `exactly` rows are compared exactly. If it is 0, rows are in order of their distances, and only those that
    are given have their cosines taken.
    """
    for q in range(queries.shape[0]):
        sign(queries[q], planes, scratch)
        measure(signatures, scratch)
        if exactly > 0:
            n = nearest(scratch, exactly)
            rank_exactly(units, queries[q], scratch.rows[:n], found.ids[q], found.similarities[q])
            found.looked[q] = n
        else:
            n = nearest(scratch, found.ids.shape[1])
            rank_by_distance(scratch, n, found.ids[q], found.similarities[q])
            take_cosines(units, queries[q], found.ids[q], found.similarities[q])
            found.looked[q] = 0


@piece
def sign(query: np.ndarray, planes: Planes, scratch: Scratch) -> None:
    """The signature of a query."""
    project(query, scratch.query, planes, scratch.products)
    for w in range(scratch.word.shape[0]):
        start, stop = w * WORD, (w + 1) * WORD
        scratch.word[w] = packed(scratch.products[start:stop], planes.offsets[start:stop])


@aside
def measure(signatures: np.ndarray, scratch: Scratch) -> None:
    """The distances of all rows, and the least of each chunk. Word after word, so that it becomes vector code."""
    for start in range(0, scratch.distances.shape[0], BLOCK):
        goal = scratch.distances[start : start + BLOCK]
        for w in range(signatures.shape[0]):
            add_distances(signatures[w, start : start + BLOCK], scratch.word[w], goal, w == 0)
    for c in range(scratch.least.shape[0]):
        part = scratch.distances[c * scratch.chunk : (c + 1) * scratch.chunk]
        least = part[0]
        for i in range(part.shape[0]):
            least = min(least, part[i])
        scratch.least[c] = least


@piece
def add_distances(words: np.ndarray, word: np.uint64, distances: np.ndarray, first: bool) -> None:
    """Count the bits in which words of a block differ from the query's."""
    if first:
        distances[:] = 0
    for i in range(distances.shape[0]):
        distances[i] = np.uint16(distances[i] + np.uint16(popcount(words[i] ^ word)))


@aside
def nearest(scratch: Scratch, wanted: int) -> int:
    """List the rows, ascending, that are no further than the `wanted` nearest; gives how many they are."""
    most = furthest(scratch, wanted)
    n = 0
    for c in range(scratch.least.shape[0]):
        if scratch.least[c] <= most:
            start = c * scratch.chunk
            part = scratch.distances[start : start + scratch.chunk]
            for i in range(part.shape[0]):
                scratch.rows[n] = start + i
                n += int(part[i] <= most)  # no branch: half of these guesses would fail
    return n


@piece
def furthest(scratch: Scratch, wanted: int) -> int:
    """A distance that at least `wanted` rows do not exceed: so many chunks have one within it."""
    scratch.histogram[:] = 0
    for c in range(scratch.least.shape[0]):
        scratch.histogram[scratch.least[c]] += 1
    distance, count = 0, int(scratch.histogram[0])
    while count < wanted and distance + 1 < scratch.histogram.shape[0]:
        distance += 1
        count += int(scratch.histogram[distance])
    return distance


@aside
def rank_by_distance(scratch: Scratch, n: int, ids: np.ndarray, similarities: np.ndarray) -> None:
    """The first n rows listed in order of their distances, which come back as less than nothing."""
    clear(ids, similarities)
    for i in range(n):
        row = scratch.rows[i]
        insert(ids, similarities, row, -np.float64(scratch.distances[row]))
    finish(ids, similarities)


@aside
def take_cosines(units: np.ndarray, query: np.ndarray, ids: np.ndarray, similarities: np.ndarray) -> None:
    """The cosines of rows that were found, in whatever order they are."""
    for i in range(ids.shape[0]):
        if ids[i] >= 0:
            similarities[i] = cosine(units[ids[i]], query)
