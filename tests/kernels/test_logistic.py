"""The logistic function, its loss, and steps from scores."""

import naive
import numpy as np
import pytest
from kernel_helpers import ROW_TOLERANCE, loss_of_scores, score_matrix, steps_of_scores

from embeddings.kernels.row_operations import row_stride


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_loss_equals_the_twins(dtype):
    rng = np.random.default_rng(1)
    for m, n in [(1, 1), (3, 6), (10, 17)]:
        scores = rng.normal(size=(m, n)).astype(dtype) * 5
        weights, positives = rng.choice([0, 1, 2.5], n), rng.integers(1, n + 1)
        loss = loss_of_scores(score_matrix(scores, dtype), m, positives, n, weights.astype(dtype))
        assert loss == pytest.approx(naive.logistic_loss(scores.astype(np.float64), positives, weights), rel=1e-12)


def test_loss_is_finite_for_large_scores():
    scores = np.array([[1e4, 1e4, -1e4, -1e4]])
    assert loss_of_scores(score_matrix(scores, np.float32), 1, 1, 4, np.ones(4, np.float32)) == 1e4
    assert loss_of_scores(score_matrix(-scores, np.float32), 1, 1, 4, np.ones(4, np.float32)) == 3e4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_steps_from_scores(dtype):
    rng = np.random.default_rng(2)
    for m, n in [(1, 1), (3, 6), (10, 17)]:
        scores, weights, positives = rng.normal(size=(m, n)), rng.choice([0, 1, 2.5], n), rng.integers(1, n + 1)
        matrix = score_matrix(scores, dtype)
        steps_of_scores(matrix, m, positives, n, weights.astype(dtype), 0.5)
        labels = np.arange(n) < positives
        expected = 0.5 * weights * (labels - naive.sigmoid(scores))
        steps = matrix[: m * row_stride(n)].reshape(m, -1)[:, :n]
        np.testing.assert_allclose(steps, expected, rtol=0, atol=ROW_TOLERANCE[dtype])
    matrix = score_matrix(np.array([[7.9, -7.9, 9, -100.0]]), dtype)
    steps_of_scores(matrix, 1, 4, 4, np.ones(4, dtype), 1.0)
    expected = naive.sigmoid(np.array([-7.9, 7.9, -9, 100.0]))
    np.testing.assert_allclose(matrix[:4], expected, rtol=0, atol=3.5e-4 if dtype == np.float32 else 1e-12)
