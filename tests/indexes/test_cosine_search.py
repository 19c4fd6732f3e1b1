"""Near ties in float32 are decided in float64, then by row number."""

import numpy as np

from embeddings.indexes.cosine_search import product_error, select_top


def test_near_ties_are_decided_by_exact_scores():
    rough = np.array([0.5, 0.5000001, 0.4999999, 0.1], np.float32)
    exact = np.array([0.5, 0.5, 0.6, 0.9])
    rows, scores = select_top(rough.copy(), 2, (), 1e-5, lambda rows: exact[rows])
    assert rows.tolist() == [2, 0]
    assert scores.tolist() == [0.6, 0.5]
    rows, _ = select_top(rough.copy(), 2, [2, 99], 1e-5, lambda rows: exact[rows])
    assert rows.tolist() == [0, 1]
    assert select_top(rough.copy(), 3, range(4), 1e-5, lambda rows: exact[rows])[0].tolist() == []


def test_product_error_bounds_float32_rounding():
    rng = np.random.default_rng(0)
    units = rng.standard_normal((5000, 300))
    units = (units / np.linalg.norm(units, axis=1, keepdims=True)).astype(np.float32)
    error = np.abs(units @ units[0] - units.astype(np.float64) @ units[0].astype(np.float64)).max()
    assert 0 < 2 * error < product_error(units) < 1e-4
