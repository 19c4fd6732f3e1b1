"""Continued training of n-grams: which n-grams a model has then, their counts, and their vectors."""

from collections import Counter

import numpy as np
import pytest
from commands import expect, refused

import embeddings as em
from embeddings.errors import CorpusError, FormatError, SettingError
from embeddings.plugins.sembei.ngram_vocabulary import token_sequences

OLD, NEW = ["abcab", "abd", "abé"] * 3, ["abxab", "xyab", "zz"] * 2
SMALL = {"dim": 6, "epochs": 2, "subsample": 0, "min_count": 2, "max_n": 3, "threads": 1}
TINY_RATE = {"learning_rate": 1e-9, "epochs": 1}


def ngrams(lines, max_n=3):
    return Counter(line[i : i + n] for line in lines for n in range(1, max_n + 1) for i in range(len(line) - n + 1))


def continued(model, lines, **settings):
    return em.train("sembei", lines, **{**SMALL, **settings}, continued=model)


def rows_of(model, words, table=None):
    matrix = model.vectors.matrix if table is None else model.tables[table]
    return np.array([matrix[model.vocabulary.index(word)] for word in words])


@pytest.fixture(scope="module")
def model():
    return em.train("sembei", OLD, **SMALL)


@pytest.mark.parametrize("per_length", ["all", "2,1", "0,2"])
def test_frequent_ngrams_of_the_new_text_are_added(model, per_length):
    """All n-grams of the model stay, counted in both texts, also those that are rare or missing in the new one."""
    more = continued(model, [*NEW, "é", "q"], per_length=per_length)
    old, new = ngrams(OLD), ngrams([*NEW, "é", "q"])
    limits = [10**9] * 3 if per_length == "all" else [int(n) for n in (*per_length.split(","), per_length[-1])]
    added = set()
    for n, limit in enumerate(limits, 1):
        frequent = [word for word, count in new.items() if len(word) == n and count >= 2]
        added.update(sorted(frequent, key=lambda word: (-new[word], word))[:limit])
    expected = {word: old[word] * (word in model.vectors) + new[word] for word in {*model.vocabulary.words, *added}}
    assert dict(zip(more.vocabulary.words, more.vocabulary.counts.tolist(), strict=True)) == expected
    assert more.vocabulary.total == model.vocabulary.total + sum(new[word] for word in expected)
    kept = len(model.vocabulary)
    assert f"{kept} words continue" in more.record["notes"][0], more.record["notes"]


def test_lines_and_documents_end_ngrams_in_counts(model):
    text = ["ab\nxab", "bc"]
    for cross_lines, extra in (False, 0), (True, 1):
        joined = ["abxab", "bc"] if cross_lines else ["ab", "xab", "bc"]
        more = continued(model, text, cross_lines=cross_lines, min_count=1, per_length="all")
        new, old = ngrams(joined), ngrams(OLD)
        assert ("bx" in more.vectors) == bool(extra)
        for word in more.vocabulary.words:
            assert more.vocabulary.counts[more.vocabulary.index(word)] == new[word] + old[word], word


@pytest.mark.parametrize("compositional", [False, True])
def test_vectors_continue_from_those_of_the_model(compositional):
    model = em.train("sembei", OLD, **SMALL, compositional=compositional)
    words, table = model.vocabulary.words, "ngrams" if compositional else None
    more = continued(model, NEW, compositional=compositional, **TINY_RATE)
    np.testing.assert_allclose(rows_of(more, words, table), rows_of(model, words, table), atol=1e-6)
    for output in ("left", "right"):
        np.testing.assert_allclose(rows_of(more, words, output), rows_of(model, words, output), atol=1e-6)
    assert rows_of(more, ["xy", "zz"]).any(axis=1).all()
    if compositional:
        np.testing.assert_allclose(more.vectors["xab"], more.compose(["xab"])[0], rtol=1e-5, atol=1e-7)
    moved = continued(model, NEW, compositional=compositional, learning_rate=0.1)
    assert not np.allclose(rows_of(moved, ["ab"], table), rows_of(model, ["ab"], table), atol=1e-6)


@pytest.mark.parametrize(("tokenizer", "lines"), [("words", ["a_b c a_b c", "b c a"]), ("characters", ["e\u0301ab"])])
def test_ngrams_of_other_tokens_are_found_in_new_text(tokenizer, lines):
    """Words are joined by underscores, which they may contain."""
    corpus = em.Corpus(lines * 3, tokenizer=tokenizer)
    model = em.train("sembei", corpus, **SMALL)
    settings = {**SMALL, "min_count": 1000}
    more = em.train("sembei", em.Corpus(lines, tokenizer=tokenizer), **settings, continued=model)
    assert more.vocabulary.words == model.vocabulary.words
    assert more.vocabulary.counts.tolist() == (model.vocabulary.counts * 4 // 3).tolist()


def test_strings_are_divided_into_tokens():
    ids = {"a": 0, "b": 1, "a_b": 2, "c": 3}
    assert sorted(token_sequences("a_b_c", ids, "_", 3, 3)) == [[0, 1, 3], [2, 3]]
    assert token_sequences("a_b_c", ids, "_", 3, 2) == [[2, 3]]
    assert token_sequences("a_d", ids, "_", 3, 3) == token_sequences("a_", ids, "_", 3, 3) == []
    assert token_sequences("abc", ids, "", 3, 3) == [[0, 1, 3]]
    assert token_sequences("abc", ids, "", 3, 2) == []


def test_a_limit_of_all_ngrams(model):
    more = continued(model, NEW, max_vocab=len(model.vocabulary) + 2)
    assert len(more.vocabulary) == len(model.vocabulary) + 2
    assert set(model.vocabulary.words) < set(more.vocabulary.words)
    with pytest.raises(SettingError, match="max_vocab must be at least"):
        continued(model, NEW, max_vocab=len(model.vocabulary) - 1)


@pytest.mark.parametrize("change", [{"dim": 5}, {"max_n": 2}, {"compositional": True}])
def test_settings_that_cannot_change(model, change):
    with pytest.raises(SettingError, match=f"{next(iter(change))} must be"):
        continued(model, NEW, **change)


def test_text_without_ngrams_of_the_model(model):
    with pytest.raises(CorpusError, match="in common"):
        continued(model, ["qqqq"], min_count=9)


def test_command(tmp_path):
    (tmp_path / "old").write_text("\n".join(OLD), encoding="utf-8")
    (tmp_path / "new").write_text("\n".join(NEW), encoding="utf-8")
    options = ["--min-count", 2, "--dim", 6, "--threads", 1, "--subsample", 0, "--quiet"]
    expect("train", "sembei", tmp_path / "old", "-o", tmp_path / "m", *options)
    expect("train", "sembei", tmp_path / "new", "-o", tmp_path / "more", *options, "--continue", tmp_path / "m")
    more = em.load_model(tmp_path / "more")
    assert {"abé", "xy"} <= set(more.vocabulary.words)
    command = ["train", "sembei", tmp_path / "new", "-o", tmp_path / "x", *options, "--continue", tmp_path / "m"]
    assert "--max-n must be 4" in refused(*command, "--max-n", 2, code=2)
    assert "tokenizer" in refused(*command, "--tokenizer", "words", code=2)


def test_a_model_with_an_ngram_of_impossible_length_is_refused():
    model = em.train("sembei", OLD, **SMALL, compositional=True)
    words = list(model.vocabulary.words)
    words[0] = "a" * 99_999
    model.vocabulary = em.corpora.Vocabulary(words, model.vocabulary.counts)
    with pytest.raises(FormatError, match="99999 characters"):
        continued(model, NEW, compositional=True)
