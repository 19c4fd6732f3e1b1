"""Default cutoffs of adaptive softmax."""

import numpy as np

from embeddings.objectives.adaptive_softmax import best_cutoffs, expected_cost


def test_default_cutoffs():
    """The head has about 4 sqrt(n) words; no other tails cost less."""
    counts = (1e6 / np.arange(1, 30_001)).astype(np.int64)
    shares = np.append(0, np.cumsum(counts) / counts.sum())
    first, *others = cutoffs = best_cutoffs(counts, 100)
    assert first == 693
    assert 1 <= len(others) <= 4
    for rest in ([], [10_000], [5000, 20_000], [1000, 3000, 10_000], [others[0]], others[1:]):
        assert expected_cost(cutoffs, shares, 100) <= expected_cost((first, *rest), shares, 100)
    assert best_cutoffs(np.array([5]), 100) == best_cutoffs(np.array([5, 4]), 100) == ()
