"""Softmax over words, and its approximations by random words: full softmax, sampled softmax, noise contrast (NCE)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from embeddings.compilation.jit import implements, inline
from embeddings.kernels.block import Block
from embeddings.kernels.gradient_steps import apply_objective_steps, compute_logistic_steps
from embeddings.kernels.loss_tally import count_step, tally_loss
from embeddings.kernels.row_cache import row_address
from embeddings.kernels.row_operations import address, row_stride, score
from embeddings.kernels.softmax import softmax_steps, subtract_offsets
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.kernels.window import OutputSlot, prefetch_targets
from embeddings.models.table import Arrays, Table
from embeddings.objectives.objective import SampledObjective, SoftmaxObjective


class AllWords(NamedTuple):
    """Output vectors of words, (vocabulary * slots, padded dim)."""

    output: np.ndarray


@implements(AllWords)
@inline
def learn_all_words(
    operand: AllWords, block: Block, buffers: StepBuffers, i: int, m: int, rate: float, slot: OutputSlot,
    first: int, frozen: bool,
) -> None:  # fmt: skip
    """Equation 2 of Mikolov et al. (2013b): softmax over the output vectors o of all words; y = 1 for the word, else 0.

    g = rate * (y - softmax(x · o))    o += g * x    x += sum of g * o, of o before the step
    """
    width, n = operand.output.shape[1], operand.output.shape[0] // slot.per_word
    # Written for every step, since the buffers of a thread serve all slots.
    for word in range(n):
        buffers.targets[word] = address(operand.output, word * slot.per_word + slot.number)
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
    operand: Proposals, block: Block, buffers: StepBuffers, i: int, m: int, rate: float, slot: OutputSlot,
    first: int, frozen: bool,
) -> None:  # fmt: skip
    """Softmax over the word and proposals; E is the probability that a word is among the proposals.

        g = rate * (y - softmax(x · o - log E))    o += g * x    x += sum of g * o, of o before the step

    Log E corrects for frequent words being proposed more often. A proposal counts once; the word itself is no proposal,
    unless it is not in the sample.
    """
    width, centre, last_step = operand.output.shape[1], block.words[i], operand.last_step
    # A step number per word instead of a set: whether a word is already a candidate is one comparison, and nothing has
    # to be cleared.
    last_step[last_step.shape[0] - 1] += 1
    step = last_step[last_step.shape[0] - 1]
    buffers.targets[0] = row_address(operand.output, buffers.output_cache, centre * slot.per_word + slot.number)
    buffers.offsets[0] = operand.log_expected[centre]
    if operand.target_in_sample:
        last_step[centre] = step
    n = 1
    for j in range(operand.proposals):
        word = block.noise[i, first + j]
        if last_step[word] != step:
            last_step[word] = step
            buffers.targets[n] = row_address(operand.output, buffers.output_cache, word * slot.per_word + slot.number)
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


class NoiseContrast(NamedTuple):
    """Output vectors of words, (vocabulary * slots, padded dim), and the noise.

    bias: (vocabulary * slots, PADDING) the bias of each word in its first column.
    log_normalizer: (slots, PADDING) log Z of each slot in the first column; (0, PADDING) if Z is fixed at 1.
    log_noise: (vocabulary,) log(k q), where q is the probability of a word as noise.
    negatives: k.
    """

    output: np.ndarray
    bias: np.ndarray
    log_normalizer: np.ndarray
    log_noise: np.ndarray
    negatives: int


@implements(NoiseContrast)
@inline
def learn_contrast(
    operand: NoiseContrast, block: Block, buffers: StepBuffers, i: int, m: int, rate: float, slot: OutputSlot,
    first: int, frozen: bool,
) -> None:  # fmt: skip
    """One step of a binary classifier that tells the word to predict (y = 1) from k noise words (y = 0).

        g = rate * (y - sigmoid(x · o + b - log Z - log(k q)))
        o += g * x    b += g    log Z -= g    x += sum of g * o, of o before the step

    x: each of the `m` inputs; o, b: the vector and bias of a word; Z: the normaliser of the `slot`; q: the probability
    of a noise word, which may be the word to predict. `first`: the index of the first noise word of word `i`.
    """
    width, n, centre = operand.output.shape[1], 1 + operand.negatives, block.words[i]
    log_z = operand.log_normalizer[slot.number, 0] if operand.log_normalizer.shape[0] > 0 else 0.0
    for j in range(n):
        word = centre if j == 0 else block.noise[i, first + j - 1]
        buffers.targets[j] = row_address(operand.output, buffers.output_cache, word * slot.per_word + slot.number)
        buffers.offsets[j] = log_z + operand.log_noise[word] - operand.bias[word * slot.per_word + slot.number, 0]
    if first == 0:
        prefetch_targets(block, operand.output, buffers.output_cache, operand.negatives, i, slot)
    score(buffers.scores, buffers.inputs, m, buffers.targets, n, width)
    subtract_offsets(buffers.scores, m, n, buffers.offsets)
    compute_logistic_steps(buffers, m, 1, n, rate, m)
    # Biases have no rows of their own in the step: their gradient is that of the score, summed over the inputs.
    if not frozen:
        for j in range(n):
            word = centre if j == 0 else block.noise[i, first + j - 1]
            for k in range(m):
                operand.bias[word * slot.per_word + slot.number, 0] += buffers.scores[k * row_stride(n) + j]
                if operand.log_normalizer.shape[0] > 0:
                    operand.log_normalizer[slot.number, 0] -= buffers.scores[k * row_stride(n) + j]
    apply_objective_steps(buffers, m, n, width, frozen)


class NCEObjective(SoftmaxObjective, SampledObjective):
    """Noise-contrastive estimation: a bias for each word, and a normaliser that is 1 or trained."""

    def tables(self) -> dict[str, Table]:
        """The output vectors, the biases, and the logarithm of the normaliser.

        A bias starts at log q: were it 0, the model would take all noise for data until the biases have fallen.
        """

        def initialize_biases(table: np.ndarray, dim: int, seed: int) -> None:
            table[:, 0] = np.repeat(np.log(self.noise_weights), len(table) // len(self.vocabulary))

        shape: dict[str, Any] = {"dim": 1, "is_concatenated": False}
        shape["slots"] = 1 if self.is_concatenated else self.slots
        tables = super().tables()
        tables["bias"] = self.table(len(self.vocabulary), "words", initialize_biases, **shape)
        if self.settings.nce_normalizer == "trained":
            tables["log_normalizer"] = self.table(1, on_continue="copy", **shape)
        return tables

    def operand(self, arrays: Arrays) -> NoiseContrast:
        """The operand of one thread; copies biases that are read-only."""
        bias = np.require(arrays["bias"], requirements="W")
        log_normalizer = np.require(arrays.get("log_normalizer", bias[:0]), requirements="W")
        log_noise = np.log(self.settings.negatives * self.noise_weights)
        return NoiseContrast(arrays[self.output_name], bias, log_normalizer, log_noise, self.settings.negatives)

    def word_scores(self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], slot: int) -> np.ndarray:
        """The sums of products and biases, (n, vocabulary)."""
        bias = tables["bias"].reshape(len(self.vocabulary), -1)[:, 0 if self.is_concatenated else slot]
        scores: np.ndarray = super().word_scores(hidden, tables, slot) + bias
        return scores
