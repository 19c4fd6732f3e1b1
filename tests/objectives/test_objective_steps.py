"""Steps of all objectives against numerical gradients of their naive losses, in float64, in all shapes of models."""

import naive
import naive_objectives as twins
import numpy as np
import pytest
from kernel_helpers import BLOCK_TOLERANCE, POSITIONS, SMALL_DIM, position_and_block

from embeddings.compilation.jit import allocating_entry_point
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.kernels import document_kernels
from embeddings.kernels.block import FIRST, LAST
from embeddings.kernels.loss_tally import EXAMPLES, LOSS, UNTIL_SAMPLE
from embeddings.kernels.row_operations import address, padded
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.kernels.window import new_slot_buffers
from embeddings.objectives.objective import predict
from embeddings.plugins import continuous_window, skipgram, structured_skipgram
from embeddings.plugins.paragraph_dm import ConcatenatedWindows
from embeddings.settings import ObjectiveChoice

COUNTS = [40, 30, 20, 10, 8, 8, 5, 3, 3]
WORDS = Vocabulary([f"w{number}" for number in range(len(COUNTS))], np.array(COUNTS))
WIDTH, RATE = padded(SMALL_DIM), 1e-7
OBJECTIVES = {
    "nce": ({"objective": "nce"}, twins.nce),
    "nce, trained": ({"objective": "nce", "nce_normalizer": "trained"}, twins.nce),
    "sampled softmax": ({"objective": "sampled-softmax"}, twins.sampled_softmax),
    "log-uniform": ({"objective": "sampled-softmax", "proposals": "log-uniform"}, twins.sampled_softmax),
    "without target": (
        {"objective": "sampled-softmax", "target_in_sample": False},
        twins.sampled_softmax_without_target,
    ),
    "huffman": ({"objective": "hierarchical-softmax"}, twins.huffman(COUNTS)),
    "adaptive": ({"objective": "adaptive-softmax", "cutoffs": "2,5"}, twins.adaptive([2, 5])),
    "full softmax": ({"objective": "full-softmax"}, twins.full_softmax),
}


FEW = [  # one of each kind; the kernels of others take long to compile
    name if name in ("nce", "huffman", "adaptive") else pytest.param(name, marks=pytest.mark.slow)
    for name in OBJECTIVES
]


class Trial:
    """An objective with random tables, its operand and the naive loss of words."""

    def __init__(self, name, negatives, dtype=np.float64, **shape):
        settings, self.twin = OBJECTIVES[name]
        drawing = {"negatives": negatives} if "nce" in name or settings["objective"] == "sampled-softmax" else {}
        choice = ObjectiveChoice(**settings, **drawing)
        self.objective = choice.word_objective.implementation()(choice, WORDS, SMALL_DIM, **shape)
        rng = np.random.default_rng(5)
        self.declared, self.tables = self.objective.tables(), {}
        for name, table in self.declared.items():
            array = separate_zeros((table.rows * table.slots, padded(table.dim)), dtype)
            array[:, : table.dim] = rng.normal(size=(len(array), table.dim)) * 0.7
            self.tables[name] = array.reshape(table.rows, -1) if table.is_concatenated else array
        self.operand = self.objective.operand(self.tables)
        self.q = self.objective.noise_weights / self.objective.noise_weights.sum()

    def rows(self, slot=0):
        """The rows of a slot."""
        return {
            name: table if self.declared[name].is_concatenated else table[slot :: self.declared[name].slots]
            for name, table in self.tables.items()
        }

    def loss(self, word, hidden, noise, slot=0):
        rows, size = self.rows(slot), len(hidden)
        narrow = {name: table[:, :size] if table.shape[1] >= size else table for name, table in rows.items()}
        narrow = {name: rows[name] if name.startswith("tail") else table for name, table in narrow.items()}
        return self.twin(narrow, word, hidden, noise, self.q)

    def live(self):
        """The numbers that are not padding, as views."""
        return [
            table.reshape(len(table), -1, padded(self.declared[name].dim))[:, :, : self.declared[name].dim]
            for name, table in self.tables.items()
        ]

    def check_padding(self):
        for name, table in self.tables.items():
            padding = table.reshape(len(table), -1, padded(self.declared[name].dim))[:, :, self.declared[name].dim :]
            assert (padding == 0).all()


