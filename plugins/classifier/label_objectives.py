"""Objectives over the labels of a text: softmax and one logistic regression for each label.

Hierarchical softmax and negative sampling are those of words, for one random label of the text at a time, as in
fastText.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.kernels.jit import implements, inline
from embeddings.kernels.logistic import logistic_loss, scores_to_steps
from embeddings.kernels.row_operations import address, score
from embeddings.kernels.softmax import softmax_steps
from embeddings.kernels.step_buffers import StepBuffers, apply_objective_steps, count_step, tally_loss
from embeddings.models.parameters import Arrays
from embeddings.models.table import Table
from embeddings.objectives.huffman import HuffmanObjective
from embeddings.objectives.negative_sampling import NegativeSamplingObjective
from embeddings.objectives.objective import Objective
from embeddings.plugins.classifier.classifier_settings import HIERARCHICAL_SOFTMAX, NEGATIVE_SAMPLING, SOFTMAX
from embeddings.plugins.classifier.text_stream import LabelledBlock

NOISE_EXPONENT = 0.5  # of negative samples, as in fastText


class SoftmaxLabels(NamedTuple):
    """Rows of labels, (labels, padded dim); the labels of text i are `labels[starts[i]:starts[i + 1]]`."""

    output: np.ndarray
    starts: np.ndarray
    labels: np.ndarray


class BinaryLabels(NamedTuple):
    """The same, for `learn_binary_labels`."""

    output: np.ndarray
    starts: np.ndarray
    labels: np.ndarray


@inline
def score_labels(output: np.ndarray, buffers: StepBuffers) -> None:
    """The scores of all labels for one input."""
    n = output.shape[0]
    for label in range(n):
        buffers.targets[label] = address(output, label)
    score(buffers.scores, buffers.inputs, 1, buffers.targets, n, output.shape[1])


@implements(SoftmaxLabels)
@inline
def learn_softmax_labels(
    operand: SoftmaxLabels, block: LabelledBlock, buffers: StepBuffers, i: int, m: int, rate: float, slots: int,
    slot: int, first: int, frozen: bool,
) -> None:  # fmt: skip
    """G = Y - softmax(S), where each of k labels has the probability 1 / k: the expectation of a random label."""
    n, text = operand.output.shape[0], block.texts[i]
    begin, end = operand.starts[text], operand.starts[text + 1]
    score_labels(operand.output, buffers)
    share, others = buffers.scores.dtype.type(1 / (end - begin)), 0.0
    target = operand.labels[begin]
    for k in range(begin, end):
        others += share * (buffers.scores[target] - buffers.scores[operand.labels[k]])
    loss = softmax_steps(buffers.scores, 1, n, 0, n, target, rate) + others
    if end - begin > 1:
        step = buffers.scores.dtype.type(rate)
        buffers.scores[target] -= step
        for k in range(begin, end):
            buffers.scores[operand.labels[k]] += step * share
    if count_step(buffers.tally):
        tally_loss(buffers.tally, loss, 1)
    apply_objective_steps(buffers, 1, n, operand.output.shape[1], frozen)


@implements(BinaryLabels)
@inline
def learn_binary_labels(
    operand: BinaryLabels, block: LabelledBlock, buffers: StepBuffers, i: int, m: int, rate: float, slots: int,
    slot: int, first: int, frozen: bool,
) -> None:  # fmt: skip
    """G = Y - sigmoid(S), where each label is present or not."""
    n, text = operand.output.shape[0], block.texts[i]
    score_labels(operand.output, buffers)
    if count_step(buffers.tally):
        loss = logistic_loss(buffers.scores, 1, 0, n, buffers.weights)
        for k in range(operand.starts[text], operand.starts[text + 1]):
            loss -= buffers.scores[operand.labels[k]]
        tally_loss(buffers.tally, loss, 1)
    scores_to_steps(buffers.scores, 1, 0, n, buffers.weights, rate)
    for k in range(operand.starts[text], operand.starts[text + 1]):
        buffers.scores[operand.labels[k]] += buffers.scores.dtype.type(rate)
    apply_objective_steps(buffers, 1, n, operand.output.shape[1], frozen)


@dataclass(frozen=True)
class LabelObjective(Objective):
    """Base of objectives that compare all labels of a text with all others."""

    kind: Callable[..., Any] = SoftmaxLabels
    starts: Any = None
    labels: Any = None

    @property
    def max_targets(self) -> int:
        """The number of labels."""
        return len(self.vocabulary)

    def tables(self) -> dict[str, Table]:
        """The rows of labels."""
        return {"output": self.output_table()}

    def operand(self, arrays: Arrays) -> Any:
        """What a thread passes to `predict`."""
        return self.kind(arrays["output"], self.starts, self.labels)

    def output_table(self) -> Table:
        """A table of zeros with a row for each label."""
        return self.table(len(self.vocabulary), "labels")


def new_label_objective(settings: Any, labels: Vocabulary, starts: np.ndarray, ids: np.ndarray) -> Objective:
    """The objective that the settings choose, for texts with the labels `ids[starts[i]:starts[i + 1]]`."""
    if settings.objective == HIERARCHICAL_SOFTMAX:
        return HuffmanObjective(settings, labels, settings.dim)
    if settings.objective == NEGATIVE_SAMPLING:
        return NegativeSamplingObjective(settings, labels, settings.dim)
    kind = SoftmaxLabels if settings.objective == SOFTMAX else BinaryLabels
    return LabelObjective(settings, labels, settings.dim, kind=kind, starts=starts, labels=ids)
