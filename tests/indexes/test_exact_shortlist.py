"""Short lists of the highest scores."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.indexes.exact import shortlist


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 400), st.integers(1, 30), st.integers(0, 2**32), st.integers(1, 9))
def test_shortlists_hold_the_highest(n, top, seed, values):
    top = min(n, top)
    scores = np.random.default_rng(seed).integers(0, values, (3, n)).astype(np.float32) / values
    margin = 0.3 / values
    counts, columns = shortlist(scores, top, margin)
    lists = np.split(columns, np.cumsum(counts)[:-1])
    for row, listed in zip(scores, lists, strict=True):
        assert set(np.flatnonzero(row >= np.sort(row)[-top] - margin)) <= set(listed)
        assert (np.diff(listed) > 0).all()
