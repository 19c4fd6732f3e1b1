"""GloVe: the kernel against a naive twin and numerical gradients, tables, continued training and initial vectors."""

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import SettingError
from embeddings.kernels.block import LAST
from embeddings.kernels.loss_tally import EXAMPLES, LOSS
from embeddings.kernels.row_operations import padded
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.plugins.glove import cooccurrences, glove
from embeddings.plugins.glove.cooccurrences import CELL
from embeddings.plugins.glove.glove import (
    MAX_GRADIENT,
    CellSource,
    CellStream,
    GloVeOperands,
    Side,
    learn_block,
)
from embeddings.testing import check_trainer
from embeddings.training.stream import CorpusShare, WholeCorpusNeeded

WORDS, DIM, CELLS = 9, 5, 60
LINES = [f"{a} {b} near {a}" for a in ("red", "green", "blue") for b in ("car", "house", "door")] * 5
SMALL = {"dim": 8, "min_count": 1, "epochs": 3, "window": 3}


def new_side(rng, dtype):
    """A side with random values; padding as in training."""
    vectors, biases = separate_zeros((WORDS, padded(DIM)), dtype), separate_zeros((WORDS, padded(1)), dtype)
    vectors[:, :DIM], biases[:, 0] = rng.normal(size=(WORDS, DIM)), rng.normal(size=WORDS)
    squares = [np.ones_like(vectors), np.ones_like(biases)]
    squares[0][:, :DIM] += rng.random((WORDS, DIM))
    return Side(vectors, biases, *squares)


def new_operands(dtype, seed=1):
    rng = np.random.default_rng(seed)
    return GloVeOperands(new_side(rng, dtype), new_side(rng, dtype))


def random_cells(seed=2):
    rng = np.random.default_rng(seed)
    cells = np.zeros(CELLS, CELL)
    cells["row"], cells["column"] = rng.integers(WORDS, size=(2, CELLS))
    cells["count"] = 20 * rng.random(CELLS)
    return cells


def block_of(cells, x_max=10.0, exponent=0.75):
    """A block that holds these cells."""
    stream = CellStream(CellSource(cells, x_max, exponent), None, len(cells))
    block = stream.new_block()
    chunk = next(stream.chunks(0, len(cells), None))
    stream.rewind(block, chunk)
    assert stream.fill(block, chunk, np.zeros(2, np.uint64)) == len(cells)
    return block


def without_padding(operands):
    """Copies of the vectors, biases and squares of words, then of contexts, without padding."""
    return [array[:, :width].copy() for side in operands for array, width in zip(side, (DIM, 1, DIM, 1), strict=True)]


def naive_steps(operands, block, rate, frozen=()):
    """AdaGrad cell by cell; returns the arrays without padding, and the loss."""
    arrays, loss = without_padding(operands), 0.0
    w, b, _, _, c, d, _, _ = arrays
    for i, j, x, f in zip(block.rows, block.columns, block.log_counts, block.weights, strict=True):
        error = w[i] @ c[j] + b[i, 0] + d[j, 0] - x
        loss += 0.5 * float(f * error**2)
        gradients = [np.clip(f * error * factor, -MAX_GRADIENT, MAX_GRADIENT) for factor in (c[j], 1.0, w[i], 1.0)]
        for k, row, gradient in zip((0, 1, 4, 5), (i, i, j, j), gradients, strict=True):
            values, squares, step = arrays[k][row], arrays[k + 2][row], rate * gradient
            if k != 0 or row not in frozen:
                values -= step / np.sqrt(squares)
            squares += step**2
    return arrays, loss


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-4), (np.float64, 1e-7)])
@pytest.mark.parametrize("frozen", [(), (0, 3)])
def test_blocks_equal_the_naive_twin(dtype, tolerance, frozen):
    operands, block, buffers = new_operands(dtype), block_of(random_cells()), new_step_buffers(1, 1, 16)
    if frozen:
        buffers = buffers._replace(frozen=np.isin(np.arange(WORDS), frozen))
    before = operands.words.vectors.copy()
    expected, loss = naive_steps(operands, block, 0.3, frozen)
    learn_block(block, operands, buffers, 0.3)
    for array, naive in zip(without_padding(operands), expected, strict=True):
        np.testing.assert_allclose(array, naive, rtol=tolerance, atol=tolerance)
    assert buffers.tally[LOSS] == pytest.approx(loss, rel=1e-3)
    assert buffers.tally[EXAMPLES] == CELLS
    assert not operands.words.vectors[:, DIM:].any()  # padding
    for row in frozen:
        np.testing.assert_array_equal(operands.words.vectors[row], before[row])


def test_large_gradients_are_clipped():
    operands, block = new_operands(np.float64), block_of(np.array([(2, 4, 50.0)], CELL))
    operands.words.biases[2] = 1000
    expected, _ = naive_steps(operands, block, 0.05)
    learn_block(block, operands, new_step_buffers(1, 1, 16), 0.05)
    assert expected[3][2, 0] == pytest.approx(1 + (0.05 * MAX_GRADIENT) ** 2)
    np.testing.assert_allclose(operands.words.bias_squares[:, :1], expected[3])
    np.testing.assert_allclose(operands.words.vectors[:, :DIM], expected[0])


def loss_of(w, b, c, d, x):
    """The loss of a cell, from the paper, with x_max = 10 and an exponent of 3/4."""
    return 0.5 * min((x / 10) ** 0.75, 1) * (w @ c + b + d - np.log(x)) ** 2


