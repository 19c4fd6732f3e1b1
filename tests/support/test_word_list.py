"""Words of an Arrow array: found without a list or a dictionary, which are made when they are asked for."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import SettingError
from embeddings.models.model import Model
from embeddings.support import word_list as module
from embeddings.support.word_list import WordList
from embeddings.vectors.vectors import Vectors

texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), unique=True, max_size=30)


@settings(deadline=None)
@given(
    listed=texts, asked=st.lists(st.text(max_size=5), max_size=40), kind=st.sampled_from([pa.string, pa.large_string])
)
def test_a_column_and_a_list_find_the_same(listed, asked, kind):
    column = WordList(pa.array(listed, kind()), distinct=True)
    for word in [*asked, *listed, *asked]:
        assert column.find(word) == (listed.index(word) if word in listed else None)
        assert WordList(listed).find(word) == column.find(word)
    assert len(column) == len(listed)
    assert column.words == listed


def test_neither_list_nor_dictionary_is_made_for_a_few_words(monkeypatch):
    found = WordList(pa.array(["a", "b", "c"]), distinct=True)
    for _ in range(module.MAX_SEARCHES):
        assert found.find("c") == 2
    assert not {"words", "rows"} & set(vars(found))
    assert found.find("b") == 1
    assert {"words", "rows"} <= set(vars(found))


@pytest.mark.parametrize("wrong", [5, None, b"a", {"a"}, ["a"], "\ud800"])
def test_what_is_no_word_is_not_found(wrong):
    assert WordList(pa.array(["a", "5", "None"]), distinct=True).find(wrong) is None
    assert WordList(["a", "5", "None"]).find(wrong) is None
    assert wrong not in Vectors(["a"], [[1.0]])


def test_a_word_that_stands_twice_is_refused():
    for words in (["a", "b", "a"], pa.array(["a", "b", "a"])):
        with pytest.raises(SettingError, match="the word 'a' stands twice"):
            WordList(words)


def test_a_loaded_model_makes_no_list_of_its_words(tmp_path):
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
