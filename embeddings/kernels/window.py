"""A centre's rows in a bundle: its contexts, itself and its noise; and the next ones asked for ahead of time."""

import numpy as np

from embeddings.kernels.block import Block
from embeddings.kernels.jit import piece
from embeddings.kernels.row_cache import Kept, row_of
from embeddings.kernels.row_operations import address, prefetch
from embeddings.kernels.step_buffers import Bundle

AHEAD = 8  # centres; a context is asked for so long before it enters a window


@piece
def contexts(block: Block, table: np.ndarray, kept: Kept, rows: np.ndarray, i: int) -> int:
    """Write the addresses of the rows of centre i's contexts, left to right; gives how many there are."""
    m = 0
    for c in range(block.start[i], i):
        rows[m] = row_of(table, kept, block.inputs[c])
        m += 1
    for c in range(i + 1, block.stop[i]):
        rows[m] = row_of(table, kept, block.inputs[c])
        m += 1
    return m


@piece
def slot_of(c: int, i: int, window: int) -> int:
    """Where c stands around i: 0 for the furthest on the left, `2 window - 1` for the furthest on the right."""
    return c - i + window - (c > i)


@piece
def in_slots(block: Block, table: np.ndarray, bundle: Bundle, i: int, window: int, first: int, none: int) -> None:
    """Write the rows of centre i's contexts to `read`, each in its slot by where it stands; `none` elsewhere.

    Slots begin at `first`: the furthest context on the left, ..., the furthest one on the right, `window` words away.
    """
    bundle.read[first : first + 2 * window] = none
    for c in range(block.start[i], block.stop[i]):
        if c != i:
            bundle.read[first + slot_of(c, i, window)] = row_of(table, bundle.inputs, block.inputs[c])


@piece
def centre_and_noise(
    block: Block, table: np.ndarray, bundle: Bundle, i: int, first: int = 0, slots: int = 1, slot: int = 0
) -> int:
    """Write the addresses of centre i's row and of its noise rows, from the first on; gives how many there are.

    Where each word has a row for each of several slots, those of one slot. A noise word that is the centre itself
    counts for nothing, as in word2vec.
    """
    centre = block.words[i]
    negatives = bundle.targets.shape[0] - 1
    bundle.targets[0] = row_of(table, bundle.outputs, centre * slots + slot)
    for j in range(negatives):
        word = block.noise[i, first + j]
        bundle.targets[1 + j] = row_of(table, bundle.outputs, word * slots + slot)
        bundle.weights[1 + j] = word != centre
    return int(1 + negatives)


@piece
def ask_ahead(block: Block, inputs: np.ndarray, kept: Kept, outputs: np.ndarray, noise: int, i: int, last: int) -> None:
    """Fetch into the cache the centre after i with its first noise rows, and a context of later ones."""
    ask_targets(block, outputs, noise, i, last)
    ask_context(block, inputs, kept, i, last)


@piece
def ask_context(block: Block, table: np.ndarray, kept: Kept, i: int, last: int) -> None:
    """Fetch into the cache a context of centres after i."""
    if i + AHEAD < last and block.inputs[i + AHEAD] >= kept.uses.shape[0]:
        prefetch(address(table, block.inputs[i + AHEAD]), table.shape[1] * table.itemsize)


@piece
def ask_targets(block: Block, table: np.ndarray, noise: int, i: int, last: int, slots: int = 1, slot: int = 0) -> None:
    """Fetch into the cache the rows of the centre after i and of its first noise words, those of one slot."""
    if i + 1 < last:
        size = table.shape[1] * table.itemsize
        prefetch(address(table, block.words[i + 1] * slots + slot), size)
        for j in range(noise):
            prefetch(address(table, block.noise[i + 1, j] * slots + slot), size)
