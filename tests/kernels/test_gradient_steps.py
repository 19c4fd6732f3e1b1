"""A step of negative sampling: against its twin, and against numerical gradients."""

import naive
import numpy as np
import pytest
from kernel_helpers import (
    RATE,
    ROW_TOLERANCE,
    SMALL_DIM,
    assert_gradient,
    learn_single_step,
    learn_step,
    rows,
    tallying_buffers,
)
from test_row_operations import DTYPES, SHAPES

from embeddings.kernels.logistic import STEP_TILE
from embeddings.kernels.row_operations import UPDATE_TILE
from embeddings.kernels.step_buffers import new_step_buffers


@DTYPES
def test_learn(dtype):
    """A whole step with repeated inputs and targets, several positives, weights, and any number of tiles."""
    rng, tolerance = np.random.default_rng(7), 3 * ROW_TOLERANCE[dtype]
    for m, n, dim in SHAPES:
        positives, weights = min(n, 1 + (m + n) % 3), rng.choice([1, 1, 0, 2.5], n)
        x, o = rows(rng, m, dim, dtype, among=5, scale=0.2), rows(rng, n, dim, dtype, among=7, scale=0.2)
        buffers = tallying_buffers(max(m, 1), n, x.width, dtype)
        buffers.inputs[:m] = buffers.input_gradient_rows[:m] = x.at
        buffers.targets[:], buffers.weights[:] = o.at, weights
        learn_step(buffers, m, positives, n, x.width, 0.05)
        loss = naive.learn(x.views, x.views, o.views, positives, weights, 0.05, tile=UPDATE_TILE)
        x.check(tolerance)
        o.check(tolerance)
        assert buffers.tally[:2].tolist() == pytest.approx([loss, m * positives], rel=1e-4, abs=1e-9)


@DTYPES
@pytest.mark.parametrize("is_in_place", [True, False])
def test_learn_single(is_in_place, dtype):
    """A step of one input, in place or with a gradient row of its own, with any number of positives and tiles."""
    rng, tolerance = np.random.default_rng(8), 3 * ROW_TOLERANCE[dtype]
    assert max(n for _, n, _ in SHAPES) > 2 * STEP_TILE
    for m, n, dim in SHAPES:
        positives, weights, rate = min(n, 3 * m), np.ones(n), 0.05
        x, o = rows(rng, 2, dim, dtype, scale=0.2), rows(rng, n, dim, dtype, scale=0.2)
        gradient = int(is_in_place)
        buffers = tallying_buffers(1, n, x.width, dtype)
        buffers.inputs[0], buffers.input_gradient_rows[0], buffers.targets[:] = x.at[1], x.at[gradient], o.at
        learn_single_step(buffers, positives, n, x.width, rate)
        loss = naive.learn(x.views[1:], [x.views[gradient]], o.views, positives, weights, rate, tile=n)
        x.check(tolerance)
        o.check(tolerance)
        assert buffers.tally[:2].tolist() == pytest.approx([loss, 1], rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("n", [1, 5, 23])
@pytest.mark.parametrize("m", [1, 2, 7])
def test_learn_is_a_gradient_step(m, n):
    """For any number of positives and weights, repeated rows on both sides, one tile or several."""
    rng = np.random.default_rng(10 * m + n)
    positives, weights = min(n, 2), rng.choice([0.5, 1, 2], n)
    x = rows(rng, m, SMALL_DIM, np.float64, among=max(1, m - 1), scale=0.7)
    o = rows(rng, n, SMALL_DIM, np.float64, among=max(1, n - 2), scale=0.7)
    buffers = new_step_buffers(m, n, x.width, dtype=np.float64)
    buffers.inputs[:] = buffers.input_gradient_rows[:] = x.at
    buffers.targets[:], buffers.weights[:] = o.at, weights
    learn_step(buffers, m, positives, n, x.width, RATE)

    def loss():
        return naive.logistic_loss(naive.score(x.views, o.views), positives, weights)

    for side in (x, o):
        gradient = naive.numerical_gradient(loss, side.twin[:, :SMALL_DIM])
        assert_gradient((side.table - side.twin) / RATE, gradient)
