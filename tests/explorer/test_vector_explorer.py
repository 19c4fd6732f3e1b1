"""Answers of `embeddings explore`."""

import numpy as np
import pytest
from explorer_server import HOSTILE
from hypothesis import given
from hypothesis import strategies as st

import embeddings as em
from embeddings.errors import SettingError
from embeddings.explorer.vector_explorer import VectorExplorer
from embeddings.explorer.word_map import WordMap


def test_neighbours_are_those_of_the_library(server, model):
    answer = server.answer("neighbours", word="King", top=3)
    expected = model.most_similar("king", top=3)
    assert [(row["word"], row["cosine"]) for row in answer["neighbours"]] == expected
    assert (answer["word"], answer["typed"]) == ("king", "King")
    assert answer["count"] == model.counts[model.index("king")]
    for row in answer["neighbours"]:
        assert row["low"] <= row["cosine"] <= row["high"]
        assert model.words[row["row"]] == row["word"]


def test_analogy_and_comparison_are_those_of_the_library(server, model):
    answer = server.answer("analogy", a="king", b="queen", c="dog", method="3cosmul", top=2)
    expected = model.analogy("king", "queen", "dog", method="3cosmul", top=2)
    assert [(row["word"], row["score"]) for row in answer["answers"]] == expected
    compared = server.answer("compare", a="king", b="queen", top=4)
    assert compared["cosine"] == model.similarity("king", "queen")
    assert (compared["rank_of_b"], compared["rank_of_a"]) == (model.rank("king", "queen"), model.rank("queen", "king"))
    both = {word for word, _ in model.most_similar("king", top=4)} & {
        word for word, _ in model.most_similar("queen", top=4)
    }
    assert {row["word"] for row in compared["shared"]} == both
    assert compared["interval"]["low"] <= compared["cosine"]


def test_lines_and_contexts(server):
    lines = server.answer("lines", word="king", lines=5)
    assert (lines["total"], len(lines["lines"])) == (50, 5)
    assert lines["lines"][0]["right"] == "rules the land"
    assert server.answer("lines", word="king", other="bone")["total"] == 0
    evidence = server.answer("evidence", a="king", b="queen")
    assert {context["context"] for context in evidence["contexts"]} <= {"the", "rules", "land"}


def test_the_map_has_all_words_with_their_groups(server, model):
    state = server.answer("map")
    while state["done"] < 1:
        state = server.answer("map")
    state = server.answer("map")
    assert state["words"] == model.words
    assert len(state["points"]) == 2 * len(model)
    assert all(0 <= value <= state["scale"] for value in state["points"])
    groups = state["groups"]
    assert state["sizes"] == [groups.count(group) for group in range(len(state["names"]))]
    assert sum(state["sizes"]) == len(model)
    assert "points" not in server.answer("map", version=state["version"])


def test_an_unknown_word_is_an_answer(server):
    assert "did you mean king" in server.answer("neighbours", word="kin")["error"]


def test_texts_are_found_with_the_words_of_the_query(server):
    assert server.answer("info")["texts"] == 3
    hits = server.answer("search", query="King dog")["hits"]
    assert {hit["id"] for hit in hits} == {"0", "1"}
    parts = {hit["id"]: hit["parts"] for hit in hits}
    assert "".join(part for part, _ in parts["0"]) == f"the king {HOSTILE}"
    assert [[part for part, is_found in parts[name] if is_found] for name in "01"] == [["king"], ["dog", "DOG"]]


def test_a_search_requires_texts(model):
    explorer = VectorExplorer(model, WordMap(model, words=5, projection="pca", groups=2, seed=1), "m")
    assert explorer.info()["texts"] == 0
    with pytest.raises(SettingError, match="texts"):
        explorer.search("king")


LETTERS = st.text(alphabet="abAÄäßs\U0010ffff\ud800-", max_size=4)


@given(st.lists(LETTERS, unique=True, min_size=1, max_size=30), LETTERS, st.integers(1, 5))
def test_completions_are_the_most_frequent_words_with_the_prefix(words, prefix, limit):
    key = prefix.lstrip().casefold()
    expected = [word for word in words if key and word.casefold().startswith(key)][:limit]
    vectors = em.Vectors(words, np.ones((len(words), 1)))
    word_map = WordMap(vectors, words=1, projection="pca", groups=1, seed=1)
    assert VectorExplorer(vectors, word_map, "words").complete(prefix, limit) == {"words": expected}
