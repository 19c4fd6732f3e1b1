"""Hidden rows of several windows learn together: those that lie apart, have no word in common and share noise words.

The noise words meet all the hidden rows in one product, so that each of their rows is read and written once for all;
then each hidden row meets its own centre. A noise word that is the centre itself counts for nothing, as in word2vec.

A model lets `choose` write centres, puts the hidden row of each into the first rows of a bundle and zeros into its
`gradient_row`, and calls `learn_together`. Weights of targets stay 1.
"""

import numpy as np

from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.bundle import Bundle, add_steps, is_sampled, new_bundle, tally_loss
from embeddings.kernels.compile import piece
from embeddings.kernels.logistic import to_steps
from embeddings.kernels.rows import address, pitch, prefetch, score, update

NEVER = -1e30  # a score whose logistic, and loss as noise, is 0


def hidden_bundle(together: int, negatives: int, width: int, *, contexts: int, dtype: type = np.float32) -> Bundle:
    """A bundle for so many hidden rows at a time, each made of up to so many contexts."""
    return new_bundle(together, negatives, width, contexts=contexts, rows=2 * together, dtype=dtype)


@piece
def choose(block: Block, bundle: Bundle, i: int, apart: int, together: int, alone: bool) -> int:
    """Write to `centres` those that share noise words with centre i, if it is the first of them; gives how many.

    Centres without a context count only if `alone`.
    """
    first, last, m = block.place[FIRST], block.place[LAST], 0
    if (i - first) // apart % together == 0:
        for c in range(i, min(i + apart * together, last), apart):
            if alone or block.stop[c] - block.start[c] > 1:
                bundle.centres[m] = c
                m += 1
    return m


@piece
def gradient_row(bundle: Bundle, k: int) -> int:
    """The row of `rows` for the gradient of hidden row k."""
    return int(bundle.read.shape[0] + k)


@piece
def learn_together(block: Block, output: np.ndarray, bundle: Bundle, m: int, width: int, rate: float) -> None:
    """Move targets one step of size `rate`, and gather the gradients of m hidden rows."""
    sampled = is_sampled(bundle)
    n = score_noise(block, output, bundle, m, width, rate, sampled)
    update(bundle.scores, bundle.read, bundle.moved, m, bundle.targets, n, width)
    for k in range(m):
        score_centre(block, output, bundle, k, width, rate, sampled)
        update(bundle.scores, bundle.read, bundle.moved, 1, bundle.targets, 1, width)
        ask_next(block, output, bundle, m, k)


@piece
def find_together(block: Block, output: np.ndarray, bundle: Bundle, m: int, width: int, rate: float, part: int) -> None:
    """Gather the first `part` numbers of the gradients, and move no target."""
    sampled = is_sampled(bundle)
    n = score_noise(block, output, bundle, m, width, rate, sampled)
    for k in range(m):
        add_steps(bundle, k, n, part)
    for k in range(m):
        score_centre(block, output, bundle, k, width, rate, sampled)
        add_steps(bundle, 0, 1, part)
        ask_next(block, output, bundle, m, k)


@piece
def score_noise(
    block: Block, output: np.ndarray, bundle: Bundle, m: int, width: int, rate: float, sampled: bool
) -> int:
    """Put the steps of m hidden rows and the noise words of the first one into `scores`; gives how many those are."""
    n = int(block.noise.shape[1])
    for j in range(n):
        bundle.targets[j] = address(output, block.noise[bundle.centres[0], j])
    for k in range(m):
        bundle.read[k], bundle.moved[k] = address(bundle.rows, k), address(bundle.rows, gradient_row(bundle, k))
    score(bundle.scores, bundle.read, m, bundle.targets, n, width)
    set_own(block, bundle, m, n, NEVER)
    if sampled:
        tally_loss(bundle, m, 0, n)
    to_steps(bundle.scores, m, 0, n, bundle.weights, rate)
    set_own(block, bundle, m, n, 0)
    return n


@piece
def set_own(block: Block, bundle: Bundle, m: int, n: int, value: float) -> None:
    """Give a value to the scores of noise words that are the centre themselves."""
    gap = pitch(n)
    for k in range(m):
        centre = block.words[bundle.centres[k]]
        for j in range(n):
            if block.noise[bundle.centres[0], j] == centre:
                bundle.scores[k * gap + j] = value


@piece
def score_centre(
    block: Block, output: np.ndarray, bundle: Bundle, k: int, width: int, rate: float, sampled: bool
) -> None:
    """Put the step of hidden row k and its centre into `scores`."""
    bundle.read[0], bundle.moved[0] = address(bundle.rows, k), address(bundle.rows, gradient_row(bundle, k))
    bundle.targets[0] = address(output, block.words[bundle.centres[k]])
    score(bundle.scores, bundle.read, 1, bundle.targets, 1, width)
    if sampled:
        tally_loss(bundle, 1, 1, 1)
    to_steps(bundle.scores, 1, 1, 1, bundle.weights, rate)


@piece
def ask_next(block: Block, output: np.ndarray, bundle: Bundle, m: int, k: int) -> None:
    """Fetch what the windows one word further on will need into the cache: the k-th's centre, and a part of the noise.

    Asked for one by one, while others are learned, they do not wait for each other.
    """
    size, first, own = output.shape[1] * output.itemsize, bundle.centres[0] + 1, bundle.centres[k] + 1
    if own < block.place[LAST]:
        prefetch(address(output, block.words[own]), size)
    if first < block.place[LAST]:
        for j in range(k, block.noise.shape[1], m):
            prefetch(address(output, block.noise[first, j]), size)
