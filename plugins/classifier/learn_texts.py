"""The kernel of the classifier: the mean of a text's rows predicts its labels.

Hierarchical softmax and negative sampling use the objectives of words, with one random label of the text at a time, as
in fastText.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from embeddings.classifier.classifier_settings import LABEL_OBJECTIVES
from embeddings.compilation.jit import entry_point, implements, inline
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.kernels.block import END, LAST, POSITION, new_cursor
from embeddings.kernels.gradient_steps import apply_objective_steps
from embeddings.kernels.integers import smaller
from embeddings.kernels.logistic import logistic_loss, scores_to_steps
from embeddings.kernels.loss_tally import count_step, tally_loss
from embeddings.kernels.random_numbers import draw_word, random_bits, uniform_below
from embeddings.kernels.row_operations import address, prefetch_l2, score
from embeddings.kernels.row_sums import scatter_add_row_list, sum_row_list
from embeddings.kernels.softmax import softmax_steps
from embeddings.kernels.step_buffers import StepBuffers, mask_frozen
from embeddings.kernels.window import GRADIENT, HIDDEN, OutputSlot
from embeddings.models.table import Arrays, Table
from embeddings.objectives.objective import Objective, predict
from embeddings.training.stream import Chunk, ItemStream, systematic_draws

BLOCK_TEXTS = 64
MAX_DRAWS = 100  # of a negative sample that is none of the text's label


class LabelSource(NamedTuple):
    """Texts in the order in which they are read, and their labels.

    order: int64 (texts,). starts, labels: the labels of text i are `labels[starts[i]:starts[i + 1]]`.
    noise: the alias table of negative samples; empty if the objective draws none.
    """

    order: np.ndarray
    starts: np.ndarray
    labels: np.ndarray
    noise: np.ndarray


class LabelledBlock(NamedTuple):
    """The next texts of a thread.

    cursor: see `ItemStream`.
    texts: int64 (texts,), their numbers. words: int64 (texts,), a random label of each.
    noise: int64 (texts, negatives), negative samples for it.
    """

    cursor: np.ndarray
    texts: np.ndarray
    words: np.ndarray
    noise: np.ndarray


@entry_point
def fill_texts(block: LabelledBlock, source: LabelSource, random: np.ndarray) -> int:
    """Read the next texts into a block; returns how many."""
    begin, key, counter = block.cursor[POSITION], random[0], random[1]
    size = smaller(block.texts.shape[0], block.cursor[END] - begin)
    for k in range(size):
        text = source.order[begin + k]
        first = source.starts[text]
        label = source.labels[first + uniform_below(random_bits(key, counter), source.starts[text + 1] - first)]
        counter += np.uint64(1)
        block.texts[k], block.words[k] = text, label
        for j in range(block.noise.shape[1]):
            for _ in range(MAX_DRAWS):
                block.noise[k, j] = draw_word(source.noise, random_bits(key, counter))
                counter += np.uint64(1)
                if block.noise[k, j] != label:
                    break
    random[1] = counter
    block.cursor[POSITION], block.cursor[LAST] = begin + size, size
    return size  # type: ignore[no-any-return]


@dataclass(frozen=True)
class TextStream(ItemStream):
    """Labelled texts.

    Arguments:
        source: the texts in the order of the corpus.
        negatives: negative samples drawn for each text.
        cumulative_weights: float64 (texts,), of how often each text is read in an epoch, on average, up to a factor;
            empty if each is read once.
    """

    source: LabelSource
    negatives: int
    cumulative_weights: np.ndarray
    unit: ClassVar[str] = "texts"
    fill_from = fill_texts

    @property
    def units(self) -> int:
        """The number of texts."""
        return len(self.source.order)

    def new_block(self) -> LabelledBlock:
        """A block for one thread."""
        texts, words = np.zeros((2, BLOCK_TEXTS), np.int64)
        return LabelledBlock(new_cursor(), texts, words, np.zeros((BLOCK_TEXTS, self.negatives), np.int64))

    def shuffled_chunks(self, begin: int, end: int, order: np.random.Generator) -> Iterator[Chunk]:
        """The texts of the share in random order, as often as their weights say."""
        texts = np.arange(begin, end)
        if len(self.cumulative_weights):
            texts = systematic_draws(self.cumulative_weights, begin, end, order.random())
        return iter([Chunk(self.source._replace(order=order.permutation(texts)), 0, end - begin)])


TILE = 4096  # rows whose addresses are in memory at a time
ITEM, ROW, DONE = range(3)  # of `ClassifierOperands.cursor`


class ClassifierOperands(NamedTuple):
    """Rows, texts and the objective of one thread.

    inputs: the rows of words and n-grams, (rows, padded dim).
    items, starts, subword_starts, subword_rows: see `TextFeatures`.
    cursor: int64 (3,), scratch: the next item of a text, the next row in it, and how many rows were read.
    objective: the operand of the objective.
    """

    inputs: np.ndarray
    items: np.ndarray
    starts: np.ndarray
    subword_starts: np.ndarray
    subword_rows: np.ndarray
    cursor: np.ndarray
    objective: Any


@entry_point
def learn_texts(block: LabelledBlock, operands: ClassifierOperands, buffers: StepBuffers, rate: float) -> None:
    """One step for each text, as in fastText (Joulin et al. 2017): the mean h of its rows predicts its labels.

    With the output vector o of a label and its step g, such as rate * (y - softmax(h · o)):

        h = (x_1 + ... + x_n) / n    o += g * h    x_i += (sum of g * o) / n, of o before the step
    """
    size, width, hidden = block.cursor[LAST], operands.inputs.shape[1], address(buffers.hidden_rows, HIDDEN)
    for k in range(size):
        if k + 1 < size:
            prefetch_text(operands, block.texts[k + 1])
        text = block.texts[k]
        buffers.hidden_rows[:] = 0
        buffers.factor[0] = 1
        operands.cursor[ITEM], operands.cursor[ROW] = operands.starts[text], 0
        m = gather_rows(operands, buffers.contexts, text)
        count = m
        while m > 0:
            sum_row_list(buffers.factor, hidden, buffers.contexts, m, width)
            if count < TILE:
                break
            m = gather_rows(operands, buffers.contexts, text)
            count += m
        scale = buffers.hidden_rows.dtype.type(1 / count)
        for d in range(width):
            buffers.hidden_rows[HIDDEN, d] *= scale
        buffers.inputs[0], buffers.input_gradient_rows[0] = hidden, address(buffers.hidden_rows, GRADIENT)
        predict(operands.objective, block, buffers, k, 1, rate)  # type: ignore[arg-type]  # it has the same fields
        if count >= TILE:  # otherwise the addresses are still there
            operands.cursor[ITEM], operands.cursor[ROW] = operands.starts[text], 0
            m = gather_rows(operands, buffers.contexts, text)
        while m > 0:
            buffers.factor[0] = 1 / count
            mask_frozen(buffers.frozen, buffers.frozen_sink, buffers.contexts, m)
            scatter_add_row_list(buffers.factor, address(buffers.hidden_rows, GRADIENT), buffers.contexts, m, width)
            m = gather_rows(operands, buffers.contexts, text) if count >= TILE else 0


@inline
def gather_rows(operands: ClassifierOperands, rows: np.ndarray, text: int) -> int:
    """Write the addresses of the next rows of a text; returns how many."""
    # A text may have more rows than a tile: the cursor holds where the next tile begins.
    m, at, end = 0, operands.cursor[ITEM], operands.starts[text + 1]
    if operands.subword_rows.shape[0] == 0:
        m = smaller(TILE, end - at)
        for k in range(m):
            rows[k] = address(operands.inputs, operands.items[at + k])
        operands.cursor[ITEM] = at + m
        return m  # type: ignore[no-any-return]
    done = operands.cursor[ROW]
    while m < TILE and at < end:
        item = np.int64(operands.items[at])
        if item >= 0:
            rows[m] = address(operands.inputs, item)
            m += 1
            at += 1
            continue
        first, last = operands.subword_starts[~item] + done, operands.subword_starts[~item + 1]
        taken = smaller(TILE - m, last - first)
        for k in range(taken):
            rows[m + k] = address(operands.inputs, operands.subword_rows[first + k])
        m += taken
        done += taken
        if first + taken == last:
            at += 1
            done = 0
    operands.cursor[ITEM], operands.cursor[ROW] = at, done
    return m


@inline
def prefetch_text(operands: ClassifierOperands, text: int) -> None:
    """Prefetch the first rows of a text."""
    size = operands.inputs.shape[1] * operands.inputs.itemsize
    begin = operands.starts[text]
    for k in range(begin, smaller(operands.starts[text + 1], begin + TILE)):
        item = np.int64(operands.items[k])
        if item >= 0:
            prefetch_l2(address(operands.inputs, item), size)
            continue
        for j in range(operands.subword_starts[~item], operands.subword_starts[~item + 1]):
            prefetch_l2(address(operands.inputs, operands.subword_rows[j]), size)


NOISE_EXPONENT = 0.5  # of negative samples, as in fastText


class SoftmaxLabels(NamedTuple):
    """Rows of labels, (labels, padded dim); the labels of text i are `labels[starts[i]:starts[i + 1]]`."""

    output: np.ndarray
    starts: np.ndarray
    labels: np.ndarray


class BinaryLabels(SoftmaxLabels):
    """Operands of `learn_binary_labels`."""


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
    operand: SoftmaxLabels, block: LabelledBlock, buffers: StepBuffers, i: int, m: int, rate: float,
    slot: OutputSlot, first: int, frozen: bool,
) -> None:  # fmt: skip
    """G = Y - softmax(S), where each of k labels has the probability 1 / k: the expectation of a random label."""
    n, text = operand.output.shape[0], block.texts[i]
    begin, end = operand.starts[text], operand.starts[text + 1]
    score_labels(operand.output, buffers)
    share, others = buffers.scores.dtype.type(1 / (end - begin)), 0.0
    # `softmax_steps` knows one positive: it gets the first label, and the shares of the others are corrected
    # afterwards.
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
    operand: BinaryLabels, block: LabelledBlock, buffers: StepBuffers, i: int, m: int, rate: float,
    slot: OutputSlot, first: int, frozen: bool,
) -> None:  # fmt: skip
    """G = Y - sigmoid(S), where each label is present or not."""
    n, text = operand.output.shape[0], block.texts[i]
    score_labels(operand.output, buffers)
    if count_step(buffers.tally):
        loss = logistic_loss(buffers.scores, 1, 0, n, buffers.weights)
        for k in range(operand.starts[text], operand.starts[text + 1]):
            loss -= buffers.scores[operand.labels[k]]
        tally_loss(buffers.tally, loss, 1)
    # All labels as negatives first; then those of the text get rate * 1 more, as y - sigmoid is linear in y.
    scores_to_steps(buffers.scores, 1, 0, n, buffers.weights, rate)
    for k in range(operand.starts[text], operand.starts[text + 1]):
        buffers.scores[operand.labels[k]] += buffers.scores.dtype.type(rate)
    apply_objective_steps(buffers, 1, n, operand.output.shape[1], frozen)


@dataclass(frozen=True)
class LabelObjective(Objective):
    """Base of objectives that compare all labels of a text with all others.

    Arguments:
        starts, labels: the labels of text i are `labels[starts[i]:starts[i + 1]]`.
    """

    starts: Any = None
    labels: Any = None
    operand_type: ClassVar[type]

    def operand(self, arrays: Arrays) -> Any:
        """The operand of one thread."""
        return self.operand_type(arrays["output"], self.starts, self.labels)

    @property
    def max_targets(self) -> int:
        """The number of labels."""
        return len(self.vocabulary)

    def tables(self) -> dict[str, Table]:
        """The rows of labels, of zeros."""
        return {"output": self.table(len(self.vocabulary), "labels")}


class SoftmaxLabelsObjective(LabelObjective):
    """Softmax over all labels; the labels of a text are equally probable."""

    operand_type = SoftmaxLabels


class BinaryLabelsObjective(LabelObjective):
    """A logistic regression for each label."""

    operand_type = BinaryLabels


def new_label_objective(settings: Any, labels: Vocabulary, starts: np.ndarray, ids: np.ndarray) -> Objective:
    """The objective that the settings choose, for texts with the labels `ids[starts[i]:starts[i + 1]]`."""
    kind: type[Objective] = LABEL_OBJECTIVES[settings.objective].implementation()
    if issubclass(kind, LabelObjective):
        return kind(settings, labels, settings.dim, starts=starts, labels=ids)
    return kind(settings, labels, settings.dim)
