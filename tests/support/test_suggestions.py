"""Spelling suggestions, also beyond ASCII."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embeddings.support.arrow import to_string_array
from embeddings.support.suggestions import close_matches, edit_distances
from embeddings.support.word_list import WordList

WORDS = ["the", "king", "kings", "queen", "cafe", "café", "cafés", "İzmir", "naïve", "straße", "Москва", "élan"]


def naive_distance(a, b):
    """Optimal string alignment distance, by its definition."""
    table = np.zeros((len(a) + 1, len(b) + 1), int)
    table[:, 0], table[0] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            replaced = table[i - 1, j - 1] + (a[i - 1] != b[j - 1])
            table[i, j] = min(replaced, table[i - 1, j] + 1, table[i, j - 1] + 1)
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[-1, -1]


@given(st.text("abé", max_size=7), st.lists(st.text("abé", max_size=9), max_size=8))
def test_edit_distances(word, others):
    assert edit_distances(word, others).tolist() == [naive_distance(word, other) for other in others]


@pytest.mark.parametrize(
    ("word", "matches"),
    [
        ("kin", ["king", "kings"]),
        ("KING", ["king", "kings"]),
        ("kign", ["king", "kings"]),
        ("Cafe", ["cafe", "café", "cafés"]),
        ("caf\u0065\u0301", ["cafe", "café", "cafés"]),
        ("naive", ["naïve"]),
        ("izmir", ["İzmir"]),
        ("elan", ["élan"]),
        ("москва", ["Москва"]),
        ("strase", ["straße"]),
        ("zzzz", []),
        ("x", []),
        ("", []),
        ("\ud800", []),
        ("k" * 1000, []),
        (None, []),
    ],
)
@pytest.mark.parametrize("convert", [list, to_string_array], ids=["list", "Arrow"])
def test_close_matches(word, matches, convert):
    assert close_matches(word, WordList(convert(WORDS))) == matches


def test_words_with_lone_surrogates_do_not_prevent_suggestions():
    assert close_matches("kinq", WordList(["king", "\udc80"])) == ["king"]
    assert close_matches("kinq", WordList([])) == []
