"""One step of any model: rows that go in, rows that are scored, labels and weights.

    S = H O'    G = rate W (Y - sigmoid(S))    O += G' H    and H's gradient G O goes to the rows that are moved

A model writes addresses of rows into a bundle and calls `learn`. Rows that go in may be rows of a table, moved
in place, or scratch rows that the model fills from several (a mean, a sum, rows side by side) and whose gradient
it hands back to them.
"""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.jit import aside, piece
from embeddings.kernels.logistic import loss, to_steps
from embeddings.kernels.matrix_products import COLUMNS, TARGETS
from embeddings.kernels.row_cache import WORDS, Kept
from embeddings.kernels.row_operations import PADDING, address, copy, pitch, score, total, update

SAMPLED = 64  # one bundle in so many is tallied for the loss
LOSS, PAIRS, NEXT, STEPS = range(4)  # of `Bundle.tally`
TABLE, BYTES, AWAY = range(3)  # of `Bundle.still`
AHEAD = 8  # numbers of it before the row at `AWAY`: a cache line
NONE_FROZEN = np.zeros(0, np.bool_)


class Bundle(NamedTuple):
    """What one thread writes on.

    `read` (inputs,), `moved` (inputs,) and `targets` (targets,) are addresses of rows; `weights` (targets,) is W,
    one for each target; `scores` is S and then G; `rows` (rows, width) are for hidden rows and their gradients;
    `old` keeps inputs as they were when targets are too many for one pass; `factor` (1,) is what sums are scaled by.
    `context` (contexts,) are addresses of rows that make up a hidden one; `centres` (inputs,) are the places in a block
    of the words that hidden rows predict.
    `tally` sums the loss of sampled bundles and the pairs of input and positive in them, and counts all bundles.
    `frozen` (rows,) tells which rows of one table are not to move, if any; `still` says where that table begins and how
    many bytes a row has, and holds a row that takes their steps and is never read.
    `inputs` and `outputs` are rows of the words that go in and of those that are scored that the thread keeps for
    itself, if any; see `embeddings.kernels.row_cache`.
    """

    read: np.ndarray
    moved: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    scores: np.ndarray
    context: np.ndarray
    rows: np.ndarray
    old: np.ndarray
    factor: np.ndarray
    tally: np.ndarray
    centres: np.ndarray
    frozen: np.ndarray
    still: np.ndarray
    inputs: Kept
    outputs: Kept


def aligned(rows: int, width: int, dtype: type = np.float32) -> np.ndarray:
    """A zero table whose rows begin at a cache line when `width` is a multiple of `PADDING`."""
    size = rows * width * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    table: np.ndarray = raw[start : start + size].view(dtype).reshape(rows, width)
    return table


