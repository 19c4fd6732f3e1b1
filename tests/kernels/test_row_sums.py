"""Sums of rows of any width, compared with numpy."""

import numpy as np
import pytest

from embeddings.compilation.jit import entry_point
from embeddings.kernels.matrix_rows import DenseRows
from embeddings.kernels.row_sums import add_rows


@entry_point
def add_selected(matrix, rows, start, stop, total):
    add_rows(matrix, rows, start, stop, total)


@pytest.mark.parametrize("first_width", [1, 70])
def test_rows_of_any_width_are_added(first_width):
    rng = np.random.default_rng(0)
    for width in range(first_width, first_width + 70):
        table, rows = rng.standard_normal((9, width), np.float32), rng.integers(0, 9, 20)
        total = np.full(width + 2, 7, np.float32)
        add_selected(DenseRows(table), rows, 3, 17, total[1:-1])
        np.testing.assert_allclose(total[1:-1], 7 + table[rows[3:17]].sum(axis=0), rtol=1e-5, atol=1e-5)
        assert total[0] == total[-1] == 7
        add_selected(DenseRows(table), rows, 5, 5, total[1:-1])
