"""The arithmetic on rows against its slow twin, over every remainder that the vector code has a case for."""

import naive
import numpy as np
import pytest
from compiled import (
    TOLERANCE,
    addresses,
    copy_rows,
    learn_bundle,
    rows,
    score_rows,
    share_rows,
    total_rows,
    update_rows,
)

from embeddings.kernels.row_operations import COLUMNS, PADDING, TARGETS, padded, row_stride
from embeddings.kernels.step_buffers import UNTIL_SAMPLE, new_step_buffers

DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])
INPUTS, OUTPUTS = range(13), range(1, 41)
SHAPES = [(m, n, 1 + (37 * m + 11 * n) % 130) for m in INPUTS for n in OUTPUTS]


def matrix(values, dtype):
    """A matrix as the kernels lay it out."""
    m, n = values.shape
    flat = np.zeros(m * row_stride(n) + PADDING, dtype)
    flat[: m * row_stride(n)].reshape(m, row_stride(n))[:, :n] = values
    return flat


@DTYPES
def test_score(dtype):
    rng = np.random.default_rng(1)
    for m, n, dim in SHAPES:
        x, o = rows(rng, m, dim, dtype, among=5), rows(rng, n, dim, dtype, among=7)
        scores = np.full(m * row_stride(n) + PADDING, 7, dtype)
        score_rows(scores, x.at, m, o.at, n, x.width)
        found = scores[: m * row_stride(n)].reshape(m, row_stride(n))
        np.testing.assert_allclose(found[:, :n], naive.score(x.views, o.views), rtol=0, atol=TOLERANCE[dtype])
        assert (scores[m * row_stride(n) :] == 7).all(), "written beyond the matrix"


@DTYPES
def test_update(dtype):
    """Inputs that repeat are read and moved in turn; in one pass of targets, a target may repeat too."""
    rng = np.random.default_rng(2)
    for m, n, dim in SHAPES:
        if n > TARGETS:
            continue
        x, o = rows(rng, m, dim, dtype, among=5), rows(rng, n, dim, dtype, among=7)
        steps = rng.normal(size=(m, n)) * 0.1
        update_rows(matrix(steps, dtype), x.at, x.at, m, o.at, n, x.width)
        naive.update(steps, x.views, x.views, o.views)
        x.check(TOLERANCE[dtype])
        o.check(TOLERANCE[dtype])


@DTYPES
def test_update_in_passes_moves_other_rows_than_it_reads(dtype):
    """Beyond `TARGETS`, with other rows to move than to read, one pass of the twin does the same."""
    rng = np.random.default_rng(3)
    for m, n, dim in SHAPES:
        x, goal, o = (rows(rng, count, dim, dtype) for count in (m, m, n))
        steps, before = rng.normal(size=(m, n)) * 0.1, x.table.copy()
        update_rows(matrix(steps, dtype), x.at, goal.at, m, o.at, n, x.width)
        naive.update(steps, x.views, goal.views, o.views)
        goal.check(TOLERANCE[dtype])
        o.check(TOLERANCE[dtype])
        np.testing.assert_array_equal(x.table, before)


@DTYPES
def test_total_and_share(dtype):
    rng = np.random.default_rng(4)
    for m in INPUTS:
        for dim in range(1, 131, 3):
            goal, x = rows(rng, 1, dim, dtype), rows(rng, m, dim, dtype, among=4)
            factor = np.array([rng.normal()], dtype)
            total_rows(factor, goal.at, x.at, m, x.width)
            naive.total(float(factor[0]), goal.views[0], x.views)
            goal.check(TOLERANCE[dtype])
            share_rows(factor, goal.at, x.at, m, x.width)
            naive.share(float(factor[0]), goal.views[0], x.views)
            x.check(TOLERANCE[dtype])


@DTYPES
def test_copy_changes_one_row_only(dtype):
    rng = np.random.default_rng(5)
    for dim in range(1, 131):
        x = rows(rng, 3, dim, dtype)
        copy_rows(np.zeros(0, dtype), x.at[1:2], x.at[2:], x.width)
        x.twin[1] = x.twin[2]
        x.check(0)


def test_addresses_are_those_of_the_rows():
    table = np.zeros((9, 48), np.float32)[::2, 16:]
    expected = [table[i].ctypes.data for i in (3, 0, 4)]
    assert addresses(table, [3, 0, 4]).tolist() == expected


def test_rows_need_not_begin_at_a_cache_line():
    rng = np.random.default_rng(6)
    raw = rng.normal(size=1 + 4 * 32).astype(np.float32)
    table = raw[1:].reshape(4, 32)
    assert table.ctypes.data % 16
    at, scores = addresses(table, range(4)), np.zeros(4 * row_stride(4) + PADDING, np.float32)
    score_rows(scores, at, 4, at, 4, 32)
    found = scores[: 4 * row_stride(4)].reshape(4, -1)[:, :4]
    np.testing.assert_allclose(found, table @ table.T, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("dim", "width"), [(1, 16), (16, 16), (17, 32), (100, 112), (128, 128)])
def test_padded(dim, width):
    assert padded(dim) == width


@DTYPES
def test_learn(dtype):
    """A whole step with repeated inputs and targets, several positives, weights, and any number of passes."""
    rng, tolerance = np.random.default_rng(7), 3 * TOLERANCE[dtype]
    for m, n, dim in SHAPES:
        positives, weights = min(n, 1 + (m + n) % 3), rng.choice([1, 1, 0, 2.5], n)
        x, o = rows(rng, m, dim, dtype, among=5, scale=0.2), rows(rng, n, dim, dtype, among=7, scale=0.2)
        buffers = new_step_buffers(max(m, 1), n, x.width, dtype=dtype)
        buffers.inputs[:m] = buffers.input_gradient_rows[:m] = x.at
        buffers.targets[:], buffers.weights[:], buffers.tally[UNTIL_SAMPLE] = o.at, weights, -1e9
        learn_bundle(buffers, m, positives, n, x.width, 0.05)
        lost = naive.learn(x.views, x.views, o.views, positives, weights, 0.05, at_once=TARGETS)
        x.check(tolerance)
        o.check(tolerance)
        assert buffers.tally[:2].tolist() == pytest.approx([lost, m * positives], rel=1e-4, abs=1e-9)


def test_grid_reaches_every_case():
    assert max(OUTPUTS) > 2 * TARGETS
    assert max(OUTPUTS) > 2 * COLUMNS
    assert {n % COLUMNS for n in OUTPUTS} == set(range(COLUMNS))
    assert {m % 2 for m in INPUTS} == {0, 1}
    assert len({padded(dim) for _, _, dim in SHAPES}) == 9
