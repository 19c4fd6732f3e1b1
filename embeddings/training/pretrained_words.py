"""Skip-gram and CBOW with pretrained vectors of words, next to trained components or through a learned projection.

The input of a group of words is the mean or sum of the rows of these words. The row of a word is

    concatenated    its pretrained vector, followed by its trained row
    projected       P' x for its pretrained vector x and a matrix P that is learned, or its trained row if it has none
"""

from typing import Any, NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point, inline
from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.row_operations import address
from embeddings.kernels.step_buffers import StepBuffers, new_step_buffers
from embeddings.models.table import VECTORS, Arrays, Table, orthogonal, word_vectors
from embeddings.objectives.objective import Objective, predict
from embeddings.training.init_vectors import InitFrom
from embeddings.training.plan import Kernel, Plan
from embeddings.training.stream import Stream
from embeddings.training.trainer import PredictionTrainer
from embeddings.training.training_data import TrainingData


class PretrainedInputs(NamedTuple):
    """The rows of words.

    trained: (vocabulary, padded trained dim) rows that are learned.
    pretrained: (vocabulary, pretrained dim) constants; zeros for words without a vector.
    projection: (pretrained dim, padded dim) the matrix P; without rows if vectors are concatenated.
    is_trained: (vocabulary,) whether the trained row of a word is part of its row.
    trained_dim: numbers in a trained row, without padding.
    trained_start: the first component of a row that belongs to the trained part: 0 if vectors are projected.
    pooled: (pretrained dim,) scratch memory: the mean or sum of the pretrained vectors of a group.
    """

    trained: np.ndarray
    pretrained: np.ndarray
    projection: np.ndarray
    is_trained: np.ndarray
    trained_dim: int
    trained_start: int
    pooled: np.ndarray


@inline
def read_group(
    rows: PretrainedInputs, words: np.ndarray, first: int, last: int, factor: float, hidden: np.ndarray, row: int
) -> None:
    """Set a hidden row h to the rows x of `words[first:last]`: h = factor * sum of x."""
    dim, start = rows.trained_dim, rows.trained_start
    set_pooled(rows, words, first, last, factor)
    for j in range(hidden.shape[1]):
        hidden[row, j] = 0
    for k in range(rows.pooled.shape[0]):
        number = rows.pooled[k]
        if start > 0:
            hidden[row, k] = number
        else:
            for j in range(dim):
                hidden[row, j] += number * rows.projection[k, j]
    for c in range(first, last):
        word = words[c]
        if rows.is_trained[word]:
            for j in range(dim):
                hidden[row, start + j] += factor * rows.trained[word, j]


@inline
def backprop_to_group(
    rows: PretrainedInputs, words: np.ndarray, first: int, last: int, factor: float, gradient_factor: float,
    hidden: np.ndarray, row: int,
) -> None:  # fmt: skip
    """Propagate the gradient g in a hidden row to the trained rows t of `words[first:last]` and to P.

        t += gradient_factor * g    P += x g', the exact gradient, with x the pooled pretrained vector of the group

    Pass the same `factor` as to `read_group`. `gradient_factor` scales only the trained rows (word2vec's CBOW uses 1).
    """
    dim, start = rows.trained_dim, rows.trained_start
    if start == 0:
        set_pooled(rows, words, first, last, factor)
        for k in range(rows.pooled.shape[0]):
            number = rows.pooled[k]
            for j in range(dim):
                rows.projection[k, j] += number * hidden[row, j]
    for c in range(first, last):
        word = words[c]
        if rows.is_trained[word]:
            for j in range(dim):
                rows.trained[word, j] += gradient_factor * hidden[row, start + j]


@inline
def set_pooled(rows: PretrainedInputs, words: np.ndarray, first: int, last: int, factor: float) -> None:
    """Set `pooled` to the sum of the pretrained vectors of `words[first:last]` times a factor."""
    for k in range(rows.pooled.shape[0]):
        rows.pooled[k] = 0
    for c in range(first, last):
        word = words[c]
        for k in range(rows.pooled.shape[0]):
            rows.pooled[k] += factor * rows.pretrained[word, k]


PROJECTION = "projection"
PROJECTION_SEED = 1 << 32  # added to that of words


class PretrainedOperands(NamedTuple):
    """The rows of words, the objective, and how CBOW combines contexts; see `embeddings.plugins.cbow.CBOWOperands`."""

    words: PretrainedInputs
    objective: Any
    mean: bool
    exact: bool


@entry_point
def learn_pretrained_skipgram(block: Block, operands: PretrainedOperands, buffers: StepBuffers, rate: float) -> None:
    """Skip-gram: the row x of each context predicts the centre, x += its gradient; a window shares negative samples."""
    half = buffers.hidden_rows.shape[0] // 2
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = context_words(block, buffers.contexts, i)
        for j in range(m):
            read_context(operands.words, buffers, j, j, half + j)
        if m > 0:
            predict(operands.objective, block, buffers, i, m, rate)
        for j in range(m):
            backprop_to_group(operands.words, buffers.contexts, j, j + 1, 1, 1, buffers.hidden_rows, half + j)


