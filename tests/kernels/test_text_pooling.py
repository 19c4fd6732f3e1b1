"""Sums of rows: twins in numpy, for every width of vectors, and tables with more columns."""

import numpy as np
import pytest

from embeddings.kernels.text_pooling import TokenRows, select_rows
from embeddings.vectors.pooling import RowTexts, pool_rows


def make_texts(rows, count=20):
    rng = np.random.default_rng(1)
    starts = np.append(0, np.cumsum(rng.integers(0, 7, count)))
    return RowTexts(rng.integers(0, rows, starts[-1]), starts)


@pytest.mark.parametrize("dim", [1, 3, 16, 21, 64, 71, 130])
def test_twins(dim):
    rng = np.random.default_rng(dim)
    tables = [rng.standard_normal((9, dim + 5)).astype("f4"), rng.standard_normal((4, dim + 5)).astype("f4")]
    weights = [rng.random(9), rng.random(4)]
    texts, all_rows, all_weights = make_texts(13), np.concatenate(tables), np.concatenate(weights)
    parts = np.split(texts.ids, texts.starts[1:-1])
    for used, each in ((None, np.ones(13)), (weights, all_weights)):
        sums = np.array([each[ids] @ all_rows[ids, :dim].astype(float) for ids in parts])
        np.testing.assert_allclose(pool_rows(tables, texts, "sum", used, dim), sums, atol=1e-5)
        means = sums / np.maximum(texts.counts, 1)[:, None]
        np.testing.assert_allclose(pool_rows(tables, texts, "mean", used, dim), means, atol=1e-5)
        totals = np.array([each[ids].sum() or 1 for ids in parts])
        np.testing.assert_allclose(pool_rows(tables, texts, "idf", used, dim), sums / totals[:, None], atol=1e-5)


def test_unknown_words_are_left_out_and_forms_counted():
    raw, starts = np.array([0, 1, 2, 1, 3], np.int32), np.array([0, 2, 2, 5])
    places, rows = np.array([0, 1, 1, 3, 5]), np.array([7, -1, 8, 9, 9])
    ids, new_starts, n_words, forms = (np.zeros(size, np.int64) for size in (5, 4, 3, 3))
    tokens = TokenRows(places, rows, np.array([0, 0, 2, 1, 2], np.int8))
    select_rows(raw, starts, tokens, ids, new_starts, n_words, forms)
    assert (new_starts.tolist(), ids[:4].tolist()) == ([0, 1, 1, 4], [7, 8, 9, 9])
    assert (n_words.tolist(), forms.tolist()) == ([1, 0, 4], [1, 1, 2])
