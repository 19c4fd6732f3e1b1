"""Full softmax: each word is compared with all words. The reference for the other objectives."""

from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import implements, inline
from embeddings.kernels.block import Block
from embeddings.kernels.gradient_steps import apply_objective_steps
from embeddings.kernels.loss_tally import count_step, tally_loss
from embeddings.kernels.row_operations import address, score
from embeddings.kernels.softmax import softmax_steps
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.models.table import Arrays
from embeddings.objectives.objective import SoftmaxObjective


class AllWords(NamedTuple):
    """Output vectors of words, (vocabulary * slots, padded dim)."""

    output: np.ndarray


@implements(AllWords)
@inline
def learn_all_words(
    operand: AllWords, block: Block, buffers: StepBuffers, i: int, m: int, rate: float, slots: int, slot: int,
    first: int, frozen: bool,
) -> None:  # fmt: skip
    """Equation 2 of Mikolov et al. (2013b): softmax over the output vectors o of all words; y = 1 for the word, else 0.

    g = rate * (y - softmax(x · o))    o += g * x    x += sum of g * o, of o before the step
    """
    width, n = operand.output.shape[1], operand.output.shape[0] // slots
    for word in range(n):
        buffers.targets[word] = address(operand.output, word * slots + slot)
    score(buffers.scores, buffers.inputs, m, buffers.targets, n, width)
    loss = softmax_steps(buffers.scores, m, n, 0, n, block.words[i], rate)
    if count_step(buffers.tally):
        tally_loss(buffers.tally, loss, m)
    apply_objective_steps(buffers, m, n, width, frozen)


class FullSoftmaxObjective(SoftmaxObjective):
    """Softmax over all words."""

    cached_table = None

    @property
    def max_targets(self) -> int:
        """The largest number of target rows in a step."""
        return len(self.vocabulary)

    def operand(self, arrays: Arrays) -> AllWords:
        """The operand of one thread."""
        return AllWords(arrays[self.output_name])
