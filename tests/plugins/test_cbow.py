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


@pytest.mark.parametrize("is_tied", [False, True])
@pytest.mark.parametrize("mean", [True, False], ids=["mean", "sum"])
@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_exact_steps_are_gradient_steps(position, mean, is_tied):
    """Also where a word is both a context and a negative sample of tied tables."""
    words, output, buffers = small_tables(1)
    output = words if is_tied else output
    block, _ = position_and_block(*position)
    windows = windows_of(block)
    check_gradients(
        cbow.learn_block,
        block,
        cbow.CBOWOperands(words, NegativeSamples(output, block.noise.shape[1]), mean, True),
        buffers,
        lambda: naive.cbow_loss(words, output, windows, mean=mean),
        (words,) if is_tied else (words, output),
    )