def random_rows(count, dtype=np.float64, seed=2):
    table = separate_zeros((count, WIDTH), dtype)
    table[:, :SMALL_DIM] = np.random.default_rng(seed).normal(size=(count, SMALL_DIM)) * 0.7
    return table


def check_steps(step, loss, arrays):
    """Assert that `step(rate)` changes arrays by minus the rate times the numerical gradient of `loss()`."""
    gradients = [naive.numerical_gradient(loss, array) for array in arrays]
    before = [array.copy() for array in arrays]
    step(RATE)
    scale = max(abs(gradient).max() for gradient in gradients)
    assert scale > 0.01
    for array, old, gradient in zip(arrays, before, gradients, strict=True):
        np.testing.assert_allclose((array - old) / RATE, -gradient, rtol=0, atol=1e-6 * max(scale, 1))


def window_parts(position):
    i, line, start, stop, noise = position
    return line[i], [line[c] for c in range(start, stop) if c != i], noise


@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
@pytest.mark.parametrize("name", FEW)
def test_steps_of_skipgram_are_gradient_steps(name, position):
    block, position = position_and_block(*position)
    word, contexts, noise = window_parts(position)
    trial, words = Trial(name, len(noise)), random_rows(len(COUNTS))
    buffers = new_step_buffers(10, trial.objective.max_targets, WIDTH, dtype=np.float64)
    buffers.tally[UNTIL_SAMPLE] = -1e9
    losses = []

    def loss():
        losses.append(sum(trial.loss(word, words[c, :SMALL_DIM], noise) for c in contexts))
        return losses[-1]

    loss()
    check_steps(
        lambda rate: skipgram.learn_block(block, skipgram.SkipGramOperands(words, trial.operand), buffers, rate),
        loss,
        [words[:, :SMALL_DIM], *trial.live()],
    )
    trial.check_padding()
    assert buffers.tally[LOSS] == pytest.approx(losses[0], rel=1e-6)  # inputs may learn one after another
    assert buffers.tally[EXAMPLES] == len(contexts)


@pytest.mark.parametrize("name", FEW)
def test_steps_in_slots_are_gradient_steps(name):
    block, position = position_and_block([1, 2, 2, 3, 5, 3, 4, 4, 0, 6, 8], 5, 0, 11, [1, 3, 3, 7])
    i, line, start, stop, noise = position
    reach = np.array([[-3, -1], [1, 2]])
    trial, words = Trial(name, len(noise), slots=2), random_rows(len(COUNTS))
    buffers = new_step_buffers(3, trial.objective.max_targets, WIDTH, dtype=np.float64)

    def loss():
        return sum(
            trial.loss(line[i], words[line[c], :SMALL_DIM], noise, slot)
            for slot, contexts in enumerate(naive.slot_contexts(i, start, stop, reach))
            for c in contexts
        )

    operands = structured_skipgram.SlotOperands(words, trial.operand, reach)
    step = structured_skipgram.learn_block
    check_steps(lambda rate: step(block, operands, buffers, rate), loss, [words[:, :SMALL_DIM], *trial.live()])
    trial.check_padding()


