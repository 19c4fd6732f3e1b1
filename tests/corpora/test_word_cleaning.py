"""Normalisation of words with combining marks."""

import unicodedata

from naive_corpora import decoded, encode

from embeddings.corpora.word_cleaning import MAX_MARKS


def words_of(text, **choice):
    with encode([text], **choice) as encoded:
        return decoded(encoded)[0]


def test_up_to_thirty_marks_are_normalised():
    few, many = ("e\u0301" + "\u0301" * (number - 1) for number in (MAX_MARKS, MAX_MARKS + 1))
    assert words_of(f"{few} {many}") == [unicodedata.normalize("NFC", few), many]
