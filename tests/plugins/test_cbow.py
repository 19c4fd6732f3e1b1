"""CBOW: the trainer contract, whole blocks against the twin, and steps against numerical gradients."""

import naive
import numpy as np
import pytest
from kernel_helpers import (
    BLOCK_TOLERANCE,
    POSITIONS,
    SMALL_VOCABULARY,
    block_and_tables,
    check_gradients,
    position_and_block,
    small_table,
    tallying_buffers,
    windows_of,
)

import embeddings as em
from embeddings.kernels.loss_tally import EXAMPLES, LOSS
from embeddings.kernels.row_operations import UPDATE_TILE
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.objectives.negative_sampling import NegativeSamples
from embeddings.plugins import cbow
from embeddings.testing import check_trainer
from embeddings.testing.trainer_contract import synonym_corpus
from embeddings.training.training_data import prepare


@pytest.mark.parametrize(
    "settings",
    [
        {"combine": "sum"},
        {"context_gradient": "exact", "learning_rate": 0.15},
        pytest.param({"shrink_window": False}, marks=pytest.mark.slow),
        pytest.param({"negatives": 20}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_contract(settings):
    check_trainer(em.CBOW, **settings)


@pytest.mark.parametrize("negatives", [1, 5, 20])
@pytest.mark.parametrize(("mean", "exact"), [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_block_equals_the_twins(dtype, mean, exact, negatives):
    block, words, output = block_and_tables(dtype, negatives)
    buffers = tallying_buffers(1, 1 + negatives, words.width, dtype, contexts=10, rows=2)
    cbow.learn_block(
        block, cbow.CBOWOperands(words.table, NegativeSamples(output.table, negatives), mean, exact), buffers, 0.05
    )
    settings = {"mean": mean, "exact": exact, "tile": UPDATE_TILE}
    loss, pairs = naive.cbow(words.twin, output.twin, windows_of(block), 0.05, **settings)
    words.check(BLOCK_TOLERANCE[dtype])
    output.check(BLOCK_TOLERANCE[dtype])
    assert buffers.tally[EXAMPLES] == pairs > 100
    assert buffers.tally[LOSS] == pytest.approx(loss, rel=1e-4)


def small_tables(seed):
    """Two tables and buffers for one position."""
    rng = np.random.default_rng(seed)
    words, output = (small_table(rng, SMALL_VOCABULARY) for _ in range(2))
    return words, output, new_step_buffers(1, 5, words.shape[1], contexts=10, rows=2, dtype=np.float64)


@pytest.mark.parametrize("mean", [True, False], ids=["mean", "sum"])
@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_exact_steps_are_gradient_steps(position, mean):
    words, output, buffers = small_tables(1)
    block, _ = position_and_block(*position)
    windows = windows_of(block)
    check_gradients(
        cbow.learn_block,
        block,
        cbow.CBOWOperands(words, NegativeSamples(output, block.noise.shape[1]), mean, True),
        buffers,
        lambda: naive.cbow_loss(words, output, windows, mean=mean),
        (words, output),
    )


@pytest.mark.parametrize("mean", [True, False], ids=["mean", "sum"])
@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_tied_steps_are_gradient_steps(position, mean):
    """Also where a word is both a context and a negative sample."""
    words, _, buffers = small_tables(1)
    block, _ = position_and_block(*position)
    windows = windows_of(block)
    check_gradients(
        cbow.learn_block,
        block,
        cbow.CBOWOperands(words, NegativeSamples(words, block.noise.shape[1]), mean, True),
        buffers,
        lambda: naive.cbow_loss(words, words, windows, mean=mean),
        (words,),
    )


def test_tied_outputs_are_the_inputs():
    plan = em.CBOW(dim=8, min_count=1, tie=True).plan(prepare(em.CBOW(dim=8, min_count=1), synonym_corpus()))
    operands = plan.operands(plan.allocate(1))
    assert np.shares_memory(operands.words, operands.objective.output)


def test_a_tied_model_has_one_table():
    model = em.train("cbow", synonym_corpus(), dim=8, min_count=1, epochs=1, threads=2, tie=True)
    assert model.tables == {}
    assert model.predict_output_word(["before1"], top=3)


@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_the_undivided_gradient_is_the_exact_one_times_the_number_of_contexts(position):
    words, output, buffers = small_tables(1)
    block, (_, _, start, stop, _) = position_and_block(*position)
    changes = {}
    for exact in (True, False):
        w, o = words.copy(), output.copy()
        cbow.learn_block(
            block, cbow.CBOWOperands(w, NegativeSamples(o, block.noise.shape[1]), True, exact), buffers, 0.1
        )
        changes[exact] = w - words, o - output
    np.testing.assert_allclose(changes[False][0], (stop - start - 1) * changes[True][0], atol=1e-14)
    np.testing.assert_array_equal(changes[False][1], changes[True][1])
    assert abs(changes[True][0]).max() > 1e-3


def test_the_gradient_of_a_sum_is_exact_either_way():
    after = []
    for exact in (True, False):
        words, output, buffers = small_tables(2)
        block, _ = position_and_block(*POSITIONS["both sides"])
        cbow.learn_block(
            block, cbow.CBOWOperands(words, NegativeSamples(output, block.noise.shape[1]), False, exact), buffers, 0.1
        )
        after.append(words)
    np.testing.assert_array_equal(*after)