@pytest.mark.parametrize("is_paragraph", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FEW)
def test_steps_of_concatenated_windows_are_gradient_steps(name, is_paragraph):
    block, position = position_and_block([1, 2, 3, 5, 3, 4], 2, 1, 5, [1, 3, 3, 7])
    slots, noise = 4 + is_paragraph, position[4]
    trial = Trial(name, len(noise), slots=slots, is_concatenated=True)
    words, documents = random_rows(len(COUNTS) + 1), random_rows(1, seed=3)
    buffers = new_slot_buffers(trial.objective.max_targets, slots, WIDTH, np.float64)
    if is_paragraph:
        operands = ConcatenatedWindows(documents, words[:-1], words[-1:], trial.operand, 2)
        learn = document_kernels.learn_block
        block = block._replace(documents=np.zeros(len(block.words), np.int32))
    else:
        operands = continuous_window.ContinuousWindowOperands(words[:-1], trial.operand, 2, 1)
        learn = continuous_window.learn_single_windows

    def loss():
        rows = naive.dm_rows(documents[0], words, position, 2) if is_paragraph else naive.slot_rows(words, position, 2)
        return trial.loss(position[1][position[0]], naive.concatenate_rows(rows, WIDTH), noise)

    arrays = [words[:, :SMALL_DIM], *[documents[:, :SMALL_DIM]] * is_paragraph, *trial.live()]
    check_steps(lambda rate: learn(block, operands, buffers, rate), loss, arrays)
    trial.check_padding()


@allocating_entry_point
def infer_rows(operand, block, buffers, rows, rate):
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        buffers.inputs[0] = buffers.input_gradient_rows[0] = address(rows, 0)
        predict(operand, block, buffers, i, 1, rate, frozen=True)


@pytest.mark.parametrize("name", FEW)
def test_inference_updates_only_the_input(name):
    block, position = position_and_block([4, 0, 7], 2, 0, 3, [4, 8, 8, 1])
    trial, rows = Trial(name, 4), random_rows(1)
    for table in trial.tables.values():
        table.flags.writeable = False
    before = [table.copy() for table in trial.tables.values()]
    operand = trial.objective.operand(trial.tables)
    buffers = new_step_buffers(2, trial.objective.max_targets, WIDTH, dtype=np.float64)  # for more than the one input

    def loss():
        return trial.loss(position[1][2], rows[0, :SMALL_DIM], position[4])

    check_steps(lambda rate: infer_rows(operand, block, buffers, rows, rate), loss, [rows[:, :SMALL_DIM]])
    for table, old in zip(trial.tables.values(), before, strict=True):
        np.testing.assert_array_equal(table, old)


@pytest.mark.parametrize("dtype", [np.float32, pytest.param(np.float64, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_block_equals_the_twin(name, dtype):
    """Many windows without repeated words, in which steps are gradient steps at any rate; in a tree, one per input."""
    rng = np.random.default_rng(4)
    trial, words, rate = Trial(name, 3, dtype), random_rows(len(COUNTS), dtype), 0.05
    twin_words, twin = words.astype(np.float64), Trial(name, 3)
    buffers = new_step_buffers(2, trial.objective.max_targets, WIDTH, dtype=dtype)
    buffers.tally[UNTIL_SAMPLE] = -1e9
    total = 0.0
    for _ in range(10):
        line, noise = rng.permutation(len(COUNTS))[:3].tolist(), rng.permutation(len(COUNTS))[:3].tolist()
        block, _ = position_and_block(line, 1, 0, 3, noise)
        skipgram.learn_block(block, skipgram.SkipGramOperands(words, trial.operand), buffers, rate)

        for contexts in [(line[0],), (line[2],)] if name == "huffman" else [(line[0], line[2])]:

            def loss(word=line[1], contexts=contexts, noise=noise):
                return sum(twin.loss(word, twin_words[c, :SMALL_DIM], noise) for c in contexts)

            total += loss()
            live = [twin_words[:, :SMALL_DIM], *twin.live()]
            for array, gradient in [(array, naive.numerical_gradient(loss, array)) for array in live]:
                array -= rate * gradient
    tolerance = max(BLOCK_TOLERANCE[dtype], 1e-8)  # of numerical gradients
    for array, expected in zip([words, *trial.tables.values()], [twin_words, *twin.tables.values()], strict=True):
        np.testing.assert_allclose(array, expected, rtol=0, atol=tolerance)
    assert buffers.tally[LOSS] == pytest.approx(total, rel=tolerance)
