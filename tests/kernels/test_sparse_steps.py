"""Steps of Adam and Adagrad on rows that have gradients."""

import naive_pairs
import numpy as np

from embeddings.compilation.jit import entry_point
from embeddings.kernels.sparse_steps import AdaGradRows, AdamRows, step_rates, step_row

WORDS, DIM, WIDTH, PAIRS = 12, 5, 16, 9


@entry_point
def step_rows(rows, numbers, gradients, rate, step):
    for k in range(numbers.shape[0]):
        step_row(rows, numbers[k], gradients[k], step_rates(rate, step))


def test_adam_steps_only_rows_with_a_gradient():
    """Moments of other rows do not decay; biases are corrected by the number of batches."""
    rng = np.random.default_rng(2)
    start = rng.normal(size=(6, WIDTH))
    rows, expected = AdamRows(start.copy(), np.zeros((6, 2 * WIDTH))), start.copy()
    means, squares = np.zeros((2, 6, WIDTH))
    for step in range(1, 31):
        numbers = rng.permutation(5)[: 1 + step % 5]  # never the last one
        gradients = rng.normal(size=(len(numbers), WIDTH))
        step_rows(rows, numbers, gradients, 0.01, step)
        for row, gradient in zip(numbers, gradients, strict=True):
            means[row] = 0.9 * means[row] + 0.1 * gradient
            squares[row] = 0.999 * squares[row] + 0.001 * gradient**2
            mean, square = means[row] / (1 - 0.9**step), squares[row] / (1 - 0.999**step)
            expected[row] -= 0.01 * mean / (np.sqrt(square) + 1e-8)
    np.testing.assert_allclose(rows.values, expected, rtol=1e-12)
    assert (rows.values[5] == start[5]).all()
    assert not rows.moments[5].any()


def test_adam_of_rows_that_all_have_gradients_is_dense_adam():
    rng = np.random.default_rng(3)
    start = rng.normal(size=(4, WIDTH))
    rows, values, twin = AdamRows(start.copy(), np.zeros((4, 2 * WIDTH))), start, naive_pairs.DenseAdam(start.shape)
    for step in range(1, 21):
        gradients = rng.normal(size=start.shape)
        step_rows(rows, np.arange(4), gradients, 0.01, step)
        values = twin.step(values, gradients, 0.01)
    np.testing.assert_allclose(rows.values, values, rtol=1e-12)


def test_adagrad_steps():
    rng = np.random.default_rng(4)
    start, gradients = rng.normal(size=(3, WIDTH)), rng.normal(size=(4, WIDTH))
    rows = AdaGradRows(start.copy(), np.zeros((3, WIDTH)))
    for gradient in gradients:
        step_rows(rows, np.array([1]), gradient[None], 0.1, 1)
    expected, squares = start[1].copy(), np.zeros(WIDTH)
    for gradient in gradients:
        squares += gradient**2
        expected -= 0.1 * gradient / (np.sqrt(squares) + 1e-10)
    np.testing.assert_allclose(rows.values[1], expected, rtol=1e-12)
    assert (rows.values[[0, 2]] == start[[0, 2]]).all()
