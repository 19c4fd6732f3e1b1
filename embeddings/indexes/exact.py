"""Exact search: every row is compared; the results are the same on every machine.

Scores of a block of queries come from one float32 matrix product, whose last digits depend on the block, the library
and the processor. Scores that it cannot separate are recomputed row by row in float64, so equal rows tie exactly, and
a tie goes to the lower row, which is the more frequent word.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from embeddings.indexes.block_products import products
from embeddings.indexes.parallel import run_slices
from embeddings.indexes.protocol import SearchResult
from embeddings.indexes.shortlist import shortlist
from embeddings.settings import Settings
from embeddings.support.cosine import pair_cosines, product_error, row_blocks

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
        return SearchResult(ids, similarities, np.full(len(queries), len(candidates)))

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
