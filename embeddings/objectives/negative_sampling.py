"""Negative sampling (Mikolov et al. 2013b, equation 4): tell the word from random ones."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import implements, inline
from embeddings.kernels.block import Block
from embeddings.kernels.gradient_steps import apply_objective_steps, compute_logistic_steps
from embeddings.kernels.row_cache import row_address
from embeddings.kernels.row_operations import score
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.kernels.window import OutputSlot, prefetch_targets
from embeddings.models.table import Arrays
from embeddings.objectives.objective import SampledObjective

LOSS_SEED = 1  # of the negative samples of held-out text, which are the same for every model of a vocabulary
MAX_NUMBERS = 2**22  # of output rows that are handled at a time


class NegativeSamples(NamedTuple):
    """Output vectors of words, (vocabulary * slots, padded dim), and the number of negative samples."""

    output: np.ndarray
    negatives: int


@implements(NegativeSamples)
@inline
def learn_samples(
    operand: NegativeSamples, block: Block, buffers: StepBuffers, i: int, m: int, rate: float, slot: OutputSlot,
    first: int, frozen: bool,
) -> None:  # fmt: skip
    """Equation 4 of Mikolov et al. (2013b): the word has label y = 1, negative samples have y = 0.

    g = rate * (y - sigmoid(x · o))    o += g * x    x += sum of g * o, of o before the step
    """
    width = operand.output.shape[1]
    n = gather_samples(operand, block, buffers, i, slot, first)
    score(buffers.scores, buffers.inputs, m, buffers.targets, n, width)
    # Pairs of a centre share its targets' prefetch; only the first asks.
    if first == 0:  # while the scores are added up
        prefetch_targets(block, operand.output, buffers.output_cache, operand.negatives, i, slot)
    compute_logistic_steps(buffers, m, 1, n, rate, m)
    apply_objective_steps(buffers, m, n, width, frozen)


@inline
def gather_samples(
    operand: NegativeSamples, block: Block, buffers: StepBuffers, i: int, slot: OutputSlot, first: int
) -> int:
    """Write the rows of word i and its negative samples into `targets`; returns how many.

    A negative sample equal to the word gets weight 0, as in word2vec.
    """
    centre = block.words[i]
    buffers.targets[0] = row_address(operand.output, buffers.output_cache, centre * slot.per_word + slot.number)
    for j in range(operand.negatives):
        word = block.noise[i, first + j]
        buffers.targets[1 + j] = row_address(operand.output, buffers.output_cache, word * slot.per_word + slot.number)
        # A weight of 0 rather than one target fewer: the number of targets stays constant, and so does the compiled
        # code.
        buffers.weights[1 + j] = word != centre
    return 1 + operand.negatives


class NegativeSamplingObjective(SampledObjective):
    """Negative sampling. Its scores are not logarithms of probabilities."""

    has_probabilities = False

    def operand(self, arrays: Arrays) -> NegativeSamples:
        """The operand of one thread."""
        return NegativeSamples(arrays[self.output_name], self.settings.negatives)

    def losses(
        self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], rows: np.ndarray, words: np.ndarray, slot: int = 0
    ) -> np.ndarray:
        """-log sigmoid(s) of the word plus -log sigmoid(-s) of its negative samples, which a fixed seed draws."""
        output = self.slot_rows(tables["output"], slot)
        cumulated = np.cumsum(self.noise_weights)
        random, count = np.random.default_rng(LOSS_SEED), self.settings.negatives
        losses, size = np.empty(len(words)), max(MAX_NUMBERS // ((1 + count) * output.shape[1]), 1)
        for start in range(0, len(words), size):
            positive = words[start : start + size]
            drawn = np.searchsorted(cumulated, random.random((len(positive), count)) * cumulated[-1], side="right")
            targets = np.concatenate([positive[:, None], drawn], axis=1)
            scores = np.einsum("ed,etd->et", hidden[rows[start : start + size]], output[targets])
            scores[:, 0] *= -1
            terms = np.logaddexp(0, scores)
            terms[:, 1:][drawn == positive[:, None]] = 0
            losses[start : start + size] = terms.sum(axis=1)
        return losses
