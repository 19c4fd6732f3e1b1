"""The tally of the training loss, which is computed in one of `LOSS_INTERVAL` steps only."""

import numpy as np

from embeddings.compilation.jit import inline
from embeddings.kernels.step_buffers import StepBuffers

LOSS_INTERVAL = 64  # steps from one loss measurement to the next
LOSS, EXAMPLES, UNTIL_SAMPLE, STEPS = range(4)  # of `StepBuffers.tally`


@inline
def count_step(tally: np.ndarray) -> bool:
    """Count a step; returns whether its loss is to be tallied."""
    tally[STEPS] += 1
    tally[UNTIL_SAMPLE] -= 1
    if tally[UNTIL_SAMPLE] < 0:
        # A countdown that carries on between blocks, so that short blocks are sampled as often as long ones.
        tally[UNTIL_SAMPLE] += LOSS_INTERVAL
        return True
    return False


@inline
def tally_loss(tally: np.ndarray, loss: float, examples: int) -> None:
    """Add the loss of a number of examples to the tally; an example is one input with one word to predict."""
    tally[LOSS] += loss
    tally[EXAMPLES] += examples


def report_loss(buffers: StepBuffers, loss: float, examples: int, steps: int = 1) -> None:
    """Report the sum of the losses of examples learned in a number of steps; for kernels that are Python functions."""
    buffers.tally[LOSS] += loss
    buffers.tally[EXAMPLES] += examples
    buffers.tally[STEPS] += steps
