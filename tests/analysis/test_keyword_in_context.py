"""Lines of a corpus around a word."""

import numpy as np
import pytest

import embeddings as em
from embeddings.analysis import keyword_in_context
from embeddings.analysis.keyword_in_context import concordance
from embeddings.corpora.vocabulary import UnknownWordError


def test_words_are_typed_as_in_the_text_or_otherwise():
    corpus = em.Corpus(["We met in New York.", "York is old, New\nYork new."], phrases=None)
    assert concordance(corpus, "new york").total == 1  # never across lines
    assert concordance(corpus, "YORK").total == 3
    joined = em.Corpus(["We met in New York.", "York is old."], phrases=em.corpora.PhraseList(["new york"]))
    assert [line.keyword for line in concordance(joined, "New York").lines] == ["new_york"]
    with pytest.raises(UnknownWordError, match=r"'yrok'.*york"):
        concordance(corpus, "yrok")
    with pytest.raises(UnknownWordError):
        concordance(corpus, "")


def test_words_outside_a_fixed_vocabulary_are_an_ellipsis():
    corpus = em.Corpus(["one two three"], vocabulary=em.corpora.Vocabulary(["two"], [1]))
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


def test_a_corpus_of_an_iterable_can_be_asked_twice():
    corpus = em.Corpus(line for line in ["a b", "b a"])
    assert concordance(corpus, "a", "b").total == concordance(corpus, "a").total == 2
    assert keyword_in_context.concordance(corpus, "a", "a").total == 0
