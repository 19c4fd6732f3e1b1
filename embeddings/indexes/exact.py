"""Exact search: every row is compared; the results are the same on every machine.

Scores of a block of queries come from one float32 matrix product, whose last digits depend on the block, the library
and the processor. Scores that it cannot separate are recomputed row by row in float64, so equal rows tie exactly, and
a tie goes to the lower row, which is the more frequent word.

Scores are grouped in chunks. The k-th largest chunk maximum is not above the k-th largest score, so the scores above it
form a short list that holds the k best, and only chunks whose maximum reaches it are read again.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from embeddings.compilation.jit import entry_point
from embeddings.indexes.cosine_search import pair_cosines, product_error
from embeddings.indexes.protocol import SearchResult
from embeddings.settings import Settings
from embeddings.support.cosine import row_blocks
from embeddings.support.threads import run_slices

FEW_QUERIES = 8  # up to this number a product per query is faster: BLAS first copies all rows into another layout


BYTES_PER_THREAD = 1 << 25  # of rows; fewer are read before a thread has started


def products(units: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The products (queries, rows) of unit rows with `queries` (queries, dim) float32.

    Rows are float32, or for at most `FEW_QUERIES` also float16 or int8. Few queries are not answered by BLAS, whose
    threads would wait for those of other callers: a server with 8 threads would answer fewer queries than with one.
    """
    if len(queries) > FEW_QUERIES:
        return np.asarray(queries @ units.T)
    scores = np.empty((len(queries), len(units)), np.float32)
    is_half = units.dtype == np.float16
    kernel, rows = (multiply_halves, units.view(np.uint16)) if is_half else (multiply, units)

    def work(part: slice) -> None:
        for query, row in zip(queries, scores, strict=True):
            kernel(rows[part], query, row[part])

    run_slices(len(units), work, least=BYTES_PER_THREAD // max(1, units.strides[0]))
    return scores


@entry_point
def multiply(units: np.ndarray, query: np.ndarray, scores: np.ndarray) -> None:
    """The product of each row with one query."""
    for i in range(scores.shape[0]):
        row, total = units[i], np.float32(0)
        for d in range(row.shape[0]):
            total += row[d] * query[d]
        scores[i] = total


@entry_point
def multiply_halves(bits: np.ndarray, query: np.ndarray, scores: np.ndarray) -> None:
    """The product of each row with one query; `bits` (rows, dim) uint16 are those of float16 numbers.

    As bits of a float32, exponent and fraction of a float16 are its number times 2**-112.
    """
    for i in range(scores.shape[0]):
        row, total = bits[i], np.float32(0)
        for d in range(row.shape[0]):
            number = np.uint32(row[d])
            wide = np.uint32((number & 0x7FFF) << 13 | (number & 0x8000) << 16)
            total += wide.view(np.float32) * query[d]
        scores[i] = total * np.float32(2.0**112)


CHUNK = 64


def shortlist(scores: np.ndarray, top: int, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """For each row of `scores` (queries, n) the columns that may be among its `top` highest, ascending.

    `margin` is the largest error of a difference of scores. Returns how many columns each query has, (queries,), and
    the columns of all queries, concatenated.
    """
    queries, n = scores.shape
    chunk = max(1, min(CHUNK, n // (4 * top)))
    maxima = np.empty((queries, -(-n // chunk)), np.float32)
    chunk_maxima(scores, maxima, chunk)
    last = np.partition(maxima, maxima.shape[1] - top, axis=1)[:, maxima.shape[1] - top]
    thresholds = last - np.float32(margin)
    n_read = chunk * int(np.count_nonzero(maxima >= thresholds[:, None]))
    counts, columns = np.empty(queries, np.int64), np.empty(n_read, np.int64)
    list_above(scores, maxima, thresholds, chunk, counts, columns)
    return counts, columns[: counts.sum()]


@entry_point
def chunk_maxima(scores: np.ndarray, maxima: np.ndarray, chunk: int) -> None:
    """The highest score of each chunk."""
    for q in range(scores.shape[0]):
        for c in range(maxima.shape[1]):
            part = scores[q, c * chunk : (c + 1) * chunk]
            highest = part[0]
            for i in range(part.shape[0]):
                highest = max(highest, part[i])
            maxima[q, c] = highest


@entry_point
def list_above(
    scores: np.ndarray, maxima: np.ndarray, thresholds: np.ndarray, chunk: int, counts: np.ndarray, columns: np.ndarray
) -> None:
    """Count the scores of each row that reach its threshold, and list their columns, ascending, row by row."""
    n = 0
    for q in range(scores.shape[0]):
        start = n
        for c in range(maxima.shape[1]):
            if maxima[q, c] >= thresholds[q]:
                part = scores[q, c * chunk : (c + 1) * chunk]
                for i in range(part.shape[0]):
                    if part[i] >= thresholds[q]:
                        columns[n] = c * chunk + i
                        n += 1
        counts[q] = n - start


Output = tuple[np.ndarray, np.ndarray]
MAX_BATCH = 1 << 20  # rows compared again at once


@dataclass(frozen=True, kw_only=True)
class Exact(Settings):
    """Compares queries with every row in blocked matrix products. It requires no building and finds all neighbours."""

    def build(self, units: np.ndarray) -> "ExactSearch":
        """See `Kind.build`."""
        return ExactSearch(units)

    def restore(self, units: np.ndarray, arrays: Mapping[str, np.ndarray]) -> "ExactSearch":
        """See `Kind.restore`; there are no arrays."""
        return ExactSearch(units)


class ExactSearch:
    """Exact search among unit rows."""

    def __init__(self, units: np.ndarray) -> None:
        self.units = units

    def search(self, queries: np.ndarray, top: int, restrict: int | None) -> SearchResult:
        """See `Engine.search`."""
        candidates = self.units[:restrict]
        ids = np.empty((len(queries), top), np.int64)
        similarities = np.empty((len(queries), top))
        for part in row_blocks(len(queries), len(candidates)):
            block, scores = queries[part], products(candidates, queries[part].astype(np.float32))
            output = ids[part], similarities[part]

            def work(rows: slice, block: np.ndarray = block, scores: np.ndarray = scores, out: Output = output) -> None:
                write_best(candidates, block[rows], scores[rows], (out[0][rows], out[1][rows]))

            run_slices(len(block), work)
        return SearchResult(ids, similarities)

    def arrays(self) -> dict[str, np.ndarray]:
        """See `Engine.arrays`; there are none."""
        return {}


def write_best(units: np.ndarray, queries: np.ndarray, scores: np.ndarray, output: Output) -> None:
    """Write the best rows by rough scores (queries, rows), as ids and exact cosines (queries, top)."""
    ids, similarities = output
    counts, columns = shortlist(scores, ids.shape[1], product_error(units))
    single = [slice(query, query + 1) for query in range(len(counts))]  # where ties make the lists long
    for part in [slice(0, len(counts))] if counts.sum() <= MAX_BATCH else single:
        candidates = columns[counts[: part.start].sum() : counts[: part.stop].sum()]
        ids[part], similarities[part] = rank(units, queries[part], counts[part], candidates, ids.shape[1])


def rank(units: np.ndarray, queries: np.ndarray, counts: np.ndarray, columns: np.ndarray, top: int) -> Output:
    """The best `top` of each query's columns, as ids and exact cosines (queries, top)."""
    owners = np.repeat(np.arange(len(queries)), counts)
    cosines = pair_cosines(units, columns, queries, owners)
    order = np.lexsort((columns, -cosines, owners))
    starts = np.cumsum(counts) - counts
    best = order[starts[:, None] + np.arange(top)]
    return columns[best], cosines[best]
