"""Occurrences of words and their neighbours, compared with plain Python loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import embeddings as em
from embeddings.analysis import occurrences
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


def test_arguments_are_checked():
    with pytest.raises(em.EmbeddingsError, match="Corpus"):
        concordance("sample", "music")
    corpus = em.Corpus(["a b"])
    for name in ("window", "lines", "width"):
        with pytest.raises(em.EmbeddingsError, match=name):
            concordance(corpus, "a", **{name: 0})
