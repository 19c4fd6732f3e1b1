"""Vocabularies by document frequency and by a rule of the user."""

from collections import Counter

import numpy as np
import pytest

import embeddings as em
from embeddings.corpora.document_counts import document_counts
from embeddings.errors import CorpusError, SettingError

LINES = ["a a a b", "b c", "", "a c d d d d", "b e", "e e e"]


def corpus(tmp_path, lines=LINES):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines), "utf-8")
    return em.Corpus(path)


@pytest.mark.parametrize(
    ("unit", "documents"), [("lines", LINES), ("blocks", ["a a a b b c", "a c d d d d b e e e e"])]
)
def test_counts_of_documents(tmp_path, unit, documents):
    encoded = corpus(tmp_path).encode()
    expected = Counter(word for line in documents for word in set(line.split()))
    assert dict(zip(encoded.vocabulary.words, document_counts(encoded, unit).tolist(), strict=True)) == expected


def test_words_of_few_documents_get_no_vector(tmp_path):
    settings = {"dim": 4, "min_count": 1, "subsample": 0, "threads": 1}
    model = em.train("skipgram", corpus(tmp_path), min_documents=2, **settings)
    assert sorted(model.vocabulary.words) == ["a", "b", "c", "e"]  # d occurs four times, on one line
    words = em.corpora.Vocabulary.from_counts({"a": 4, "b": 3, "c": 2, "e": 4}, total=17)
    expected = em.train("skipgram", em.Corpus(tmp_path / "text.txt", vocabulary=words), **settings)
    np.testing.assert_array_equal(model.vectors.matrix, expected.vectors.matrix)
    with pytest.raises(CorpusError, match=r"no word is left.*min_documents=4.*3 documents"):
        em.train("skipgram", corpus(tmp_path), min_documents=4, **settings)


def test_unknown_rows_take_words_of_few_documents(tmp_path):
    settings = {"dim": 4, "min_count": 1, "subsample": 0, "threads": 1, "min_documents": 3}
    model = em.train("cbow", corpus(tmp_path), unknown_rows=1, **settings)
    counts = dict(zip(model.vocabulary.words, model.vocabulary.counts.tolist(), strict=True))
    assert counts == {"<unk>": 14, "b": 3}


def test_continued_training_adds_words_of_enough_documents(tmp_path):
    settings = {"dim": 4, "min_count": 1, "subsample": 0, "threads": 1}
    model = em.train("skipgram", corpus(tmp_path), **settings)
    extended = em.continue_training(model, ["a f", "f g", "g"], min_documents=2, threads=1)
    assert set(extended.vocabulary.words) == {*"abcde", "f", "g"}
    extended = em.continue_training(model, ["a f", "f g g g"], min_documents=2, threads=1)
    assert set(extended.vocabulary.words) == {*"abcde", "f"}


def test_a_rule_selects_words_whatever_their_counts():
    lines = ["a a a b c", "a b c d"] * 3
    verdicts = {"a": False, "d": True}
    options = {"dim": 4, "subsample": 0, "threads": 1, "vocabulary_rule": lambda word, count: verdicts.get(word)}
    assert em.train("skipgram", lines, min_count=6, **options).vocabulary.words == ["b", "c", "d"]
    assert em.train(
        "skipgram", lines, min_count=7, **{**options, "vocabulary_rule": lambda word, count: word in "ad"}
    ).vocabulary.words == ["a", "d"]
    seen = {}
    em.train(
        "cbow", lines, min_count=1, **{**options, "vocabulary_rule": lambda word, count: seen.update({word: count})}
    )
    assert seen == {"a": 12, "b": 6, "c": 6, "d": 3}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocabulary_rule": lambda word, count: 2}, "True, False or None, got 2 for 'a'"),
        ({"vocabulary_rule": lambda word, count: False}, r"no word is left.*rule"),
        ({"min_documents": 0}, "min_documents"),
    ],
)
def test_unsuitable_rules(options, message):
    with pytest.raises((SettingError, CorpusError), match=message):
        em.train("skipgram", ["a a b"] * 9, dim=4, min_count=1, threads=1, **options)
