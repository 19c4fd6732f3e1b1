"""Sampled softmax (Bengio and Senecal 2003; Jean et al. 2015): a softmax over the word and random proposals."""

from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import implements, inline
from embeddings.kernels.block import Block
from embeddings.kernels.gradient_steps import apply_objective_steps
from embeddings.kernels.loss_tally import count_step, tally_loss
from embeddings.kernels.row_cache import row_address
from embeddings.kernels.row_operations import score
from embeddings.kernels.softmax import softmax_steps, subtract_offsets
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.models.table import Arrays
from embeddings.objectives.objective import SampledObjective, SoftmaxObjective


class Proposals(NamedTuple):
    """Output vectors of words, (vocabulary * slots, padded dim), and how candidates are drawn.

    log_expected: (vocabulary,) the logarithm of the probability that a word is among the proposals.
    last_step: int64 (vocabulary + 1,) scratch: the last step in which a word was a candidate, then the number of steps.
    proposals: random words drawn.
    target_in_sample: whether the word to predict is one of the candidates.
    """

    output: np.ndarray
    log_expected: np.ndarray
    last_step: np.ndarray
    proposals: int
    target_in_sample: bool


@implements(Proposals)
@inline
def learn_candidates(
    operand: Proposals, block: Block, buffers: StepBuffers, i: int, m: int, rate: float, slots: int, slot: int,
    first: int, frozen: bool,
) -> None:  # fmt: skip
    """Softmax over the word and proposals; E is the probability that a word is among the proposals.

        g = rate * (y - softmax(x · o - log E))    o += g * x    x += sum of g * o, of o before the step

    Log E corrects for frequent words being proposed more often. A proposal counts once; the word itself is no proposal,
    unless it is not in the sample.
    """
    width, centre, last_step = operand.output.shape[1], block.words[i], operand.last_step
    last_step[last_step.shape[0] - 1] += 1
    step = last_step[last_step.shape[0] - 1]
    buffers.targets[0] = row_address(operand.output, buffers.output_cache, centre * slots + slot)
    buffers.offsets[0] = operand.log_expected[centre]
    if operand.target_in_sample:
        last_step[centre] = step
    n = 1
    for j in range(operand.proposals):
        word = block.noise[i, first + j]
        if last_step[word] != step:
            last_step[word] = step
            buffers.targets[n] = row_address(operand.output, buffers.output_cache, word * slots + slot)
            buffers.offsets[n] = operand.log_expected[word]
            n += 1
    score(buffers.scores, buffers.inputs, m, buffers.targets, n, width)
    subtract_offsets(buffers.scores, m, n, buffers.offsets)
    loss = softmax_steps(buffers.scores, m, n, 0 if operand.target_in_sample else 1, n, 0, rate)
    if count_step(buffers.tally):
        tally_loss(buffers.tally, loss, m)
    apply_objective_steps(buffers, m, n, width, frozen)


class SampledSoftmaxObjective(SoftmaxObjective, SampledObjective):
    """Softmax over the word and a sample of words."""

    @property
    def noise_weights(self) -> np.ndarray:
        """The distribution of proposals, float64 (vocabulary,)."""
        if self.settings.proposals == "unigram":
            return super().noise_weights
        ranks = np.arange(1.0, len(self.vocabulary) + 1)
        return np.log1p(1 / ranks) / np.log(len(self.vocabulary) + 1)  # type: ignore[no-any-return]

    def operand(self, arrays: Arrays) -> Proposals:
        """The operand of one thread."""
        settings = self.settings
        is_missing = settings.negatives * np.log1p(-np.minimum(self.noise_weights, 1 - 1e-12))  # log (1 - q)^k
        log_expected = np.log(-np.expm1(is_missing))
        last_step = np.zeros(len(self.vocabulary) + 1, np.int64)
        output = arrays[self.output_name]
        return Proposals(output, log_expected, last_step, settings.negatives, settings.target_in_sample)
