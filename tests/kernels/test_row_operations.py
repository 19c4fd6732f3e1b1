"""Row operations against their naive twins, for every remainder that the vector code treats separately."""

import naive
import numpy as np
import pytest
from kernel_helpers import (
    ROW_TOLERANCE,
    addresses,
    copy_rows,
    rows,
    scatter_add_list,
    scatter_add_rows,
    score_matrix,
    score_rows,
    sum_into,
    sum_list_into,
    update_rows,
)

from embeddings.kernels.row_operations import PADDING, SCORE_TILE, SINGLE_TILE, UPDATE_TILE, padded, row_stride

DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])
INPUTS, OUTPUTS = range(13), range(1, 41)
SHAPES = [(m, n, 1 + (37 * m + 11 * n) % 130) for m in INPUTS for n in OUTPUTS]


@DTYPES
def test_score(dtype):
    rng = np.random.default_rng(1)
    for m, n, dim in SHAPES:
        x, o = rows(rng, m, dim, dtype, among=5), rows(rng, n, dim, dtype, among=7)
        scores = np.full(m * row_stride(n) + PADDING, 7, dtype)
        score_rows(scores, x.at, m, o.at, n, x.width)
        matrix = scores[: m * row_stride(n)].reshape(m, row_stride(n))
        np.testing.assert_allclose(matrix[:, :n], naive.score(x.views, o.views), rtol=0, atol=ROW_TOLERANCE[dtype])
        assert (scores[m * row_stride(n) :] == 7).all(), "written beyond the matrix"


@DTYPES
def test_update(dtype):
    """Repeated inputs are read and updated in turn; within one tile, targets may repeat too."""
    rng = np.random.default_rng(2)
    for m, n, dim in SHAPES:
        if n > (SINGLE_TILE if m == 1 else UPDATE_TILE):
            continue
        x, o = rows(rng, m, dim, dtype, among=5), rows(rng, n, dim, dtype, among=7)
        steps = rng.normal(size=(m, n)) * 0.1
        update_rows(score_matrix(steps, dtype), x.at, x.at, m, o.at, n, x.width)
        naive.update(steps, x.views, x.views, o.views)
        x.check(ROW_TOLERANCE[dtype])
        o.check(ROW_TOLERANCE[dtype])


@DTYPES
def test_update_of_several_tiles_with_separate_gradient_rows(dtype):
    """With gradient rows other than the inputs, tiles do not affect each other."""
    rng = np.random.default_rng(3)
    for m, n, dim in SHAPES:
        x, gradients, o = (rows(rng, count, dim, dtype) for count in (m, m, n))
        steps, before = rng.normal(size=(m, n)) * 0.1, x.table.copy()
        update_rows(score_matrix(steps, dtype), x.at, gradients.at, m, o.at, n, x.width)
        naive.update(steps, x.views, gradients.views, o.views)
        gradients.check(ROW_TOLERANCE[dtype])
        o.check(ROW_TOLERANCE[dtype])
        np.testing.assert_array_equal(x.table, before)


@DTYPES
@pytest.mark.parametrize("functions", [(sum_into, scatter_add_rows), (sum_list_into, scatter_add_list)])
def test_sum_rows_and_scatter_add(dtype, functions):
    sum_rows, scatter_add = functions
    rng = np.random.default_rng(4)
    for m in INPUTS:
        for dim in range(1, 131, 3):
            output, x = rows(rng, 1, dim, dtype), rows(rng, m, dim, dtype, among=4)
            factor = np.array([rng.normal()], dtype)
            sum_rows(factor, output.at, x.at, m, x.width)
            naive.sum_rows(float(factor[0]), output.views[0], x.views)
            output.check(ROW_TOLERANCE[dtype])
            scatter_add(factor, output.at, x.at, m, x.width)
            naive.scatter_add(float(factor[0]), output.views[0], x.views)
            x.check(ROW_TOLERANCE[dtype])


@DTYPES
def test_copy_row_changes_one_row_only(dtype):
    rng = np.random.default_rng(5)
    for dim in range(1, 131):
        x = rows(rng, 3, dim, dtype)
        copy_rows(np.zeros(0, dtype), x.at[1:2], x.at[2:], x.width)
        x.twin[1] = x.twin[2]
        x.check(0)


def test_address():
    table = np.zeros((9, 48), np.float32)[::2, 16:]
    expected = [table[i].ctypes.data for i in (3, 0, 4)]
    assert addresses(table, [3, 0, 4]).tolist() == expected


def test_rows_may_start_anywhere_in_memory():
    rng = np.random.default_rng(6)
    raw = rng.normal(size=1 + 4 * 32).astype(np.float32)
    table = raw[1:].reshape(4, 32)
    assert table.ctypes.data % 16
    at, scores = addresses(table, range(4)), np.zeros(4 * row_stride(4) + PADDING, np.float32)
    score_rows(scores, at, 4, at, 4, 32)
    matrix = scores[: 4 * row_stride(4)].reshape(4, -1)[:, :4]
    np.testing.assert_allclose(matrix, table @ table.T, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("dim", "width"), [(1, 16), (16, 16), (17, 32), (100, 112), (128, 128)])
def test_padded(dim, width):
    assert padded(dim) == width


def test_shapes_cover_every_remainder():
    assert max(OUTPUTS) > 2 * UPDATE_TILE
    assert max(OUTPUTS) > 2 * SCORE_TILE
    assert {n % SCORE_TILE for n in OUTPUTS} == set(range(SCORE_TILE))
    assert {m % 2 for m in INPUTS} == {0, 1}
    assert len({padded(dim) for _, _, dim in SHAPES}) == 9
