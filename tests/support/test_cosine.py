"""Near ties in float32 are decided in float64, then by row number."""

import warnings

import numpy as np

from embeddings.support.cosine import normalize, product_error, row_blocks, select_top


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


def test_blocks_cover_everything_once():
    parts = list(row_blocks(1000, 300, itemsize=1 << 12))
    assert [row for part in parts for row in range(1000)[part]] == list(range(1000))
    assert len(parts) > 1
    assert list(row_blocks(0, 5)) == []
    assert all(part.stop - part.start == 1 for part in row_blocks(3, 1 << 40))


def test_a_signalling_nan_is_no_warning():
    rows = np.array([[0x7FA00000, 0x3F800000]], np.uint32).view(np.float32)  # numpy reports its conversion
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(normalize(rows)).all()
