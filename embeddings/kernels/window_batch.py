"""Windows whose contexts stand side by side learn together: those apart, with no word in common, that share noise.

Each meets its own centre and the noise words in one step, so that a row of noise is read and written once for all. A
noise word that is the centre itself counts for nothing, as in word2vec.

A model lets `choose` write centres, the rows of each window to `read`, in their places, and calls `learn_together`.
"""

import numpy as np

from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.concatenated_window import score_beside, update_beside
from embeddings.kernels.jit import piece
from embeddings.kernels.logistic import to_steps
from embeddings.kernels.row_cache import row_of
from embeddings.kernels.row_operations import address, pitch, prefetch_long, total
from embeddings.kernels.step_buffers import Bundle, hold_still, is_sampled, new_bundle, tally_loss

AT_ONCE = 4  # windows that learn together at most; more that share noise would push it too far in one step
NEVER = -1e30  # a score whose logistic, and loss as noise, is 0
NOTHING, NOWHERE = 0, 1  # of `Bundle.rows`: zeros that are read where there is no row, and what takes their steps


def bundle_beside(
    together: int, noise: int, width: int, *, slots: int, weight: float = 1.0, dtype: type = np.float32
) -> Bundle:
    """A bundle for so many windows at a time, each of so many rows of `width` numbers; noise words have a weight."""
    made = new_bundle(together * slots, noise + together, width, contexts=1, rows=2, dtype=dtype)
    made.weights[1 : 1 + noise] = weight
    return made._replace(centres=np.zeros(together, np.int64))


@piece
def choose(block: Block, bundle: Bundle, i: int, apart: int, at_once: int, alone: bool) -> int:
    """Write to `centres` those that learn together with centre i, if it is the first of them; gives how many.

    These are a part of those that share noise words with it.

    Centres without a context count only if `alone`.
    """
    first, last, m = block.place[FIRST], block.place[LAST], 0
    if (i - first) // apart % at_once == 0:
        for c in range(i, min(i + apart * at_once, last), apart):
            if alone or block.stop[c] - block.start[c] > 1:
                bundle.centres[m] = c
                m += 1
    return m


@piece
def learn_together(block: Block, output: np.ndarray, bundle: Bundle, m: int, slots: int, rate: float) -> None:
    """Move the rows of m windows, their centres and their noise words one step of size `rate`."""
    noise, width = int(block.noise.shape[1]), output.shape[1] // slots
    find_together(block, output, bundle, m, slots, rate)
    nothing, nowhere = address(bundle.rows, NOTHING), address(bundle.rows, NOWHERE)
    for row in range(m * slots):
        bundle.moved[row] = nowhere if bundle.read[row] == nothing else bundle.read[row]
    hold_still(bundle, bundle.moved, m * slots)
    update_beside(bundle.scores, bundle.read, bundle.moved, m, bundle.targets, noise, slots, width)


@piece
def find_together(block: Block, output: np.ndarray, bundle: Bundle, m: int, slots: int, rate: float) -> None:
    """Put the steps of m windows with their centres and noise words into `scores`."""
    noise, width = int(block.noise.shape[1]), output.shape[1] // slots
    for j in range(noise):
        bundle.targets[j] = row_of(output, bundle.outputs, block.noise[bundle.centres[0], j])
    for k in range(m):
        bundle.targets[noise + k] = row_of(output, bundle.outputs, block.words[bundle.centres[k]])
    for k in range(m):
        ask_next(block, output, bundle, m, k)
        if k % 2 == 0:
            score_beside(bundle.scores, bundle.read, bundle.targets, noise, k, m, slots, width)
    set_own(block, bundle, m, noise, NEVER)
    if is_sampled(bundle):
        tally_loss(bundle, m, 1, 1 + noise)
    to_steps(bundle.scores, m, 1, 1 + noise, bundle.weights, rate)
    set_own(block, bundle, m, noise, 0)


@piece
def give_first(bundle: Bundle, m: int, noise: int, slots: int, width: int) -> None:
    """Move the first row of each of m windows by the steps found, and nothing else. `factor` is used up."""
    gap = pitch(1 + noise)
    for k in range(m):
        for j in range(1 + noise):
            bundle.factor[0] = bundle.scores[k * gap + j]
            bundle.context[0] = bundle.targets[noise + k if j == 0 else j - 1]
            total(bundle.factor, bundle.read[k * slots], bundle.context, 1, width)


@piece
def set_own(block: Block, bundle: Bundle, m: int, noise: int, value: float) -> None:
    """Give a value to the scores of noise words that are the centre themselves."""
    gap = pitch(1 + noise)
    for k in range(m):
        centre = block.words[bundle.centres[k]]
        for j in range(noise):
            if block.noise[bundle.centres[0], j] == centre:
                bundle.scores[k * gap + 1 + j] = value


@piece
def ask_next(block: Block, output: np.ndarray, bundle: Bundle, m: int, k: int) -> None:
    """Fetch what the windows one word further on will need into the cache: the k-th's centre, and a part of the noise.

    Asked for one by one, while others are scored, they do not wait for each other.
    """
    size, first, own = output.shape[1] * output.itemsize, bundle.centres[0] + 1, bundle.centres[k] + 1
    if own < block.place[LAST]:
        prefetch_long(address(output, block.words[own]), size)
    if first < block.place[LAST]:
        for j in range(k, block.noise.shape[1], m):
            prefetch_long(address(output, block.noise[first, j]), size)
