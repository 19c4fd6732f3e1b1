"""What float32 cannot tell apart is decided in float64, then by place."""

import numpy as np

from embeddings.support.cosine import select_top, product_error, row_blocks


def test_near_ties_are_decided_by_exact_scores():
    rough = np.array([0.5, 0.5000001, 0.4999999, 0.1], np.float32)
    exact = np.array([0.5, 0.5, 0.6, 0.9])
    found, scores = select_top(rough.copy(), 2, (), 1e-5, lambda rows: exact[rows])
    assert found.tolist() == [2, 0]
    assert scores.tolist() == [0.6, 0.5]
    found, _ = select_top(rough.copy(), 2, [2, 99], 1e-5, lambda rows: exact[rows])
    assert found.tolist() == [0, 1]
    assert select_top(rough.copy(), 3, range(4), 1e-5, lambda rows: exact[rows])[0].tolist() == []


def test_rounding_bounds_what_float32_products_lose():
    rng = np.random.default_rng(0)
    units = rng.standard_normal((5000, 300))
    units = (units / np.linalg.norm(units, axis=1, keepdims=True)).astype(np.float32)
    lost = np.abs(units @ units[0] - units.astype(np.float64) @ units[0].astype(np.float64)).max()
    assert 0 < 2 * lost < product_error(units) < 1e-4


def test_blocks_cover_everything_once():
    parts = list(row_blocks(1000, 300, itemsize=1 << 12))
    assert [row for part in parts for row in range(1000)[part]] == list(range(1000))
    assert len(parts) > 1
    assert list(row_blocks(0, 5)) == []
    assert all(part.stop - part.start == 1 for part in row_blocks(3, 1 << 40))
