"""BM25 against a naive version."""

import math
from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.corpora.word_rules import WordForm, WordRules
from embeddings.text_search import lexical
from embeddings.text_search.lexical import Lexicon, common_words, lexical_scores

SETTINGS = WordRules("words", "lower").settings


def naive_scores(texts, query, shares=None):
    """BM25 of each text, as in the docstring of the module."""
    documents = [text.lower().split() for text in texts]
    mean = sum(map(len, documents)) / len(documents)
    scores = []
    for words in documents:
        counts, score = Counter(words), 0.0
        for word in query.split():
            n = sum(word in other for other in documents)
            weight = 1e-3 / (1e-3 + (shares or {}).get(word, 0)) * math.log(1 + (len(texts) - n + 0.5) / (n + 0.5))
            score += weight * counts[word] / (counts[word] + 1.5 * (0.25 + 0.75 * len(words) / mean))
        scores.append(score)
    return scores


def segment(lexicon, texts):
    terms, arrays = lexicon.postings(pa.chunked_array([texts]))
    live = np.ones(len(texts), np.bool_)
    words = SimpleNamespace(find=lambda word: terms.to_pylist().index(word) if word in terms.to_pylist() else None)
    length = int(arrays["lengths"].sum())
    return Segment(arrays=arrays, live=live, live_count=len(texts), live_length=length, words=words)


class Segment(SimpleNamespace):
    def __len__(self):
        return self.live_count


@pytest.mark.parametrize("few", [0, 1000])
def test_scores_are_those_of_the_formula(monkeypatch, few):
    """In two segments, whose texts are split in Python or by the compiled scanner."""
    monkeypatch.setattr(lexical, "FEW_TEXTS", few)
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(list("abcdefg"), rng.integers(0, 9))) for _ in range(30)]
    common = Vocabulary.from_counts({"a": 50, "b": 5}, total=1000)
    lexicon = Lexicon(SETTINGS, common=common)
    segments = [segment(lexicon, part) for part in (texts[:20], texts[20:])]
    for query in ("a b b zz", "g"):
        scores = np.concatenate(lexical_scores(segments, lexicon.weights(query)))
        np.testing.assert_allclose(scores, naive_scores(texts, query, {"a": 0.05, "b": 0.005}), rtol=1e-5, atol=1e-6)


def test_words_are_counted_as_stems():
    pytest.importorskip("Stemmer")
    lexicon = Lexicon(SETTINGS, "english")
    terms, arrays = lexicon.postings(pa.chunked_array([["walking walks", "Walked dogs"]]))
    assert terms.to_pylist() == ["walk", "dog"]
    assert arrays["posting_counts"].tolist() == [2, 1, 1]
    assert lexicon.weights("dog walkers walking").keys() == {"dog", "walker", "walk"}


def test_common_words_have_a_share_of_the_text():
    vocabulary = Vocabulary.from_counts({"the": 900, "of": 1, "rare": 1}, total=10_001)
    assert common_words(vocabulary).words == ["the"]
    assert common_words(None) is None


def test_few_and_many_texts_are_split_alike(monkeypatch):
    """Also marks, blanks, and texts that are paths of files."""
    texts = ["!!! a", "", "...", __file__, "b c\nd", "it's", "e\u0301"]
    for settings in (SETTINGS, WordRules("codepoints", "lower").settings, WordRules("alphanumeric", "lower").settings):
        results = []
        for few in (0, 1000):
            monkeypatch.setattr(lexical, "FEW_TEXTS", few)
            words, ids, starts = Lexicon(settings).encode(texts)
            tokens = [words[number] for number in ids.tolist()]
            results.append([tokens[start:stop] for start, stop in pairwise(starts.tolist())])
        assert results[0] == results[1]


@pytest.mark.parametrize(("tokenizer", "threads"), [("words", 1), ("words", 2), ("codepoints", 2)])
def test_words_that_the_embedder_has_found_are_counted_alike(tmp_path, tokenizer, threads):
    """Several blocks of lines that end as on Windows, with words whose spelling is normalised."""
    words = ["it's", "Über", "e\u0301te\u0301", *(f"w{number}" for number in range(2000))]
    rng = np.random.default_rng(3)
    lines = [" ".join(rng.choice(words, size)) for size in [*rng.integers(0, 60, 7000), 1]]
    (tmp_path / "lines.txt").write_bytes("\r\n".join(lines).encode())
    form = WordForm(WordRules(tokenizer, "lower").settings)
    vectors = em.Vectors(["w1", "w2"], np.eye(2), counts=[2, 1], word_form=form)
    index = em.TextIndex.build(vectors, tmp_path / "lines.txt", tmp_path / "index", threads=threads)
    segment = index.segments[0]
    terms, arrays = Lexicon(form.settings).postings(pa.chunked_array([lines]))
    for name, array in arrays.items():
        np.testing.assert_array_equal(segment.arrays[name], array)
    assert segment.terms.to_pylist() == terms.to_pylist()


def test_texts_without_words():
    terms, arrays = Lexicon(SETTINGS).postings(pa.chunked_array([["", "..."] * 50]))
    assert len(terms) == 0
    assert arrays["lengths"].tolist() == [0] * 100
