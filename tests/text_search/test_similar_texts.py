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


@pytest.mark.parametrize("block", [7, 1000])
def test_all_pairs_above_the_lowest_cosine(index, monkeypatch, block):
    monkeypatch.setattr(similar_texts, "SCORE_BYTES", 4 * 153 * block)
    hits = {hit["id"]: hit["text"] for hit in index.search(np.ones((1, 10)), top=1000)}
    rows = em.embed(index.model, list(hits.values()), pool="sif", normalize=True)
    names = list(hits)
    cosines = rows @ rows.T
    expected = {frozenset((names[i], names[j])) for i in range(len(names)) for j in range(i) if cosines[i, j] >= 0.8}
    pairs = similar_pairs(index, 0.8)
    assert {frozenset((pair["first"], pair["second"])) for pair in pairs} == expected
    assert len(pairs) == len(expected) > 3
    assert pairs[0]["cosine"] == pytest.approx(1)
    assert [pair["cosine"] for pair in pairs] == sorted((pair["cosine"] for pair in pairs), reverse=True)
    assert all(hits[pair[side]] == pair[f"{side}_text"] for pair in pairs for side in ("first", "second"))
    assert len(names) < len(similar_pairs(index, 0.3, neighbours=2)) <= 2 * len(names)


def test_equal_texts_have_the_cosine_1_and_texts_without_vectors_none():
    rng = np.random.default_rng(2)
    texts = [" ".join(rng.choice(WORDS, 6)) for _ in range(60)]
    vectors = em.Vectors(WORDS, rng.standard_normal((30, 20)))
    index = TextIndex.build(vectors, [*texts, *texts, "unknown", "foreign"])
    assert len(similar_pairs(index, 1)) == len(texts)
    assert not {"unknown", "foreign"} & {pair["first_text"] for pair in similar_pairs(index, 0)}


def test_an_approximate_index_finds_the_pairs_too(index):
    texts = index.column("text")
    approximate = TextIndex.build(index.model, texts, kind="lsh:bits=1024", index_from=1)
    exact = similar_pairs(TextIndex.build(index.model, texts), 0.9)
    assert similar_pairs(approximate, 0.9) == exact
    assert len(exact) > 3


def test_groups_do_not_chain():
    """Directions of 0, 20, 40 and 60 degrees, of which neighbours are similar: the last is too far from the others."""
    angles = np.deg2rad([0, 20, 40, 60, 200, 210])
    vectors = em.Vectors(list("abcdef"), np.stack([np.cos(angles), np.sin(angles)], axis=1))
    pairs = similar_pairs(TextIndex.build(vectors, list("abcdef"), pool="mean"), 0.9)
    assert len(pairs) == 4
    assert [set(group) for group in pairs.groups()] == [{"0", "1", "2"}, {"4", "5"}]
    assert pairs.groups()[0][0] == "1"
    assert pairs[:0].groups() == []


def test_wrong_arguments_and_few_texts(index):
    with pytest.raises(SettingError, match="min_cosine"):
        similar_pairs(index, 1.5)
    with pytest.raises(SettingError, match="no vectors"):
        similar_pairs(TextIndex.build(None, ["w1"]))
    assert similar_pairs(TextIndex.build(index.model, ["w1"])) == []
