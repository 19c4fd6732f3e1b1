"""Every row compared: the neighbours there are, the same on every machine.

Scores of a block of queries come from one float32 matrix product. Its last digits depend on the block, the library
and the processor, so whatever it cannot tell apart is decided again row by row in float64: equal rows tie exactly,
and a tie goes to the lower row, which is the more frequent word.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from embeddings.indexes.block_products import products
from embeddings.indexes.parallel import spread
from embeddings.indexes.protocol import Found
from embeddings.indexes.selection import shortlist
from embeddings.settings import Settings
from embeddings.support.cosine import pair_cosines, rounding, row_blocks

Goal = tuple[np.ndarray, np.ndarray]
MANY = 1 << 20  # rows to compare again for a block of queries


@dataclass(frozen=True, kw_only=True)
class Exact(Settings):
    """Compares with every row in blocked matrix products. Nothing to build, and nothing missed."""

    def build(self, units: np.ndarray) -> "ExactSearch":
        """The rows themselves; see `embeddings.indexes.protocol.Kind`."""
        return ExactSearch(units)

    def restore(self, units: np.ndarray, arrays: Mapping[str, np.ndarray]) -> "ExactSearch":
        """The same."""
        return ExactSearch(units)


class ExactSearch:
    """Exact search among unit rows."""

    def __init__(self, units: np.ndarray) -> None:
        self.units = units

    def search(self, queries: np.ndarray, top: int, restrict: int | None) -> Found:
        """See `embeddings.indexes.protocol.Engine`."""
        candidates = self.units[:restrict]
        ids = np.empty((len(queries), top), np.int64)
        similarities = np.empty((len(queries), top))
        for part in row_blocks(len(queries), len(candidates)):
            block, scores = queries[part], products(candidates, queries[part].astype(np.float32))
            goal = ids[part], similarities[part]

            def work(own: slice, block: np.ndarray = block, scores: np.ndarray = scores, goal: Goal = goal) -> None:
                write_best(candidates, block[own], scores[own], (goal[0][own], goal[1][own]))

            spread(len(block), work)
        return Found(ids, similarities, np.full(len(queries), len(candidates)))

    def arrays(self) -> dict[str, np.ndarray]:
        """Nothing."""
        return {}


def write_best(units: np.ndarray, queries: np.ndarray, scores: np.ndarray, goal: Goal) -> None:
    """Write the best of all rows, by their rough scores (queries, rows), as ids and exact cosines (queries, top)."""
    ids, similarities = goal
    counts, columns = shortlist(scores, ids.shape[1], rounding(units))
    for own in shares(counts):
        these = columns[counts[: own.start].sum() : counts[: own.stop].sum()]
        ids[own], similarities[own] = in_order(units, queries[own], counts[own], these, ids.shape[1])


def shares(counts: np.ndarray) -> list[slice]:
    """Queries whose lists are put in order at once: all of them, or one by one where ties make their lists long."""
    if counts.sum() <= MANY:
        return [slice(0, len(counts))]
    return [slice(query, query + 1) for query in range(len(counts))]


def in_order(
    units: np.ndarray, queries: np.ndarray, counts: np.ndarray, columns: np.ndarray, top: int
) -> tuple[np.ndarray, np.ndarray]:
    """The best `top` of each query's columns, as ids and exact cosines (queries, top)."""
    owners = np.repeat(np.arange(len(queries)), counts)
    values = pair_cosines(units, columns, queries, owners)
    order = np.lexsort((columns, -values, owners))
    starts = np.cumsum(counts) - counts
    chosen = order[starts[:, None] + np.arange(top)]
    return columns[chosen], values[chosen]
