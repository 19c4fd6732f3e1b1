"""Product quantisation: nearest centroids, exact for few rows, and a small error for many."""

import numpy as np
import pytest

from embeddings.errors import SettingError
from embeddings.vectors.product_quantisation import decode, encode_numbers, quantise

RNG = np.random.default_rng(0)
MATRIX = (RNG.standard_normal((2000, 5)) * RNG.pareto(2, (2000, 1))).astype(np.float32)


def error(matrix, **settings):
    return np.square(decode(quantise(matrix, **settings)).table - matrix).sum()


@pytest.mark.parametrize("part_size", [2, 5, *(pytest.param(size, marks=pytest.mark.slow) for size in (1, 3))])
@pytest.mark.parametrize("has_norms", [False, True])
def test_codes_name_the_nearest_centroids(part_size, has_norms):
    rows = quantise(MATRIX, part_size, has_norms=has_norms)
    parts = -(-5 // part_size)
    assert rows.table.shape == (2000, parts)
    assert len(rows.norm_codes) == (2000 if has_norms else 0)
    values = MATRIX / np.linalg.norm(MATRIX, axis=1, keepdims=True) if has_norms else MATRIX
    start = 0
    for part in range(parts):
        width = min(part_size, 5 - start)
        centroids = rows.centroids[256 * start : 256 * (start + width)].reshape(256, width)
        distances = np.linalg.norm(values[:, None, start : start + width] - centroids, axis=2)
        chosen = distances[np.arange(2000), rows.table[:, part]]
        np.testing.assert_allclose(chosen, distances.min(axis=1), atol=1e-5)
        start += width


def test_smaller_parts_and_norms_reduce_the_error():
    errors = [error(MATRIX, part_size=size) for size in (1, 2, 3)]
    assert errors == sorted(errors)
    assert errors[1] < 0.1 * np.square(MATRIX).sum()
    assert error(MATRIX, part_size=2, has_norms=True) < 0.5 * errors[1]


@pytest.mark.parametrize("rows", [0, 1, 3, 256])
def test_few_rows_are_kept_exactly(rows):
    np.testing.assert_array_equal(decode(quantise(MATRIX[:rows], 2)).table, MATRIX[:rows])
    np.testing.assert_allclose(
        decode(quantise(MATRIX[:rows], 2, has_norms=True)).table, MATRIX[:rows], rtol=0.05, atol=0.05
    )


def test_rows_of_zeros_and_equal_rows():
    matrix = np.repeat(MATRIX[:2], 300, axis=0)
    matrix[:300] = 0
    for has_norms in (False, True):
        np.testing.assert_allclose(decode(quantise(matrix, 2, has_norms=has_norms)).table, matrix, atol=1e-5)


def test_the_seed_decides():
    first, again, other = (quantise(MATRIX[:600], 2, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.centroids, again.centroids)
    assert np.array_equal(first.table, again.table)
    assert not np.array_equal(first.centroids, other.centroids)


def test_numbers_with_a_heavy_tail_keep_a_small_error():
    numbers = np.concatenate([RNG.normal(0.2, 0.02, 100_000), RNG.pareto(1, 200) + 1]).astype(np.float32)
    codes, centroids = encode_numbers(numbers)
    distances = np.abs(numbers - centroids[codes])
    assert distances[:100_000].mean() < 1e-3
    assert (distances / numbers).max() < 0.2
    assert np.array_equal(codes, np.abs(numbers[:, None] - centroids).argmin(axis=1))


def test_what_cannot_be_quantised():
    for matrix, settings, message in (
        (MATRIX, {"part_size": 0}, "part"),
        (MATRIX, {"part_size": 6}, "part"),
        (np.full((3, 5), np.nan, np.float32), {}, "NaN"),
        (np.full((3, 5), 3e38, np.float32), {"has_norms": True}, "too large"),
    ):
        with pytest.raises(SettingError, match=message):
            quantise(matrix, **settings)
