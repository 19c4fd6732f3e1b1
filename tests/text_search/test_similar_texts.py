"""Pairs and groups of similar texts, against all cosines."""

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import SettingError
from embeddings.text_search import similar_texts
from embeddings.text_search.similar_texts import similar_pairs
from embeddings.text_search.text_index import TextIndex

WORDS = [f"w{number}" for number in range(30)]


@pytest.fixture(scope="module")
def index():
    rng = np.random.default_rng(1)
    vectors = em.Vectors(WORDS, rng.standard_normal((30, 10)), counts=range(30, 0, -1))
    index = TextIndex.build(vectors, [" ".join(rng.choice(WORDS, 4)) for _ in range(150)])
    index.add(["w1 w2", "w2 w1", "w1 w2 w2"])
    index.remove("7")
    return index


@pytest.mark.parametrize("exact_rows", [0, 1000])
def test_all_pairs_above_the_threshold(index, monkeypatch, exact_rows):
    monkeypatch.setattr(similar_texts, "EXACT_ROWS", exact_rows)
    hits = {hit["id"]: hit["text"] for hit in index.search(np.ones((1, 10)), top=1000)}
    rows = em.embed(index.model, list(hits.values()), pool="sif", normalize=True)
    names = list(hits)
    cosines = rows @ rows.T
    expected = {frozenset((names[i], names[j])) for i in range(len(names)) for j in range(i) if cosines[i, j] >= 0.8}
    pairs = similar_pairs(index, 0.8, neighbours=100)
    assert {frozenset((pair["first"], pair["second"])) for pair in pairs} == expected
    assert len(pairs) == len(expected) > 3
    assert pairs[0]["cosine"] == pytest.approx(1)
    assert [pair["cosine"] for pair in pairs] == sorted((pair["cosine"] for pair in pairs), reverse=True)


def test_groups_are_connected_texts(index):
    groups = similar_pairs(index, 0.999).groups()
    assert {"150", "151"} in map(set, groups)
    assert [len(group) for group in groups] == sorted(map(len, groups), reverse=True)


def test_wrong_arguments_and_few_texts(index):
    with pytest.raises(SettingError, match="threshold"):
        similar_pairs(index, 1.5)
    assert similar_pairs(TextIndex.build(index.model, ["w1"])) == []
