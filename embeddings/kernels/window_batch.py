"""Trains concatenated windows in batches: disjoint windows that share negative samples.

Each window is scored against its own centre and the shared negative samples in one step, so that a negative sample's
row is read and written once for all of them. A negative sample equal to a window's centre is ignored, as in word2vec.

A model calls `select_batch`, writes the rows of each window into `inputs`, and calls `learn_batch`.
"""

import numpy as np

from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.concatenated_window import score_windows, update_windows
from embeddings.kernels.integers import smaller
from embeddings.kernels.jit import inline
from embeddings.kernels.logistic import logistic_loss, scores_to_steps
from embeddings.kernels.row_cache import cached_row
from embeddings.kernels.row_operations import address, prefetch_l2, row_stride, sum_rows
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.step_buffers import StepBuffers, count_step, mask_frozen, new_step_buffers, tally_loss

MAX_BATCH = 4  # windows; with more, shared negative samples would move too far in one step
MASKED_SCORE = -1e30  # its sigmoid and its loss as a negative sample are 0
ZERO_ROW, SINK_ROW = 0, 1  # of `StepBuffers.hidden_rows`: the input of an empty slot, and the target of its gradient


def new_window_buffers(
    batch: int, noise: int, width: int, *, slots: int, weight: float = 1.0, dtype: type = np.float32
) -> StepBuffers:
    """Buffers for `batch` windows of `slots` rows of `width` numbers; negative samples have the given weight."""
    buffers = new_step_buffers(batch * slots, noise + batch, width, contexts=1, rows=2, dtype=dtype)
    buffers.weights[1 : 1 + noise] = weight
    return buffers._replace(centres=separate_zeros(batch, np.int64))


@inline
def select_batch(block: Block, buffers: StepBuffers, i: int, spacing: int, batch: int, allow_empty: bool) -> int:
    """Write the centres of the batch that starts at centre i into `centres`; returns how many, 0 if none starts there.

    Centres of a batch are `spacing` apart and share negative samples. Those without context are skipped unless
    `allow_empty`.
    """
    first, last, m = block.cursor[FIRST], block.cursor[LAST], 0
    if (i - first) // spacing % batch == 0:
        for c in range(i, smaller(i + spacing * batch, last), spacing):
            if allow_empty or block.stop[c] - block.start[c] > 1:
                buffers.centres[m] = c
                m += 1
    return m


@inline
def learn_batch(block: Block, output: np.ndarray, buffers: StepBuffers, m: int, slots: int, rate: float) -> None:
    """One step for the rows of m windows, their centres and their negative samples."""
    noise, width = block.noise.shape[1], output.shape[1] // slots
    compute_batch_steps(block, output, buffers, m, slots, rate)
    zero, sink = address(buffers.hidden_rows, ZERO_ROW), address(buffers.hidden_rows, SINK_ROW)
    for row in range(m * slots):
        buffers.input_gradient_rows[row] = sink if buffers.inputs[row] == zero else buffers.inputs[row]
    mask_frozen(buffers.frozen, buffers.frozen_sink, buffers.input_gradient_rows, m * slots)
    update_windows(buffers.scores, buffers.inputs, buffers.input_gradient_rows, m, buffers.targets, noise, slots, width)


@inline
def compute_batch_steps(
    block: Block, output: np.ndarray, buffers: StepBuffers, m: int, slots: int, rate: float
) -> None:
    """Compute the steps of m windows with their centres and negative samples into `scores`."""
    noise, width = block.noise.shape[1], output.shape[1] // slots
    for j in range(noise):
        buffers.targets[j] = cached_row(output, buffers.output_cache, np.int64(block.noise[buffers.centres[0], j]))
    for k in range(m):
        buffers.targets[noise + k] = cached_row(output, buffers.output_cache, np.int64(block.words[buffers.centres[k]]))
    for k in range(m):
        prefetch_next_batch(block, output, buffers, m, k)
        if k % 2 == 0:
            score_windows(buffers.scores, buffers.inputs, buffers.targets, noise, k, m, slots, width)
    set_centre_scores(block, buffers, m, noise, MASKED_SCORE)
    if count_step(buffers.tally):
        tally_loss(buffers.tally, logistic_loss(buffers.scores, m, 1, 1 + noise, buffers.weights), m)
    scores_to_steps(buffers.scores, m, 1, 1 + noise, buffers.weights, rate)
    set_centre_scores(block, buffers, m, noise, 0)


@inline
def backprop_to_first_rows(buffers: StepBuffers, m: int, noise: int, slots: int, width: int) -> None:
    """Apply the computed steps to the first row of each of m windows only. Overwrites `factor`."""
    stride = row_stride(1 + noise)
    for k in range(m):
        for j in range(1 + noise):
            buffers.factor[0] = buffers.scores[k * stride + j]
            buffers.contexts[0] = buffers.targets[noise + k if j == 0 else j - 1]
            sum_rows(buffers.factor, buffers.inputs[k * slots], buffers.contexts, 1, width)


@inline
def set_centre_scores(block: Block, buffers: StepBuffers, m: int, noise: int, value: float) -> None:
    """Set the scores of negative samples that equal their window's centre."""
    stride = row_stride(1 + noise)
    for k in range(m):
        centre = block.words[buffers.centres[k]]
        for j in range(noise):
            if block.noise[buffers.centres[0], j] == centre:
                buffers.scores[k * stride + 1 + j] = value


@inline
def prefetch_next_batch(block: Block, output: np.ndarray, buffers: StepBuffers, m: int, k: int) -> None:
    """Prefetch the k-th centre of the batch one word later, and a part of its negative samples.

    The prefetches are spread over the scoring of the m windows, so that they do not wait for each other.
    """
    size, first, own = output.shape[1] * output.itemsize, buffers.centres[0] + 1, buffers.centres[k] + 1
    if own < block.cursor[LAST]:
        prefetch_l2(address(output, block.words[own]), size)
    if first < block.cursor[LAST]:
        for j in range(k, block.noise.shape[1], m):
            prefetch_l2(address(output, block.noise[first, j]), size)
