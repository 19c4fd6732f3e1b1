"""Rated pairs of texts."""

import random

import numpy as np
import pytest
from text_sets import by_measure, text, write_csv

import embeddings as em
from embeddings.errors import CorpusError


def test_rated_pairs_equal_scipy(vectors, tmp_path):
    from scipy.stats import pearsonr, spearmanr

    rng = random.Random(3)
    rows = [(text(rng, rng.randrange(3)), text(rng, rng.randrange(3)), rng.randrange(6)) for _ in range(80)]
    path = write_csv(tmp_path / "rated.csv", ("sentence1", "sentence2", "score"), rows)
    for settings in ({}, {"pool": "sif", "remove_components": 1}, {"pool": "idf"}, {"dim": 4}):
        results = by_measure(em.evaluate(vectors, pairs=path, **settings))
        texts = [row[side] for side in (0, 1) for row in rows]
        left, right = em.embed(vectors, texts, **settings).astype(float).reshape(2, len(rows), -1)
        keep = left.any(axis=1) & right.any(axis=1)
        cosines = [a @ b / np.sqrt((a @ a) * (b @ b)) for a, b in zip(left[keep], right[keep], strict=True)]
        ratings = [row[2] for row, is_kept in zip(rows, keep, strict=True) if is_kept]
        for measure, reference in (("spearman", spearmanr), ("pearson", pearsonr)):
            result = results[measure, None]
            assert result.value == pytest.approx(reference(cosines, ratings).statistic, abs=1e-6)
            assert result.low < result.value < result.high
            assert (result.set, result.covered, result.total) == ("rated", keep.sum(), 80)
        assert 0 < results["word coverage", None].value < 1


def test_pairs_require_ratings(vectors, tmp_path):
    path = write_csv(tmp_path / "p.csv", ("a", "b", "value"), [("w1", "w2", 1), ("w3", "w4", 2)])
    with pytest.raises(CorpusError, match="rating_column"):
        em.evaluate(vectors, pairs=path)
    results = em.evaluate(vectors, pairs=path, left_column="a", right_column="b", rating_column="value")
    assert results[0].total == 2
