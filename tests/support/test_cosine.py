"""Unit rows, and blocks of rows."""

import warnings

import numpy as np
import pytest

from embeddings.support.cosine import cosine, normalize, row_blocks


def test_blocks_cover_everything_once():
    parts = list(row_blocks(1000, 300, itemsize=1 << 12))
    assert [row for part in parts for row in range(1000)[part]] == list(range(1000))
    assert len(parts) > 1
    assert list(row_blocks(0, 5)) == []
    assert all(part.stop - part.start == 1 for part in row_blocks(3, 1 << 40))


def test_a_signalling_nan_is_no_warning():
    rows = np.array([[0x7FA00000, 0x3F800000]], np.uint32).view(np.float32)  # numpy reports its conversion
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(normalize(rows)).all()


def test_the_cosine_of_two_vectors_of_any_size():
    a, b = np.random.default_rng(3).standard_normal((2, 50)).astype(np.float32)
    expected = float(normalize(a) @ normalize(b))
    for scale in (1.0, 1e-30, 1e30):
        assert cosine(a * np.float32(scale), b * np.float32(scale)) == pytest.approx(expected, abs=1e-6)
    assert cosine(a, a) == 1.0
    assert cosine(a, -a) == -1.0
    assert cosine(a, np.zeros(50)) == 0.0
