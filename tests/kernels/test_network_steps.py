"""Steps of recurrent networks, against formulas in numpy."""

import naive
import numpy as np
import pytest

from embeddings.kernels.network_steps import run_cells, run_cells_back, score_samples, score_samples_back


def cells_of(gates, before):
    """Activations, cells and states of nodes, in float64."""
    i, f, g, o = np.split(gates, 4, axis=1)
    i, f, g, o = naive.sigmoid(i), naive.sigmoid(f), np.tanh(g), naive.sigmoid(o)
    cells = f * before + i * g
    return np.concatenate([i, f, g, o], axis=1), cells, o * np.tanh(cells)


@pytest.mark.parametrize("scale", [1, 30])
def test_cells_follow_their_formula(scale):
    rng = np.random.default_rng(0)
    gates, parents = rng.normal(size=(5, 28)) * scale, np.array([0, 1, 0, 1, 1])
    cells = np.concatenate([rng.normal(size=(2, 7)), np.zeros((5, 7))])
    arrays = [one.astype(np.float32) for one in (gates, cells, np.zeros((5, 7)), np.zeros((7, 7)))]
    run_cells(*arrays, parents, 1, 5)
    activations, found, states = cells_of(gates, cells[parents])
    for array, expected in zip((arrays[0], arrays[1][2:], arrays[3][2:]), (activations, found, states), strict=True):
        np.testing.assert_allclose(array[1:], expected[1:], rtol=2e-5, atol=2e-5)
    np.testing.assert_array_equal(arrays[0][0], gates[0].astype(np.float32))


def test_gradients_of_cells_are_differences():
    rng = np.random.default_rng(1)
    gates, before, parents = rng.normal(size=(3, 16)), rng.normal(size=(2, 4)), np.array([1, 0, 1])
    to_states, to_cells = rng.normal(size=(2, 3, 4))

    def total(gates, before):
        _, cells, states = cells_of(gates, before[parents])
        return (states * to_states).sum() + (cells * to_cells).sum()

    cells = np.concatenate([before, np.zeros((3, 4))])
    arrays = [one.astype(np.float32) for one in (gates, cells, np.zeros((3, 4)), np.zeros((5, 4)))]
    run_cells(*arrays, parents, 0, 3)
    changes = [np.concatenate([np.zeros((2, 4)), one]).astype(np.float32) for one in (to_states, to_cells)]
    run_cells_back(*arrays[:3], *changes, parents, 0, 3)
    for array, start in ((arrays[0], gates), (changes[1][:2], before)):
        expected = naive.numerical_gradient(lambda: total(gates, before), start)
        np.testing.assert_allclose(array, expected, rtol=1e-3, atol=1e-4)


def test_scores_of_samples_and_their_gradients():
    rng = np.random.default_rng(2)
    hidden, rows, gradient = (rng.normal(size=shape).astype(np.float32) for shape in ((4, 6), (3, 6), (4, 2)))
    places, scores = rng.integers(0, 3, (4, 2)), np.zeros((4, 2), np.float32)
    score_samples(hidden, rows, places, scores)
    np.testing.assert_allclose(scores, np.einsum("nd,nkd->nk", hidden, rows[places]), rtol=1e-5)
    to_hidden, to_rows = np.zeros_like(hidden), np.zeros_like(rows)
    score_samples_back(hidden, rows, places, gradient, to_hidden, to_rows)
    expected = np.zeros_like(rows)
    np.add.at(expected, places, gradient[..., None] * hidden[:, None])
    np.testing.assert_allclose(to_rows, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(to_hidden, np.einsum("nk,nkd->nd", gradient, rows[places]), rtol=1e-4, atol=1e-5)
