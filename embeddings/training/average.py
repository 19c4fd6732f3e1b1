"""The mean of tables over the last part of training, which is saved in place of the tables at the end."""

import numpy as np

from embeddings.models.table import Arrays

AVERAGE = "average"  # in the record of a model whose tables are averages
POINTS = 20  # at which the tables enter the mean; the last is the end of training
BLOCK = 1 << 22  # numbers at a time, so that no further table is ever in memory


class Average:
    """A running mean of tables, taken at equal distances in the last `share` of training, 0 to 1; None takes none."""

    def __init__(self, share: float | None) -> None:
        self.share = share
        self.tables: Arrays = {}
        self.count = 0  # points in the mean
        self.next_point = 1  # to `POINTS`

    @property
    def due(self) -> float | None:
        """The share of training after which the next point is due; None if it is the end of training, or none is."""
        if self.share is None or self.next_point >= POINTS:
            return None
        return 1 - self.share * (POINTS - self.next_point) / POINTS

    def add(self, tables: Arrays) -> None:
        """Add a point."""
        self.next_point += 1
        self.count += 1
        if self.count == 1:
            self.tables = copies(tables)
            return
        for name, table in self.tables.items():
            mean, numbers = table.reshape(-1), tables[name].reshape(-1)
            # In blocks, since the difference of two tables would be a third one in memory.
            for start in range(0, len(mean), BLOCK):
                block = slice(start, start + BLOCK)
                mean[block] += (numbers[block] - mean[block]) / np.float32(self.count)


def copies(tables: Arrays) -> Arrays:
    """Copies of all tables."""
    return {name: table.copy() for name, table in tables.items()}
