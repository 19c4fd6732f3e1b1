"""Rated pairs of texts."""

import random

import numpy as np
import pytest
from text_sets import by_measure, text, write_csv

import embeddings as em
from embeddings.errors import CorpusError

SIDES = ("left", "right")


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


@pytest.mark.parametrize("sides", ["map", "tables"])
def test_rated_pairs_are_left_and_right_texts_of_a_model_with_two_sides(sides, tmp_path):
    from scipy.stats import spearmanr

    rows = [(f"w{n} w{n + 1}", f"w{n + n % 3} x", n % 3) for n in range(30)]
    path = write_csv(tmp_path / "rated.csv", ("a", "b", "score"), rows)
    model = em.DualEncoder(dim=8, epochs=3, sides=sides).train(em.corpora.TextPairs(path), threads=1)
    left, right = (em.embed(model, [row[k] for row in rows], side=side, normalize=True) for k, side in enumerate(SIDES))
    expected = spearmanr((left * right).sum(axis=1), [row[2] for row in rows]).statistic
    results = by_measure(em.evaluate(model, pairs=path))
    assert results["spearman", None].value == pytest.approx(expected, abs=1e-6)
    assert results["word coverage", None].total == 4 * len(rows)
    assert em.evaluate(model.sides[0], pairs=path)[0].value != results["spearman", None].value


def test_predicted_ratings_are_scored(tmp_path):
    from scipy.stats import spearmanr

    rows = [(f"w{n} w{n + 1}", f"w{n + n % 3} x", n % 3) for n in range(30)]
    path = write_csv(tmp_path / "rated.csv", ("a", "b", "score"), rows)
    model = em.train(
        "text-pairs",
        em.corpora.TextPairs(path),
        objective="rating-distribution",
        dim=8,
        epochs=2,
        min_count=1,
        threads=1,
    )
    results = by_measure(em.evaluate(model, pairs=path))
    ratings = em.training.RatingPredictor(model).predict([row[0] for row in rows], [row[1] for row in rows])
    expected = spearmanr(ratings, [row[2] for row in rows]).statistic
    assert results["spearman", "predicted ratings"].value == pytest.approx(expected, abs=1e-9)
    assert results["spearman", None].value != results["spearman", "predicted ratings"].value


@pytest.mark.parametrize(
    ("rows", "facts"),
    [
        ([("a", "b", 1), ("c", "d", 1)], ["ratings", "vary"]),
        ([("a", "b", 1), ("c", "d", "x")], ["row 2", "number"]),
        ([("a", "b", 1)] * 3, ["same"]),
        ([("", "b", 1), ("c", " ", 2)], ["all 2", "empty side"]),
        ([], ["no pairs"]),
    ],
)
def test_unusable_ratings_are_refused(vectors, tmp_path, rows, facts):
    path = write_csv(tmp_path / "rated.csv", ("a", "b", "score"), rows)
    with pytest.raises(CorpusError) as error:
        em.evaluate(vectors, pairs=path)
    assert all(fact in str(error.value) for fact in facts), str(error.value)


def test_pairs_require_ratings(vectors, tmp_path):
    path = write_csv(tmp_path / "p.csv", ("a", "b", "value"), [("w1", "w2", 1), ("w3", "w4", 2)])
    with pytest.raises(CorpusError, match="rating_column"):
        em.evaluate(vectors, pairs=path)
    results = em.evaluate(vectors, pairs=path, left_column="a", right_column="b", rating_column="value")
    assert results[0].total == 2
