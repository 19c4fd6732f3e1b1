"""The heap of the best rows."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.indexes.result_heap import rank_exactly


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=0, max_size=60), st.integers(1, 70))
def test_ranking_is_sorting(values, top):
    ids, similarities = np.empty(top, np.int64), np.empty(top)
    rows = np.random.default_rng(1).permutation(len(values)).astype(np.int32)
    units = np.array(values, np.float32)[:, None] / 6
    rank_exactly(units, np.ones(1), rows, ids, similarities)
    order = sorted(range(len(values)), key=lambda row: (-values[row], row))[:top]
    n_missing = top - len(order)
    assert ids.tolist() == order + [-1] * n_missing
    assert similarities.tolist() == [float(units[row, 0]) for row in order] + [-np.inf] * n_missing
