"""Words of a file as Python's strings and as a column of Arrow: nobody can tell which."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from embeddings.errors import FormatError
from embeddings.formats import packed_words
from embeddings.formats.packed_words import Packed
from embeddings.formats.row_reader import Rows
from embeddings.support.word_list import Words
from embeddings.vectors import word_encoding
from embeddings.vectors.vectors import Vectors

word = st.text(max_size=5).map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=4)


def outcome(words, errors):
    """The words, or the line that refuses them."""
    try:
        found = Packed(words).decoded(errors, "here, word", 1)
        return Vectors(found, np.zeros((len(words), 1))).words
    except (FormatError, word_encoding.SettingError) as error:
        return str(error)


@given(st.lists(word, max_size=6), st.sampled_from(word_encoding.POLICIES))
@example([b"a\xc3", b"\xa9b"], "strict")
@example([b"\xed\xa0\x80", b"a"], "replace")
@example([b"", b"a\nb"], "strict")
@example([b"a", b"a"], "strict")
def test_columns_and_lists_are_one(words, errors):
    with patch.object(packed_words, "MANY", 0):
        column = outcome(words, errors)
    assert column == outcome(words, errors)
    assert Packed(words).listed() == words


def test_many_words_stay_a_column_until_they_are_asked_for(monkeypatch):
    monkeypatch.setattr(packed_words, "MANY", 3)
    few, many = (Packed([b"a", b"\xc3\xa9", b"c"][:count]).decoded("strict", "here", 1) for count in (2, 3))
    assert few == ["a", "é"]
    assert isinstance(many, Words)
    assert [many.find(text) for text in ("a", "é", "c", "d")] == [0, 1, 2, None]
    assert not {"listed", "rows"} & set(vars(many))
    assert many.listed == ["a", "é", "c"]


def test_words_of_one_hash_are_not_taken_for_one_word(monkeypatch):
    monkeypatch.setattr(packed_words, "MANY", 0)
    assert isinstance(Packed([b"a", b"b"]).decoded("strict", "here", 1), Words)
    monkeypatch.setattr(packed_words, "hash", lambda word: 7, raising=False)
    assert Packed([b"a", b"b"]).decoded("strict", "here", 1) == ["a", "b"]


def test_words_are_taken_as_they_come():
    words = Packed([b"a"])
    for more in ([], [b"bc", b""], [b"d"]):
        words.extend(more)
    assert (len(words), words.listed(), words.ends.tolist()) == (4, [b"a", b"bc", b"", b"d"], [0, 1, 3, 3, 4])


@pytest.mark.parametrize("row", range(4))
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_named_whichever_block_it_came_in(tmp_path, row, number):
    matrix = np.ones((4, 2), np.float32)
    matrix[row, 1] = number
    rows = Rows(tmp_path / "v", 2, None)
    rows.add([b"a", b"b"], matrix[:2])
    rows.add([b"c", b"d"], matrix[2:])
    with pytest.raises(FormatError, match=f"v: the vector of {'abcd'[row]!r} holds NaN"):
        rows.vectors("strict", "here", 1)
