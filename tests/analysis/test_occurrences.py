"""Occurrences of words, their neighbours and lines, compared with plain Python loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import embeddings as em
from embeddings.analysis import keyword_in_context, occurrences
from embeddings.analysis.keyword_in_context import concordance
from embeddings.analysis.occurrences import Occurrences
from embeddings.corpora.vocabulary import UnknownWordError

SENTENCES = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=8), min_size=1, max_size=6)


def positions(sentences, words):
    """(sentence, position) of each occurrence."""
    n = len(words)
    return [(s, i) for s, line in enumerate(sentences) for i in range(len(line) - n + 1) if line[i : i + n] == words]


def window_around(line, i, n, window):
    return line[max(0, i - window) : i] + line[i + n : i + n + window]


@given(SENTENCES, st.lists(st.sampled_from("abc"), min_size=1, max_size=2), st.integers(1, 4))
def test_everything_equals_plain_loops(sentences, words, window):
    encoded = em.Corpus(sentences, tokenizer="whitespace").encode()
    vocabulary = encoded.vocabulary
    if any(word not in vocabulary for word in words):
        with pytest.raises(UnknownWordError):
            Occurrences.of(encoded, " ".join(words))
        return
    occurrences = Occurrences.of(encoded, " ".join(words))
    expected = positions(sentences, words)
    starts = np.cumsum([0, *map(len, sentences)])
    assert occurrences.positions.tolist() == [starts[s] + i for s, i in expected]
    assert occurrences.sentences.tolist() == [s for s, _ in expected]
    counts = dict.fromkeys(vocabulary.words, 0)
    for s, i in expected:
        for neighbour in window_around(sentences[s], i, len(words), window):
            counts[neighbour] += 1
    assert dict(zip(vocabulary.words, occurrences.count_contexts(window).tolist(), strict=True)) == counts
    other = vocabulary.words[0]
    near = occurrences.near(Occurrences.of(encoded, other), window)
    assert near.positions.tolist() == [
        starts[s] + i for s, i in expected if other in window_around(sentences[s], i, len(words), window)
    ]


def test_results_do_not_depend_on_the_size_of_parts(monkeypatch):
    corpus = em.Corpus("sample", rows=400)
    encoded = corpus.encode()
    whole = Occurrences.of(encoded, "of the")
    monkeypatch.setattr(occurrences, "CHUNK", 1000)
    monkeypatch.setattr(occurrences, "MAX_NEIGHBOURS", 50)
    parts = Occurrences.of(encoded, "of the")
    assert len(whole) > 100
    assert np.array_equal(whole.positions, parts.positions)
    assert np.array_equal(whole.count_contexts(5), parts.count_contexts(5))


def test_words_are_typed_as_in_the_text_or_otherwise():
    corpus = em.Corpus(["We met in New York.", "York is old, New\nYork new."], phrases=None)
    assert concordance(corpus, "new york").total == 1  # never across lines
    assert concordance(corpus, "YORK").total == 3
    joined = em.Corpus(["We met in New York.", "York is old."], phrases=em.PhraseList(["new york"]))
    assert [line.keyword for line in concordance(joined, "New York").lines] == ["new_york"]
    with pytest.raises(UnknownWordError, match=r"'yrok'.*york"):
        concordance(corpus, "yrok")
    with pytest.raises(UnknownWordError):
        concordance(corpus, "")


def test_words_outside_a_fixed_vocabulary_are_an_ellipsis():
    corpus = em.Corpus(["one two three"], vocabulary=em.Vocabulary(["two"], [1]))
    (line,) = concordance(corpus, "two").lines
    assert (line.left, line.right) == ("…", "…")


def test_lines_have_their_place_and_fit_the_width():
    texts = [{"text": "aa bb cc dd ee\nff cc", "name": "x"}, {"text": "cc verylongword", "name": "y"}]
    corpus = em.Corpus(texts, text_column="text", tag_column="name")
    found = concordance(corpus, "cc", width=5).lines
    assert [(line.document, line.line) for line in found] == [("x", 1), ("x", 2), ("y", 3)]
    assert [(line.left, line.right) for line in found] == [("aa bb", "dd ee"), ("ff", ""), ("", "veryl")]
    found = concordance(corpus, "cc", width=4).lines
    assert (found[0].left, found[0].right) == ("bb", "dd")
    assert [line.document for line in concordance(em.Corpus(["a", "a"]), "a").lines] == ["0", "1"]


@pytest.mark.parametrize(("total", "lines"), [(100, 7), (3, 7), (7, 7), (1, 1)])
def test_lines_are_evenly_spaced(total, lines):
    corpus = em.Corpus([f"word n{i}" for i in range(total)])
    result = concordance(corpus, "word", lines=lines)
    assert result.total == total
    numbers = [line.line for line in result.lines]
    assert len(numbers) == min(total, lines)
    assert len(set(np.diff(numbers).tolist()) - {total // lines, -(-total // lines)}) == 0 or total <= lines
    assert numbers[0] - 1 <= total / lines
    assert total - numbers[-1] <= total / lines


def test_arguments_are_checked():
    with pytest.raises(em.EmbeddingsError, match="Corpus"):
        concordance("sample", "music")
    corpus = em.Corpus(["a b"])
    for name in ("window", "lines", "width"):
        with pytest.raises(em.EmbeddingsError, match=name):
            concordance(corpus, "a", **{name: 0})


def test_a_corpus_of_an_iterable_can_be_asked_twice():
    corpus = em.Corpus(line for line in ["a b", "b a"])
    assert concordance(corpus, "a", "b").total == concordance(corpus, "a").total == 2
    assert keyword_in_context.concordance(corpus, "a", "a").total == 0
