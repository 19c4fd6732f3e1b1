"""Buffers of words and rows: an Arrow column and a Python list of the same words are indistinguishable."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from embeddings.errors import FormatError, SettingError
from embeddings.formats import build_vectors
from embeddings.formats.build_vectors import RowBuffer, WordBuffer
from embeddings.support.word_list import WordList
from embeddings.vectors.vectors import Vectors

word = st.text(max_size=5).map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=4)


def words_or_error(words, errors):
    try:
        decoded = WordBuffer(words).decode(errors, "here, word", 1)
        return Vectors(decoded, np.zeros((len(words), 1))).words
    except (FormatError, SettingError) as error:
        return str(error)


@given(st.lists(word, max_size=6), st.sampled_from(["strict", "replace", "ignore"]))
@example([b"a\xc3", b"\xa9b"], "strict")
@example([b"\xed\xa0\x80", b"a"], "replace")
@example([b"", b"a\nb"], "strict")
@example([b"a", b"a"], "strict")
def test_columns_and_lists_give_the_same_words(words, errors):
    with patch.object(build_vectors, "MANY_WORDS", 0):
        from_column = words_or_error(words, errors)
    assert from_column == words_or_error(words, errors)
    assert WordBuffer(words).to_list() == words


def test_many_words_stay_a_column_until_they_are_used(monkeypatch):
    monkeypatch.setattr(build_vectors, "MANY_WORDS", 3)
    few, many = (WordBuffer([b"a", b"\xc3\xa9", b"c"][:count]).decode("strict", "here", 1) for count in (2, 3))
    assert few == ["a", "é"]
    assert isinstance(many, WordList)
    assert [many.find(text) for text in ("a", "é", "c", "d")] == [0, 1, 2, None]
    assert not {"words", "rows"} & set(vars(many))
    assert many.words == ["a", "é", "c"]


def test_equal_hashes_do_not_make_words_equal(monkeypatch):
    monkeypatch.setattr(build_vectors, "MANY_WORDS", 0)
    assert isinstance(WordBuffer([b"a", b"b"]).decode("strict", "here", 1), WordList)
    monkeypatch.setattr(build_vectors, "hash", lambda word: 7, raising=False)
    assert WordBuffer([b"a", b"b"]).decode("strict", "here", 1) == ["a", "b"]


@pytest.mark.parametrize("row", range(4))
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_located_in_any_block(tmp_path, row, number):
    matrix = np.ones((4, 2), np.float32)
    matrix[row, 1] = number
    rows = RowBuffer(tmp_path / "v", 2, None)
    rows.add([b"a", b"b"], matrix[:2])
    rows.add([b"c", b"d"], matrix[2:])
    with pytest.raises(FormatError, match=f"{'abcd'[row]!r}.*NaN"):
        rows.to_vectors("strict", "here", 1)