def new_bundle(
    inputs: int, targets: int, width: int, *, contexts: int = 0, rows: int = 0, dtype: type = np.float32
) -> Bundle:
    """A bundle for up to so many inputs and targets, rows of `width` numbers, contexts and hidden rows."""
    gap = -(-targets // COLUMNS) * COLUMNS
    addresses = np.zeros(inputs, np.int64)
    return Bundle(
        read=addresses,
        moved=addresses.copy(),
        targets=np.zeros(targets, np.int64),
        weights=np.ones(targets, dtype),
        scores=np.zeros(inputs * gap + PADDING, dtype),
        context=np.zeros(contexts, np.int64),
        rows=aligned(rows, width, dtype),
        old=aligned(inputs if targets > TARGETS else 0, width, dtype),
        factor=np.ones(1, dtype),
        tally=np.zeros(4),
        centres=np.zeros(inputs, np.int64),
        frozen=NONE_FROZEN,
        still=np.zeros(3, np.int64),
        inputs=kept(0, width, dtype),
        outputs=kept(0, width, dtype),
    )


def kept(words: int, width: int, dtype: type = np.float32) -> Kept:
    """Room for the rows of so many words."""
    return Kept(aligned(2 * words, width, dtype), np.zeros(words, np.int64), np.ones(1, dtype), np.zeros(1, np.int64))


def keeping(
    bundle: Bundle, threads: int, *, inputs: np.ndarray | None = None, outputs: np.ndarray | None = None
) -> Bundle:
    """The bundle of one of so many threads, which keeps rows of the most frequent words of these tables."""
    if threads == 1:
        return bundle
    width, dtype = bundle.rows.shape[1], bundle.rows.dtype.type
    rooms = [
        kept(0, width, dtype) if table is None else kept(min(WORDS, len(table)), table.shape[1], dtype)
        for table in (inputs, outputs)
    ]
    return bundle._replace(inputs=rooms[0], outputs=rooms[1])


@piece
def learn(bundle: Bundle, m: int, p: int, n: int, width: int, rate: float) -> None:
    """Move m inputs and n targets, of which the first p are positive for all of them, one step of size `rate`.

    `weights[:n]` is the caller's to fill, for every bundle anew if it ever changes.
    """
    find_steps(bundle, m, p, n, width, rate)
    if n > TARGETS:
        keep_old(bundle, m, width)
    hold_still(bundle, bundle.moved, m)
    update(bundle.scores, bundle.read, bundle.moved, m, bundle.targets, n, width)


@piece
def learn_input(bundle: Bundle, p: int, n: int, width: int, rate: float) -> None:
    """Move a single input as `learn` does, and no target. `read[0]` and `factor` are used up."""
    find_steps(bundle, 1, p, n, width, rate)
    add_steps(bundle, 0, n, width)


@piece
def add_steps(bundle: Bundle, i: int, n: int, width: int) -> None:
    """Move input i by the steps that n targets give it. `read[0]` and `factor` are used up."""
    for j in range(n):
        bundle.factor[0], bundle.read[0] = bundle.scores[i * pitch(n) + j], bundle.targets[j]
        total(bundle.factor, bundle.moved[i], bundle.read, 1, width)


@piece
def find_steps(bundle: Bundle, m: int, p: int, n: int, width: int, rate: float) -> None:
    """Put G into `scores`, and tally the loss of sampled bundles."""
    score(bundle.scores, bundle.read, m, bundle.targets, n, width)
    if is_sampled(bundle):
        tally_loss(bundle, m, p, n)
    to_steps(bundle.scores, m, p, n, bundle.weights, rate)


@piece
def is_sampled(bundle: Bundle) -> bool:
    """Count a bundle; whether it is one of those that are tallied."""
    tally = bundle.tally
    tally[STEPS] += 1
    tally[NEXT] -= 1
    if tally[NEXT] < 0:
        tally[NEXT] += SAMPLED
        return True
    return False


@piece
def tally_loss(bundle: Bundle, m: int, p: int, n: int) -> None:
    """Add the loss of S and its positive pairs to the tally."""
    bundle.tally[LOSS] += loss(bundle.scores, m, p, n, bundle.weights)
    bundle.tally[PAIRS] += m * p


@piece
def keep_old(bundle: Bundle, m: int, width: int) -> None:
    """Let inputs be read from copies, so that every target sees them as they were."""
    for i in range(m):
        copy(bundle.scores, address(bundle.old, i), bundle.read[i], width)
        bundle.read[i] = address(bundle.old, i)


@piece
def hold_still(bundle: Bundle, rows: np.ndarray, m: int) -> None:
    """Let the frozen ones of m rows that are about to be moved stay as they are."""
    if bundle.frozen.shape[0] > 0:
        send_away(bundle.frozen, bundle.still, rows, m)


@aside
def send_away(frozen: np.ndarray, still: np.ndarray, rows: np.ndarray, m: int) -> None:
    """Write the address of the row that takes their steps in the place of those of frozen rows."""
    for j in range(m):
        row = (rows[j] - still[TABLE]) // still[BYTES]
        if 0 <= row < frozen.shape[0] and frozen[row]:
            rows[j] = still[AWAY]


def freeze(bundle: Bundle, table: np.ndarray, frozen: np.ndarray) -> Bundle:
    """The bundle for steps that leave those rows of a table where they are that are `frozen` (rows,); it keeps none."""
    words = table.shape[1] * table.itemsize // 8
    still = aligned(1, AHEAD + words, np.int64).reshape(-1)
    still[TABLE], still[BYTES] = table.ctypes.data, table.strides[0]
    still[AWAY] = still.ctypes.data + AHEAD * 8
    width, dtype = bundle.rows.shape[1], bundle.rows.dtype.type
    return bundle._replace(frozen=frozen, still=still, inputs=kept(0, width, dtype), outputs=kept(0, width, dtype))
