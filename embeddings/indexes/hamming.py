"""Search by signatures: compares every row's bits with the query's, then the best rows exactly. Compiled.

Distances are grouped in chunks, as `shortlist` groups scores: the n-th smallest chunk minimum is not below the n-th
smallest distance, and only chunks whose minimum reaches it are read again. So at least n rows, and a few more, are
compared exactly.
"""

from typing import NamedTuple

import numpy as np

from embeddings.indexes.hyperplanes import WORD_BITS, Planes, pack_word, project
from embeddings.indexes.protocol import SearchResult
from embeddings.indexes.result_heap import clear, cosine, insert, rank_exactly, sort
from embeddings.kernels.jit import entry_point, inline, noinline
from embeddings.kernels.popcount import popcount

BLOCK = 1024  # rows whose distances are computed together
CHUNK = 32


class Scratch(NamedTuple):
    """Buffers of one search."""

    query: np.ndarray  # (dim,) float32
    products: np.ndarray  # (bits,) float32
    signature: np.ndarray  # (words,) uint64
    distances: np.ndarray  # (rows,) uint16
    minima: np.ndarray  # (chunks,) uint16
    histogram: np.ndarray  # (bits + 1,) int64
    rows: np.ndarray  # (rows,) int32
    chunk: int


def new_scratch(dim: int, bits: int, rows: int, n_nearest: int) -> Scratch:
    """Buffers for a search of the `n_nearest` rows by signature."""
    chunk = max(1, min(CHUNK, rows // (2 * n_nearest)))
    return Scratch(
        np.empty(dim, np.float32),
        np.empty(bits, np.float32),
        np.empty(-(-bits // WORD_BITS), np.uint64),
        np.empty(rows, np.uint16),
        np.empty(-(-rows // chunk), np.uint16),
        np.empty(bits + 1, np.int64),
        np.empty(rows, np.int32),
        chunk,
    )


@entry_point
def search(
    units: np.ndarray,
    queries: np.ndarray,
    planes: Planes,
    signatures: np.ndarray,
    rerank: int,
    result: SearchResult,
    scratch: Scratch,
) -> None:
    """Write the rows nearest to each of `queries` (queries, dim) among the first `scratch.distances.shape[0]` rows.

    `signatures` are (words, rows). At least `rerank` rows are compared exactly; with 0 the results are in order of
    signature distance, and cosines are computed only for them.
    """
    for q in range(queries.shape[0]):
        sign_query(queries[q], planes, scratch)
        compute_distances(signatures, scratch)
        if rerank > 0:
            n = list_nearest(scratch, rerank)
            rank_exactly(units, queries[q], scratch.rows[:n], result.ids[q], result.similarities[q])
            result.n_compared[q] = n
        else:
            n = list_nearest(scratch, result.ids.shape[1])
            rank_by_distance(scratch, n, result.ids[q], result.similarities[q])
            fill_cosines(units, queries[q], result.ids[q], result.similarities[q])
            result.n_compared[q] = 0


@inline
def sign_query(query: np.ndarray, planes: Planes, scratch: Scratch) -> None:
    """The signature of a query."""
    project(query, scratch.query, planes, scratch.products)
    for w in range(scratch.signature.shape[0]):
        start, stop = w * WORD_BITS, (w + 1) * WORD_BITS
        scratch.signature[w] = pack_word(scratch.products[start:stop], planes.offsets[start:stop])


@noinline
def compute_distances(signatures: np.ndarray, scratch: Scratch) -> None:
    """The distances of all rows and the minimum of each chunk, word by word so that the loops vectorise."""
    for start in range(0, scratch.distances.shape[0], BLOCK):
        block = scratch.distances[start : start + BLOCK]
        for w in range(signatures.shape[0]):
            add_distances(signatures[w, start : start + BLOCK], scratch.signature[w], block, w == 0)
    for c in range(scratch.minima.shape[0]):
        part = scratch.distances[c * scratch.chunk : (c + 1) * scratch.chunk]
        minimum = part[0]
        for i in range(part.shape[0]):
            minimum = min(minimum, part[i])
        scratch.minima[c] = minimum


@inline
def add_distances(words: np.ndarray, query_word: np.uint64, distances: np.ndarray, first: bool) -> None:
    """Add the number of bits in which the words of a block differ from the query's."""
    if first:
        distances[:] = 0
    for i in range(distances.shape[0]):
        distances[i] = np.uint16(distances[i] + np.uint16(popcount(words[i] ^ query_word)))


@noinline
def list_nearest(scratch: Scratch, n_nearest: int) -> int:
    """List the rows within the distance limit for the `n_nearest` nearest, ascending; returns their number."""
    limit = distance_limit(scratch, n_nearest)
    n = 0
    for c in range(scratch.minima.shape[0]):
        if scratch.minima[c] <= limit:
            start = c * scratch.chunk
            part = scratch.distances[start : start + scratch.chunk]
            for i in range(part.shape[0]):
                scratch.rows[n] = start + i
                n += int(part[i] <= limit)  # branch-free: half of the predictions would fail
    return n


@inline
def distance_limit(scratch: Scratch, n_nearest: int) -> int:
    """A distance that at least `n_nearest` rows do not exceed: that many chunks have a minimum within it."""
    scratch.histogram[:] = 0
    for c in range(scratch.minima.shape[0]):
        scratch.histogram[scratch.minima[c]] += 1
    distance, count = 0, int(scratch.histogram[0])
    while count < n_nearest and distance + 1 < scratch.histogram.shape[0]:
        distance += 1
        count += int(scratch.histogram[distance])
    return distance


@noinline
def rank_by_distance(scratch: Scratch, n: int, ids: np.ndarray, similarities: np.ndarray) -> None:
    """The first n listed rows in order of their distances, which become negative similarities."""
    clear(ids, similarities)
    for i in range(n):
        row = scratch.rows[i]
        insert(ids, similarities, row, -np.float64(scratch.distances[row]))
    sort(ids, similarities)


@noinline
def fill_cosines(units: np.ndarray, query: np.ndarray, ids: np.ndarray, similarities: np.ndarray) -> None:
    """Replace the similarities of the resulting rows by their cosines, whatever their order."""
    for i in range(ids.shape[0]):
        if ids[i] >= 0:
            similarities[i] = cosine(units[ids[i]], query)
