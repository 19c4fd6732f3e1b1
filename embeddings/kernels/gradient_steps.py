"""One SGD step on logistic scores, for any model: input rows H, target rows O, labels Y and weights W.

    S = H O'    G = rate W (Y - sigmoid(S))    O += G' H    and H's gradient, G O, is added to the gradient rows

A model writes row addresses into its buffers and calls `learn`. Input rows may be table rows, updated in place, or
hidden rows that the model computes from several rows (a mean or a sum) and whose gradient it propagates back to them.
"""

import numpy as np

from embeddings.compilation.jit import inline, inline_source
from embeddings.kernels.integers import smaller
from embeddings.kernels.logistic import STEP_TILE, UPDATE_PASS, learn_tile, logistic_loss, scores_to_steps
from embeddings.kernels.loss_tally import count_step, tally_loss
from embeddings.kernels.row_operations import SINGLE_TILE, UPDATE_TILE, address, copy_row, score, sum_rows, update
from embeddings.kernels.step_buffers import StepBuffers, mask_frozen


@inline_source
def learn(buffers: StepBuffers, m: int, p: int, n: int, width: int, rate: float) -> None:
    """One step with m inputs x and n targets o, of which the first p are positive, y = 1, for every input.

        g = rate * w * (y - sigmoid(x · o))    o += sum of g * x    x += sum of g * o, of o before the step

    The caller sets `weights[:n]`.
    """
    compute_steps(buffers, m, p, n, width, rate, m * p)
    apply_steps(buffers, m, n, width)


@inline_source
def learn_input(buffers: StepBuffers, p: int, n: int, width: int, rate: float) -> None:
    """`learn` for a single input, with the targets fixed. Overwrites `inputs[0]` and `factor`."""
    compute_steps(buffers, 1, p, n, width, rate, p)
    apply_input_steps(buffers, n, width)


@inline
def learn_single(buffers: StepBuffers, p: int, n: int, width: int, rate: float) -> None:
    """`learn` for a single input and different targets of weight 1. Overwrites `factor` and `inputs`."""
    # More targets than one pass updates: the gradient row changes between passes, and the inputs must not.
    if n > UPDATE_PASS:
        copy_inputs(buffers.input_copies, buffers.inputs, 1, width)
    # Only the gradient row is redirected: a frozen word is still read, and still moves its targets.
    mask_frozen(buffers.frozen, buffers.frozen_sink, buffers.input_gradient_rows, 1)
    buffers.factor[0] = rate
    source, gradient = buffers.inputs[0], buffers.input_gradient_rows[0]
    # Scores, steps and both updates of a tile in one pass, so that the steps never leave the registers. This needs
    # different targets: a repeated row would be stored twice, and the second store would undo the first.
    for j in range(0, n, STEP_TILE):
        columns = smaller(STEP_TILE, n - j)
        learn_tile(buffers.scores, buffers.factor, source, gradient, buffers.targets, columns, j, p, width)
    # Only one step in LOSS_INTERVAL pays for logarithms; `scores` still holds S here, not G.
    if count_step(buffers.tally):
        tally_loss(buffers.tally, logistic_loss(buffers.scores, 1, p, n, buffers.weights), 1)


@inline
def compute_steps(buffers: StepBuffers, m: int, p: int, n: int, width: int, rate: float, examples: int) -> None:
    """Compute G into `scores`; the loss of sampled steps is tallied as that of this many examples."""
    score(buffers.scores, buffers.inputs, m, buffers.targets, n, width)
    compute_logistic_steps(buffers, m, p, n, rate, examples)


@inline_source
def compute_logistic_steps(buffers: StepBuffers, m: int, p: int, n: int, rate: float, examples: int) -> None:
    """`compute_steps` from the scores."""
    # Before the scores become steps: the loss needs S.
    if count_step(buffers.tally):
        tally_loss(buffers.tally, logistic_loss(buffers.scores, m, p, n, buffers.weights), examples)
    scores_to_steps(buffers.scores, m, p, n, buffers.weights, rate)


@inline
def apply_steps(buffers: StepBuffers, m: int, n: int, width: int) -> None:
    """Update m inputs and n targets by the steps in `scores`. Overwrites `inputs` and `input_gradient_rows`."""
    # One tile reads all inputs before it writes any of them; a second tile would read inputs that the first has already
    # moved.
    if n > (UPDATE_TILE if m > 1 else SINGLE_TILE):
        copy_inputs(buffers.input_copies, buffers.inputs, m, width)
    # Only gradient rows are redirected, so a frozen word still moves the targets.
    mask_frozen(buffers.frozen, buffers.frozen_sink, buffers.input_gradient_rows, m)
    update(buffers.scores, buffers.inputs, buffers.input_gradient_rows, m, buffers.targets, n, width)


@inline
def apply_input_steps(buffers: StepBuffers, n: int, width: int) -> None:
    """Update a single input by the steps in `scores`, with the targets fixed. Overwrites `inputs[0]` and `factor`."""
    # One target at a time through `sum_rows`: the roles are swapped, a target is the row that is added to the input.
    for j in range(n):
        buffers.factor[0], buffers.inputs[0] = buffers.scores[j], buffers.targets[j]
        sum_rows(buffers.factor, buffers.input_gradient_rows[0], buffers.inputs, 1, width)


@inline_source
def apply_objective_steps(buffers: StepBuffers, m: int, n: int, width: int, frozen: bool) -> None:
    """Apply the steps in `scores` to m inputs and n targets, or, if `frozen`, to a single input only."""
    if frozen:
        apply_input_steps(buffers, n, width)
    else:
        apply_steps(buffers, m, n, width)


@inline
def copy_inputs(copies: np.ndarray, inputs: np.ndarray, m: int, width: int) -> None:
    """Copy the inputs and read the copies, so that every target tile sees the values before the step."""
    for i in range(m):
        copy_row(copies, address(copies, i), inputs[i], width)
        inputs[i] = address(copies, i)
