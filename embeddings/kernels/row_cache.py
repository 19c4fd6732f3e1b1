"""Rows of the most frequent words that a thread keeps for itself, so that cores do not wait for each other's writes.

A row that two cores write in turn moves from cache to cache each time, and the most frequent words are in the windows
of all threads at any moment. So a thread works on copies of its own, gives what it changed in one to the table after
some uses, and at the end of a block, and goes on with what stands there then. One thread alone keeps none.
"""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.jit import aside, piece
from embeddings.kernels.row_operations import address, copy, total

WORDS = 32  # whose rows are kept; more of them would no longer stay in a core's own cache
USES = 32  # of a row before what was changed is given to the table


class Kept(NamedTuple):
    """Rows of the first words of a table, each followed by what it was when last given, and how often each was used.

    `rows` (2 words, width), `uses` (words,); `factor` (1,) and `goal` (1,) are what sums are written with.
    """

    rows: np.ndarray
    uses: np.ndarray
    factor: np.ndarray
    goal: np.ndarray


@piece
def row_of(table: np.ndarray, kept: Kept, word: int) -> int:
    """The address of the row of a word that is about to be used: the thread's own, or that of the table."""
    if word >= kept.uses.shape[0]:
        return int(address(table, word))
    if kept.uses[word] % USES == 0:
        renew(table, kept, word)
    kept.uses[word] += 1
    return int(address(kept.rows, 2 * word))


@aside
def renew(table: np.ndarray, kept: Kept, word: int) -> None:
    """Give what was changed to the table, and go on with what stands there then.

    Another thread may write there meanwhile, so what was read once is what is gone on with.
    """
    width, shared = table.shape[1], address(table, word)
    own, before = address(kept.rows, 2 * word), address(kept.rows, 2 * word + 1)
    if kept.uses[word] > 0:
        kept.factor[0], kept.goal[0] = -1, before
        total(kept.factor, own, kept.goal, 1, width)
        kept.factor[0], kept.goal[0] = 1, own
        total(kept.factor, shared, kept.goal, 1, width)
    copy(kept.factor, own, shared, width)
    copy(kept.factor, before, own, width)


@piece
def give_back(table: np.ndarray, kept: Kept) -> None:
    """Give all that was changed to the table: nothing is kept from block to block."""
    for word in range(kept.uses.shape[0]):
        if kept.uses[word] > 0:
            renew(table, kept, word)
            kept.uses[word] = 0
