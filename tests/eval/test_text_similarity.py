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
    for settings in ({}, {"pool": "sif", "remove_components": 1}, {"pool": "power-mean"}, {"dim": 4}):
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


def test_recall_among_random_candidates(vectors, tmp_path):
    """1 in 2 and 1 in 10; chance for unrelated texts, 1 for pairs of equal texts, never an answer of the same text."""
    rng = random.Random(5)
    texts = [" ".join(rng.sample([f"w{n}" for n in range(60)], 4)) for _ in range(400)]
    noise, same = ([(one, other) for one, other in zip(texts, others, strict=True)] for others in (texts[::-1], texts))
    paths = [write_csv(tmp_path / name, ("a", "b"), rows) for name, rows in (("noise.csv", noise), ("same.csv", same))]
    settings = {"pairs": paths, "candidates": ["2", 10]}
    results = em.evaluate(vectors, **settings)
    values = {(result.set, result.method, result.measure): result.value for result in results}
    for method, measure, chance in (("1 in 2", "recall@1", 0.5), ("1 in 10", "recall@1", 0.1),
                                    ("1 in 10", "recall@2", 0.2), ("1 in 10", "recall@5", 0.5)):  # fmt: skip
        assert values["noise", method, measure] == pytest.approx(chance, abs=0.08)
        assert values["same", method, measure] == 1
    assert ("noise", "1 in 2", "recall@2") not in values
    assert [one.value for one in em.evaluate(vectors, **settings)] == [one.value for one in results]
    answers = [("w1 w2", "w1 w2"), ("w1 w2", "w1 w2 w2"), ("w30 w31", "w30 w31"), ("nobody", "w9")]
    path = write_csv(tmp_path / "several.csv", ("a", "b"), answers * 5)
    result = em.evaluate(vectors, pairs=path, candidates="2")[0]
    assert (result.value, result.covered, result.total) == (0.75, 15, 20)
    equal = em.Vectors(["w1", "w30", "w9"], np.ones((3, 2)))  # a tie goes to the wrong candidate
    path = write_csv(tmp_path / "ties.csv", ("a", "b"), [(word, word) for word in equal.words])
    assert em.evaluate(equal, pairs=path, candidates=2)[0].value == 0


def test_pairs_require_ratings(vectors, tmp_path):
    path = write_csv(tmp_path / "p.csv", ("a", "b", "value"), [("w1", "w2", 1), ("w3", "w4", 2)])
    with pytest.raises(CorpusError, match="rating_column"):
        em.evaluate(vectors, pairs=path)
    results = em.evaluate(vectors, pairs=path, left_column="a", right_column="b", rating_column="value")
    assert results[0].total == 2
