"""Steps of AdaGrad on rows that have gradients."""

import numpy as np

from embeddings.compilation.jit import entry_point
from embeddings.kernels.sparse_steps import AdaGradRows, step_row

WIDTH = 16


@entry_point
def step_rows(rows, numbers, gradients, rate):
    for k in range(numbers.shape[0]):
        step_row(rows, numbers[k], gradients[k], rate)


def test_adagrad_steps():
    rng = np.random.default_rng(4)
    start, gradients = rng.normal(size=(3, WIDTH)), rng.normal(size=(4, WIDTH))
    rows = AdaGradRows(start.copy(), np.zeros((3, WIDTH)))
    for gradient in gradients:
        step_rows(rows, np.array([1]), gradient[None], 0.1)
    expected, squares = start[1].copy(), np.zeros(WIDTH)
    for gradient in gradients:
        squares += gradient**2
        expected -= 0.1 * gradient / (np.sqrt(squares) + 1e-10)
    np.testing.assert_allclose(rows.values[1], expected, rtol=1e-12)
    assert (rows.values[[0, 2]] == start[[0, 2]]).all()
