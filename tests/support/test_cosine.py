"""Unit rows, and blocks of rows."""

import warnings

import numpy as np

from embeddings.support.cosine import normalize, row_blocks


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
