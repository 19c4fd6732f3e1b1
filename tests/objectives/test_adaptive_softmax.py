"""Default cutoffs of adaptive softmax, and the cost that they minimise."""

import numpy as np
import pytest

from embeddings.objectives.adaptive_softmax import best_cutoffs, expected_cost


def test_default_cutoffs():
    """The head has about 4 sqrt(n) words, and as many tails as there may be; no other tails cost less."""
    counts = (1e6 / np.arange(1, 30_001)).astype(np.int64)
    shares = np.append(0, np.cumsum(counts) / counts.sum())
    first, *others = cutoffs = best_cutoffs(counts, 100)
    assert first == 693
    assert len(others) == 4
    for rest in ([], [10_000], [5000, 20_000], [1000, 3000, 10_000], [others[0]], others[1:]):
        assert expected_cost(cutoffs, shares, 100) <= expected_cost((first, *rest), shares, 100)
    assert best_cutoffs(np.array([5]), 100) == best_cutoffs(np.array([5, 4]), 100) == ()


def test_the_expected_cost_is_the_sum_over_head_and_tails():
    shares = np.append(0, np.cumsum([8, 4, 2, 1, 1])) / 16
    head = (300 + 10) * (2 + 2)  # two words and two tails; 10 is what a row costs besides its products
    first = (300 + 10) * 80 + (80 + 10) * 2  # the projection to 80 dimensions and two words
    second = (300 + 10) * 32 + (32 + 10) * 1
    assert expected_cost((2, 4), shares, 300) == pytest.approx(head + first * 3 / 16 + second * 1 / 16)
