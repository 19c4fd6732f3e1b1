"""Words of an Arrow array are found without a list or dict, which are built on demand."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import SettingError
from embeddings.models.model import Model
from embeddings.support.word_list import MAX_SEARCHES, WordList
from embeddings.vectors.vectors import Vectors

texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), unique=True, max_size=30)


@settings(deadline=None)
@given(
    words=texts, queries=st.lists(st.text(max_size=5), max_size=40), kind=st.sampled_from([pa.string, pa.large_string])
)
def test_a_column_and_a_list_find_the_same(words, queries, kind):
    column = WordList(pa.array(words, kind()), distinct=True)
    for word in [*queries, *words, *queries]:
        assert column.find(word) == (words.index(word) if word in words else None)
        assert WordList(words).find(word) == column.find(word)
    assert len(column) == len(words)
    assert column.words == words


def test_a_few_searches_build_neither_list_nor_dict(monkeypatch):
    words = WordList(pa.array(["a", "b", "c"]), distinct=True)
    for _ in range(MAX_SEARCHES):
        assert words.find("c") == 2
    assert not {"words", "rows"} & set(vars(words))
    assert words.find("b") == 1
    assert {"words", "rows"} <= set(vars(words))


@pytest.mark.parametrize("wrong", [5, None, b"a", {"a"}, ["a"], "\ud800"])
def test_other_types_are_not_found(wrong):
    assert WordList(pa.array(["a", "5", "None"]), distinct=True).find(wrong) is None
    assert WordList(["a", "5", "None"]).find(wrong) is None
    assert wrong not in Vectors(["a"], [[1.0]])


def test_a_duplicate_word_is_refused():
    for words in (["a", "b", "a"], pa.array(["a", "b", "a"])):
        with pytest.raises(SettingError, match=r"'a'.*twice"):
            WordList(words)


def test_a_loaded_model_builds_no_list_of_its_words(tmp_path):
    vocabulary = Vocabulary(["the", "king", "日本"], [5, 4, 1])
    vectors = Vectors(vocabulary.words, [[1.0, 2], [3, 4], [5, 6]], counts=vocabulary.counts)
    Model("skipgram", vectors=vectors, vocabulary=vocabulary).save(tmp_path / "m")
    loaded = Model.load(tmp_path / "m")
    assert loaded.vectors["king"].tolist() == [3, 4]
    assert "none" not in loaded.vectors
    assert "king" in loaded.vocabulary
    assert not {"words", "rows"} & set(vars(loaded.vectors.word_list))
    assert loaded.vectors.words == loaded.vocabulary.words == vocabulary.words
    assert loaded.vectors.words is loaded.vocabulary.words
