"""Purity against its definition, cases without a value, and readers of categories."""

from collections import Counter

import numpy as np
import pytest

from embeddings.eval import evaluate
from embeddings.eval.tasks.word_categories import kmeans, read_word_categories
from embeddings.support.cosine import normalize
from embeddings.vectors.vectors import Vectors


@pytest.fixture
def animals(tmp_path):
    path = tmp_path / "animals"
    path.write_text("".join(f"{kind}{i}\t{kind}\n" for kind in ("cat", "dog", "bird") for i in range(10)) + "x\tcat\n")
    return path


def made(noise):
    rng = np.random.default_rng(0)
    words = [f"{kind}{i}" for kind in ("cat", "dog", "bird") for i in range(10)]
    centres = np.repeat(np.eye(3), 10, axis=0)
    return Vectors(words, centres + noise * rng.standard_normal((30, 3)))


def test_separate_clusters_are_pure(animals):
    results = [result for result in evaluate(made(0.1), categories=animals) if result.measure == "purity"]
    assert [(result.section, result.value, result.covered, result.total) for result in results] == [
        ("bird", 1, 10, 10), ("cat", 1, 10, 11), ("dog", 1, 10, 10), (None, 1, 30, 31),
    ]  # fmt: skip
    assert {result.measure for result in results} == {"purity"}
    assert [result.is_detail for result in results] == [True, True, True, False]


def test_purity_equals_its_definition(animals):
    vectors = made(1.0)
    result = evaluate(vectors, categories=animals)[-1]
    cluster = kmeans(normalize(vectors.matrix), 3)
    kinds = [word.rstrip("0123456789") for word in vectors.words]
    members = [Counter(kind for kind, place in zip(kinds, cluster, strict=True) if place == one) for one in range(3)]
    assert result.value == pytest.approx(sum(max(found.values()) for found in members) / 30)
    assert 0.4 < result.value < 0.9


@pytest.mark.parametrize("words", [["cat1"], ["cat1", "cat2"], ["none"]])
def test_no_value_has_a_reason(animals, words):
    result = evaluate(Vectors(words, np.ones((len(words), 2))), categories=animals)[-1]
    assert (result.value, result.reason) == (None, "fewer than two categories have words with vectors")


def test_equal_vectors_are_one_cluster(animals):
    words = made(0).words
    assert evaluate(Vectors(words, np.ones((30, 2))), categories=animals)[-1].value == pytest.approx(1 / 3)
    assert evaluate(Vectors(words, np.zeros((30, 2))), categories=animals)[-1].value is None  # zeros are no vectors


def test_google_categories():
    found = read_word_categories("google-categories")
    assert len(found.words) == len(set(found.words)) == 452
    assert set(found.categories) == {"capital", "city", "country", "currency", "family", "nationality", "state"}
    of = dict(zip(found.words, found.categories, strict=True))
    assert (of["Athens"], of["Greece"], of["Dallas"], of["Texas"]) == ("capital", "country", "city", "state")
    assert (of["euro"] if "euro" in of else of["dollar"], of["son"]) == ("currency", "family")
    assert "Georgia" not in of


def test_layouts(tmp_path):
    for text in ("a\tx\nb\ty\na\tx\n", "# c\na,x\nb, y\n", "a x\nb y\n"):
        (tmp_path / "f").write_text(text)
        found = read_word_categories(tmp_path / "f")
        assert (found.words, found.categories) == (["a", "b"], ["x", "y"])
