"""Exponentials of scores, compared with numpy."""

import numpy as np
import pytest

from embeddings.compilation.jit import entry_point
from embeddings.kernels.softmax import exponentiate


@entry_point
def exponentiate_row(row, peak):
    return exponentiate(row, peak)


# Without fused multiply-add, taking multiples of log 2 from -23 rounds by up to 23 * 2^-24: the relative error.
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1.5e-6), (np.float64, 1e-14)])
def test_exponentials_are_as_exact_as_their_type(dtype, tolerance):
    row = np.linspace(-20, 3, 500).astype(dtype)
    expected = np.exp(row - dtype(3))
    assert exponentiate_row(row, dtype(3)) == pytest.approx(expected.sum(dtype=np.float64), rel=500 * tolerance)
    np.testing.assert_allclose(row, expected, rtol=tolerance)