@entry_point
def learn_pretrained_pairs(block: Block, operands: PretrainedOperands, buffers: StepBuffers, rate: float) -> None:
    """Skip-gram pair by pair: x += its gradient; each pair has its own negative samples."""
    noise = block.noise.shape[1] // buffers.contexts.shape[0]
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = context_words(block, buffers.contexts, i)
        for j in range(m):
            read_context(operands.words, buffers, j, 0, 1)
            predict(operands.objective, block, buffers, i, 1, rate, first=j * noise)
            backprop_to_group(operands.words, buffers.contexts, j, j + 1, 1, 1, buffers.hidden_rows, 1)


@entry_point
def learn_pretrained_cbow(block: Block, operands: PretrainedOperands, buffers: StepBuffers, rate: float) -> None:
    """CBOW: h, the mean or sum of the context rows x, predicts the centre; each x += the gradient of h."""
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = context_words(block, buffers.contexts, i)
        if m > 0:
            factor = 1 / m if operands.mean else 1.0
            read_group(operands.words, buffers.contexts, 0, m, factor, buffers.hidden_rows, 0)
            set_input(buffers, 0, 0, 1)
            predict(operands.objective, block, buffers, i, 1, rate)
            gradient_factor = factor if operands.exact else 1.0
            backprop_to_group(operands.words, buffers.contexts, 0, m, factor, gradient_factor, buffers.hidden_rows, 1)


@inline
def context_words(block: Block, words: np.ndarray, i: int) -> int:
    """Write the context words of centre i, left to right; returns how many there are."""
    m = 0
    for c in range(block.start[i], block.stop[i]):
        if c != i:
            words[m] = block.inputs[c]
            m += 1
    return m


@inline
def read_context(words: PretrainedInputs, buffers: StepBuffers, j: int, row: int, gradient: int) -> None:
    """Make context j an input, in a hidden row, and its gradient another row."""
    read_group(words, buffers.contexts, j, j + 1, 1, buffers.hidden_rows, row)
    set_input(buffers, row, row, gradient)


@inline
def set_input(buffers: StepBuffers, number: int, row: int, gradient: int) -> None:
    """Make a hidden row an input, whose gradient is another row of zeros."""
    for j in range(buffers.hidden_rows.shape[1]):
        buffers.hidden_rows[gradient, j] = 0
    buffers.inputs[number] = address(buffers.hidden_rows, row)
    buffers.input_gradient_rows[number] = address(buffers.hidden_rows, gradient)


def pretrained_plan(
    trainer: PredictionTrainer, data: TrainingData, init: InitFrom, objective: Objective, kernel: Kernel,
    *, inputs: int, mean: bool = True, exact: bool = False, stream: Stream | None = None,
) -> Plan:  # fmt: skip
    """The plan of a model whose words have pretrained vectors.

    With mode "concatenate", a vector is the pretrained one, or zeros, followed by trained components. With "project",
    it is the product of the pretrained one with the table "projection" (pretrained dim, dim), or a trained vector for a
    word without one.

    Arguments:
        init: the pretrained vectors, and how they are used.
        inputs: how many inputs the kernel learns at a time.
        mean, exact: how CBOW combines contexts.
        stream: as in `PredictionTrainer.window_plan`.
    """
    rows, vectors = init.match(data.vocabulary, data.encoded)
    size, dim, own_dim, is_projected = len(data.vocabulary), trainer.dim, vectors.shape[1], init.mode == "project"
    trained_dim = dim if is_projected else dim - own_dim
    square = np.mean(np.sum(np.square(vectors, dtype=np.float64), axis=1))
    scale = np.float32(1 / np.sqrt(square) if is_projected and square > 0 else 1)  # to a mean squared norm of 1
    pretrained, is_trained = np.zeros((size, own_dim), np.float32), np.ones(size, np.bool_)
    pretrained[rows], is_trained[rows] = vectors * scale, not is_projected
    tables = {"words": word_vectors(size, trained_dim, trainer.initializer)}
    if is_projected:
        tables[PROJECTION] = Table(rows=own_dim, dim=dim, axis="other", init=orthogonal, seed=PROJECTION_SEED)

    def operands(arrays: Arrays) -> PretrainedOperands:
        projection = arrays[PROJECTION] if is_projected else np.zeros((0, 0), np.float32)
        pooled, start = np.zeros(own_dim, np.float32), dim - trained_dim
        words = PretrainedInputs(arrays["words"], pretrained, projection, is_trained, trained_dim, start, pooled)
        return PretrainedOperands(words, objective.operand(arrays), mean, exact)

    def export(saved: Arrays) -> Arrays:
        if is_projected:
            saved[PROJECTION] = saved[PROJECTION] * scale
            saved[VECTORS][rows] = vectors @ saved[PROJECTION]
        else:
            saved[VECTORS] = np.concatenate([pretrained, saved[VECTORS]], axis=1)
        return saved

    contexts = 2 * trainer.window
    return trainer.window_plan(
        data,
        objective,
        stream=stream,
        kernel=kernel,
        tables=tables | objective.tables(),
        operands=operands,
        buffers=lambda targets, width: new_step_buffers(inputs, targets, width, contexts=contexts, rows=2 * inputs),
        export=export,
    )