@pytest.mark.parametrize("x", [0.07, 5.0, 50.0])
def test_first_steps_follow_the_gradient(x):
    """Where the sums of squares are 1, a step is the learning rate times the gradient."""
    operands, rate, change = new_operands(np.float64), 1e-6, 1e-5
    for side in operands:
        side.vector_squares[:], side.bias_squares[:] = 1, 1
    w, b, _, _, c, d, _, _ = before = without_padding(operands)
    cell = np.concatenate([w[2], b[2], c[4], d[4]])

    def loss(cell):
        return loss_of(cell[:DIM], cell[DIM], cell[DIM + 1 : -1], cell[-1], float(np.float32(x)))

    numerical = [(loss(cell + step) - loss(cell - step)) / (2 * change) for step in change * np.eye(len(cell))]
    learn_block(block_of(np.array([(2, 4, x)], CELL)), operands, new_step_buffers(1, 1, 16), rate)
    steps = [(old - new) / rate for old, new in zip(before, without_padding(operands), strict=True)]
    learned = np.concatenate([steps[0][2], steps[1][2], steps[4][4], steps[5][4]])
    np.testing.assert_allclose(learned, numerical, rtol=1e-4, atol=1e-6)
    assert not any(np.delete(step, row, axis=0).any() for step, row in zip(steps[:2], (2, 2), strict=True))
    assert not any(np.delete(step, row, axis=0).any() for step, row in zip(steps[4:6], (4, 4), strict=True))


@pytest.mark.parametrize("order", [None, 3])
def test_a_share_reads_each_cell_once(order, monkeypatch):
    monkeypatch.setattr(glove, "CHUNK_CELLS", 7)
    cells = random_cells()
    cells["row"] = np.arange(CELLS)
    stream, rows = CellStream(CellSource(cells, 10.0, 0.75), None, 4), []
    block = stream.new_block()
    for chunk in stream.chunks(5, 50, None if order is None else np.random.default_rng(order)):
        stream.rewind(block, chunk)
        while stream.fill(block, chunk, np.zeros(2, np.uint64)):
            assert stream.is_valid(block, chunk)
            rows += block.rows[: block.cursor[LAST]].tolist()
        assert stream.is_empty(block)
    assert sorted(rows) == list(range(5, 50))
    assert (rows == sorted(rows)) == (order is None)
    block.cursor[0] = 51
    assert not stream.is_valid(block, chunk)


@pytest.mark.parametrize(
    "settings", [{"vectors": "words"}, {"shuffle": True, "schedule": "linear", "min_learning_rate": 0.04}], ids=str
)
def test_contract(settings):
    check_trainer(em.GloVe, x_max=10.0, **settings)


def test_vectors_are_sums_or_those_of_words():
    model = em.train("glove", LINES, threads=1, **SMALL)
    words = em.train("glove", LINES, threads=1, vectors="words", **SMALL)
    np.testing.assert_array_equal(model.vectors.matrix, model.tables["words"] + model.tables["contexts"])
    np.testing.assert_array_equal(words.vectors.matrix, model.tables["words"])
    assert set(words.tables) == {"contexts", "word_biases", "context_biases"}
    assert set(model.tables) == {"words", *words.tables}
    assert model.tables["word_biases"].shape == (len(model.vocabulary), 1)


def test_asymmetric_counts_fit_what_comes_after_a_word():
    """In "a b", b comes after a, never before it: the product of a's word and b's context vector fits a count."""
    lines = ["a b"] * 50 + ["b c"] * 20 + ["c a"] * 5
    settings = {**SMALL, "epochs": 200, "x_max": 1.0, "weight_exponent": 0.0, "threads": 1}
    model = em.train("glove", lines, symmetric=False, **settings)
    words, contexts = (
        [model.tables[name][model.vectors.index(word)] for word in "abc"] for name in ("words", "contexts")
    )
    biases = [
        [model.tables[name][model.vectors.index(word), 0] for word in "abc"]
        for name in ("word_biases", "context_biases")
    ]
    fitted = [words[i] @ contexts[j] + biases[0][i] + biases[1][j] for i, j in ((0, 1), (1, 2), (2, 0))]
    np.testing.assert_allclose(fitted, np.log([50, 20, 5]), atol=0.05)
    with pytest.raises(SettingError, match="symmetric must be False, as in the model"):
        em.continue_training(model, lines, symmetric=True)


def test_word_vectors_can_be_frozen_but_not_sums():
    given = em.train("glove", LINES, threads=1, vectors="words", **SMALL).vectors
    frozen = em.train("glove", LINES, threads=1, vectors="words", init=em.InitFrom(given, freeze=True), **SMALL)
    np.testing.assert_array_equal(frozen.vectors.matrix, given.matrix)
    with pytest.raises(SettingError, match=r"cannot freeze"):
        em.train("glove", LINES, init=em.InitFrom(given, freeze=True), **SMALL)
    started = em.train("glove", LINES, threads=1, init=em.InitFrom(given), learning_rate=1e-9, **SMALL)
    np.testing.assert_allclose(started.tables["words"], given.matrix, atol=1e-5)


def test_a_share_of_a_corpus_leaves_no_open_files(tmp_path, monkeypatch):
    """As on a cluster, where it is tried first."""
    opened, file_class = [], cooccurrences.ArrayFile

    def open_file(*arguments):
        opened.append(file_class(*arguments))
        return opened[-1]

    monkeypatch.setattr(cooccurrences, "ArrayFile", open_file)
    share = CorpusShare(np.zeros(0, np.int32), np.zeros(1, np.int64), 0, {}, "")
    with pytest.raises(WholeCorpusNeeded):
        cooccurrences.select_words(share, 3, 2, tmp_path)
    assert all(file.file.closed for file in opened)
