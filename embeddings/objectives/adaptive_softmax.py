"""Adaptive softmax (Grave et al. 2017): a softmax over frequent words and tails, and one over the words of a tail."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from embeddings.compilation.checked_build import register_rows
from embeddings.compilation.jit import as_helper, implements, inline
from embeddings.errors import S, SettingError
from embeddings.kernels.block import Block
from embeddings.kernels.gradient_steps import copy_inputs
from embeddings.kernels.loss_tally import count_step, tally_loss
from embeddings.kernels.row_operations import SINGLE_TILE, address, padded, score, sum_rows, update
from embeddings.kernels.softmax import softmax_steps
from embeddings.kernels.step_buffers import StepBuffers, mask_frozen
from embeddings.kernels.window import OutputSlot
from embeddings.models.table import Arrays, Table
from embeddings.objectives.objective import Objective, log_softmax, log_softmax_items, log_softmax_of_rows

SHRINKAGE = 4  # of the dimension from one tail to the next
FIRST_WORD, LAST_WORD, WIDTH, PROJECTION, TAIL, ROW_BYTES = range(6)  # of `AdaptiveTables.tails`
MAX_TAILS = 5
HEAD_FACTOR = 4  # of the square root of the vocabulary size; with 2 it is a third faster, but vectors are worse
ROW_COST = 10  # what a row costs besides its products, in multiplications: its sum, its exponential and its address
CUTOFF_CANDIDATES = 24
score_rows, update_rows = as_helper(score), as_helper(update)  # compiled once, not inlined


class AdaptiveTables(NamedTuple):
    """Vectors of the frequent words and then of the tails, (rows * slots, padded dim), and the tails.

    tails: (tails, 6) first and last word, dimension, addresses of its projection (dimension * slots, padded dim) and of
        its words' vectors (words * slots, dimension), and bytes of one of these.
    """

    head: np.ndarray
    tails: np.ndarray


@implements(AdaptiveTables)
@inline
def learn_head_and_tail(
    operand: AdaptiveTables, block: Block, buffers: StepBuffers, i: int, m: int, rate: float, slot: OutputSlot,
    first: int, frozen: bool,
) -> None:  # fmt: skip
    """Softmax over frequent words and tails, and, for a rarer word, over the words of its tail (`learn_tail`).

        g = rate * (y - softmax(x · o))    o += g * x    x += sum of g * o, of o before the step

    Both read the inputs as they were before the step.
    """
    word, width, n = block.words[i], operand.head.shape[1], operand.head.shape[0] // slot.per_word
    frequent, tail = n - operand.tails.shape[0], -1
    for t in range(operand.tails.shape[0]):
        if word >= operand.tails[t, FIRST_WORD]:
            tail = t
    # Always, not only for several tiles: the tail reads the inputs after the head has updated them.
    copy_inputs(buffers.input_copies, buffers.inputs, m, width)
    mask_frozen(buffers.frozen, buffers.frozen_sink, buffers.input_gradient_rows, m)
    for j in range(n):
        buffers.targets[j] = address(operand.head, j * slot.per_word + slot.number)
    score_rows(buffers.scores, buffers.inputs, m, buffers.targets, n, width)
    loss = softmax_steps(buffers.scores, m, n, 0, n, word if tail < 0 else frequent + tail, rate)
    apply_steps(buffers, buffers.input_gradient_rows, m, n, width, frozen)
    if tail >= 0:
        loss += learn_tail(operand, buffers, operand.tails[tail], word, m, rate, slot, frozen)
    if count_step(buffers.tally):
        tally_loss(buffers.tally, loss, m)


@inline
def learn_tail(
    operand: AdaptiveTables, buffers: StepBuffers, tail: np.ndarray, word: int, m: int, rate: float,
    slot: OutputSlot, frozen: bool,
) -> float:  # fmt: skip
    """With h = P x: G = Y - softmax(h O'), O += G' h, P += D' x and x += D P, where D = G O; returns the loss.

    `input_copies` holds x, then h, then D.
    """
    width, item, copies = operand.head.shape[1], operand.head.itemsize, buffers.input_copies
    dim, n, inputs = tail[WIDTH], tail[LAST_WORD] - tail[FIRST_WORD], copies.shape[0] // 3
    gather_rows(buffers.targets, tail[PROJECTION], dim, width * item, slot)
    score_rows(buffers.scores, buffers.inputs, m, buffers.targets, dim, width)
    for k in range(m):
        for j in range(dim):
            copies[inputs + k, j], copies[2 * inputs + k, j] = buffers.scores[k * dim + j], 0
        buffers.inputs[k] = address(copies, inputs + k)
        buffers.projection_gradient_rows[k] = address(copies, 2 * inputs + k)
    gather_rows(buffers.targets, tail[TAIL], n, tail[ROW_BYTES], slot)
    score_rows(buffers.scores, buffers.inputs, m, buffers.targets, n, dim)
    loss = softmax_steps(buffers.scores, m, n, 0, n, word - tail[FIRST_WORD], rate)
    apply_steps(buffers, buffers.projection_gradient_rows, m, n, dim, frozen)
    for k in range(m):
        for j in range(dim):
            buffers.scores[k * dim + j] = copies[2 * inputs + k, j]
        buffers.inputs[k] = address(copies, k)
    gather_rows(buffers.targets, tail[PROJECTION], dim, width * item, slot)
    apply_steps(buffers, buffers.input_gradient_rows, m, dim, width, frozen)
    return loss


@inline
def apply_steps(buffers: StepBuffers, gradient_rows: np.ndarray, m: int, n: int, width: int, frozen: bool) -> None:
    """Update n targets by m inputs, and the gradient rows by the targets; if `frozen`, only the first gradient row.

    Inputs and gradient rows must be different rows.
    """
    if frozen:
        own_input = buffers.inputs[0]
        for j in range(n):
            buffers.factor[0], buffers.inputs[0] = buffers.scores[j], buffers.targets[j]
            sum_rows(buffers.factor, gradient_rows[0], buffers.inputs, 1, width)
        buffers.inputs[0] = own_input
    else:
        update_rows(buffers.scores, buffers.inputs, gradient_rows, m, buffers.targets, n, width)


@inline
def gather_rows(rows: np.ndarray, table: int, n: int, row_bytes: int, slot: OutputSlot) -> None:
    """Write the addresses of n rows of a slot of the table at an address."""
    for j in range(n):
        rows[j] = table + (j * slot.per_word + slot.number) * row_bytes


class AdaptiveSoftmaxObjective(Objective):
    """Softmax over the most frequent words and tails, and over the words of a tail."""

    cached_table = None

    @cached_property
    def cutoffs(self) -> tuple[int, ...]:
        """The first word of each tail."""
        text, size = self.settings.cutoffs, len(self.vocabulary)
        if text is None:
            return best_cutoffs(self.vocabulary.counts, self.hidden_dim)
        cutoffs = tuple(int(number) for number in text.split(","))
        if cutoffs[-1] >= size:
            raise SettingError(f"{S.cutoffs} must be less than the vocabulary size, {size}, got {text}")
        return cutoffs

    @property
    def bounds(self) -> Iterator[tuple[int, int]]:
        """The first and last word of each tail."""
        return pairwise([*self.cutoffs, len(self.vocabulary)])

    @property
    def head_size(self) -> int:
        """Frequent words and tails."""
        return (self.cutoffs or (len(self.vocabulary),))[0] + len(self.cutoffs)

    @property
    def max_targets(self) -> int:
        """The largest number of target rows; more than one tile, so that there are copies of the inputs."""
        sizes = [last - first for first, last in self.bounds]
        return max(self.head_size, tail_dim(self.hidden_dim, 0), SINGLE_TILE + 1, *sizes)

    def tables(self) -> dict[str, Table]:
        """The head, and for each tail its projection and its words."""

        def initialize_projection(table: np.ndarray, dim: int, seed: int) -> None:
            bound = np.sqrt(3 / (len(table) // self.slots))  # so that projected rows are as long as hidden rows
            table[:, :dim] = np.random.default_rng(seed).uniform(-bound, bound, (len(table), dim))

        tables = {"head": self.table(self.head_size)}
        slots = 1 if self.is_concatenated else self.slots
        for tail, (first, last) in enumerate(self.bounds):
            dim = tail_dim(self.hidden_dim, tail)
            seed = 2**34 + tail
            tables[f"projection{tail + 1}"] = self.table(dim, init=initialize_projection, seed=seed)
            tables[f"tail{tail + 1}"] = self.table(last - first, dim=dim, slots=slots, is_concatenated=False)
        return tables

    def operand(self, arrays: Arrays) -> AdaptiveTables:
        """The operand of one thread; the caller keeps the arrays alive."""
        tails = np.zeros((len(self.cutoffs), 6), np.int64)
        for tail, bounds in enumerate(self.bounds):
            projection, words = arrays[f"projection{tail + 1}"], arrays[f"tail{tail + 1}"]
            for table in (projection, words):
                # The step reaches these rows through addresses: the checked build has to know which ones are valid.
                register_rows(table, tails)
            tails[tail] = *bounds, words.shape[1], projection.ctypes.data, words.ctypes.data, words.strides[0]
        return AdaptiveTables(arrays["head"], tails)

    def log_probabilities(self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], slot: int = 0) -> np.ndarray:
        """The logarithm of the softmax of the head, plus that of the tail for rarer words."""
        head = log_softmax(self.scores(hidden, tables, "head", slot))
        frequent = self.head_size - len(self.cutoffs)
        parts = [head[:, :frequent]]
        for tail in range(len(self.cutoffs)):
            projected = self.scores(hidden, tables, f"projection{tail + 1}", slot)
            parts.append(log_softmax(projected @ self.tail_rows(tables, tail, slot).T) + head[:, frequent + tail, None])
        return np.concatenate(parts, axis=1)

    def word_log_probabilities(
        self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], rows: np.ndarray, words: np.ndarray, slot: int = 0
    ) -> np.ndarray:
        """See `Objective`: the words of other tails are not scored."""
        tails = np.searchsorted(self.cutoffs, words, side="right") - 1
        columns = np.where(tails < 0, words, self.head_size - len(self.cutoffs) + tails)
        logarithms = log_softmax_items(
            lambda part: self.scores(hidden[part], tables, "head", slot), self.head_size, rows, columns
        )
        for tail, (first, _) in enumerate(self.bounds):
            examples = np.flatnonzero(tails == tail)
            projected = self.scores(hidden, tables, f"projection{tail + 1}", slot)
            logarithms[examples] += log_softmax_of_rows(
                projected, self.tail_rows(tables, tail, slot), rows[examples], words[examples] - first
            )
        return logarithms

    def tail_rows(self, tables: Mapping[str, np.ndarray], tail: int, slot: int) -> np.ndarray:
        """The vectors of the words of a tail in a saved model, (words, dimension)."""
        words = tables[f"tail{tail + 1}"]
        return words if words.ndim == 2 else words[:, slot]


def tail_dim(dim: int, tail: int) -> int:
    """The dimension of a tail, from 0 on: a quarter of the one before, rounded up to whole cache lines."""
    return padded(max(dim // SHRINKAGE ** (tail + 1), 1))


def best_cutoffs(counts: np.ndarray, dim: int) -> tuple[int, ...]:
    """The cutoffs of up to `MAX_TAILS` tails with the least expected cost of a word.

    The head has `HEAD_FACTOR` sqrt(n) of the n words, so that the most frequent ones have vectors of full length. Cost
    alone would leave it less than a hundred.
    """
    n = len(counts)
    shares = np.append(0, np.cumsum(counts / counts.sum()))
    head = int(np.ceil(HEAD_FACTOR * np.sqrt(n)))
    if head >= n:
        return ()
    # Words fall off as a power law, so candidates at equal ratios lose little against all ranks.
    candidates = sorted({int(size) for size in np.geomspace(head, n, CUTOFF_CANDIDATES)} - {head, n})
    choices = ((head, *others) for tails in range(MAX_TAILS) for others in combinations(candidates, tails))
    return min(choices, key=lambda cutoffs: expected_cost(cutoffs, shares, dim))


def expected_cost(cutoffs: tuple[int, ...], shares: np.ndarray, dim: int) -> float:
    """The expected multiplications to score a word, with `ROW_COST`; `shares` (words + 1,) are cumulative frequencies.

    All products of a step are in proportion to it.
    """
    cost = float((dim + ROW_COST) * (cutoffs[0] + len(cutoffs)))
    for tail, (first, last) in enumerate(pairwise([*cutoffs, len(shares) - 1])):
        width = tail_dim(dim, tail)
        rows = (dim + ROW_COST) * width + (width + ROW_COST) * (last - first)
        cost += float(shares[last] - shares[first]) * rows
    return cost
