"""Frequent n-grams, against a twin that counts every substring."""

from collections import Counter
from unicodedata import category

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ngram_search import find_all_ngrams

from embeddings.corpora import Corpus, key_counts
from embeddings.errors import CorpusError
from embeddings.plugins.sembei import ngram_vocabulary
from embeddings.plugins.sembei.ngram_vocabulary import frequent_ngrams

LINES = st.lists(st.text("abc本 \t\0\ufeff", max_size=25), min_size=1, max_size=6)


def encode(*lines, tokenizer="codepoints", **settings):
    return Corpus(["\n".join(lines)], tokenizer=tokenizer, **settings).encode()


def count_substrings(lines, max_n, min_count=1):
    """How often each substring occurs, those with white space or control characters left out."""
    counts = Counter(line[i : i + n] for line in lines for n in range(1, max_n + 1) for i in range(len(line) - n + 1))
    borders = {c for line in lines for c in line if c.isspace() or category(c) == "Cc" or c == "\ufeff"}
    return {word: count for word, count in counts.items() if count >= min_count and not borders & set(word)}


def counts_of(ngrams):
    return dict(zip(ngrams.vocabulary.words, ngrams.vocabulary.counts.tolist(), strict=True))


@settings(deadline=None, max_examples=80)
@given(
    lines=LINES, max_n=st.integers(1, 8),
    min_count=st.integers(1, 4), max_ngrams=st.sampled_from([600, ngram_vocabulary.MAX_NGRAMS]),
    chunk_size=st.sampled_from([20, 23, 64, ngram_vocabulary.CHUNK_SIZE]),
)  # fmt: skip
def test_every_count_equals_the_twins(lines, max_n, min_count, max_ngrams, chunk_size):
    expected = count_substrings([lines[0].removeprefix("\ufeff"), *lines[1:]], max_n, min_count)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ngram_vocabulary, "CHUNK_SIZE", chunk_size)
        patch.setattr(ngram_vocabulary, "MAX_NGRAMS", max_ngrams)
        try:
            encoded = encode(*lines)
        except CorpusError:
            assert not "".join(lines).removeprefix("\ufeff")
            return
        if not expected:
            with pytest.raises(CorpusError, match="lower min_count"):
                frequent_ngrams(encoded, max_n=max_n, min_count=min_count)
            return
        ngrams = frequent_ngrams(encoded, max_n=max_n, min_count=min_count)
    assert counts_of(ngrams) == expected
    order = sorted(expected, key=lambda word: (-expected[word], word))
    assert list(ngrams.vocabulary.words) == order


@pytest.fixture(scope="module")
def random_lines():
    rng = np.random.default_rng(3)
    return ["".join(chr(0x4E00 + c) for c in rng.zipf(1.2, 400) % 200) for _ in range(40)]


def test_many_distinct_ngrams_are_counted_in_several_chunks(random_lines, monkeypatch):
    """Of which each is sorted by itself, and none has more keys than a chunk has tokens."""
    stored, store_run = [], key_counts.store_run
    monkeypatch.setattr(ngram_vocabulary, "CHUNK_SIZE", 1500)
    monkeypatch.setattr(ngram_vocabulary, "MAX_NGRAMS", 1500)
    monkeypatch.setattr(key_counts, "store_run", lambda run, *args: stored.append(len(run[0])) or store_run(run, *args))
    expected = count_substrings(random_lines, 4, 3)
    assert len(count_substrings(random_lines, 4)) > 15000  # of all lengths together
    ngrams = frequent_ngrams(encode(*random_lines), max_n=4, min_count=3)
    assert counts_of(ngrams) == expected
    assert len(stored) > 24
    assert max(stored) <= 1500


def test_rarer_ngrams_are_left_out_where_memory_is_short(random_lines, monkeypatch):
    """Every n-gram more frequent than those left out is there, with the right count."""
    monkeypatch.setattr(ngram_vocabulary, "MAX_NGRAMS", 300)
    expected = count_substrings(random_lines, 4, 2)
    ngrams = counts_of(frequent_ngrams(encode(*random_lines), max_n=4, min_count=2))
    assert ngrams.items() <= expected.items()
    for n in (2, 3, 4):
        least = min(count for word, count in ngrams.items() if len(word) == n)
        assert {w for w in ngrams if len(w) == n} == {w for w, c in expected.items() if len(w) == n and c >= least}


@pytest.mark.parametrize("per_length", [(5,), (3, 20), (0, 7, 4), (10, 10, 10, 10)])
def test_the_most_frequent_of_each_length(random_lines, per_length):
    expected = count_substrings(random_lines, 4, 2)
    best = []
    for n in range(1, 5):
        words = sorted((w for w in expected if len(w) == n), key=lambda word: (-expected[word], word))
        best += words[: per_length[min(n, len(per_length)) - 1]]
    ngrams = frequent_ngrams(encode(*random_lines), max_n=4, min_count=2, per_length=per_length)
    assert counts_of(ngrams) == {word: expected[word] for word in best}
    overall = frequent_ngrams(encode(*random_lines), max_n=4, min_count=2, per_length=per_length, max_vocab=9)
    assert list(overall.vocabulary.words) == sorted(best, key=lambda word: (-expected[word], word))[:9]


def test_ngrams_cross_lines_only_on_request_and_documents_never():
    encoded = encode("ab", "cd", "", "ef")
    assert "bc" not in frequent_ngrams(encoded, min_count=1).vocabulary
    with Corpus(["ab\ncd", "ef"], tokenizer="codepoints").encode() as encoded:
        ngrams = frequent_ngrams(encoded, min_count=1, cross_lines=True).vocabulary
        assert "abcd" in ngrams
        assert "de" not in ngrams


def test_the_table_finds_what_was_counts_of(random_lines):
    encoded = encode(*random_lines)
    ngrams = frequent_ngrams(encoded, min_count=3, per_length=(20, 100))
    counts = np.zeros(len(ngrams.vocabulary), np.int64)
    for begin, end in zip(encoded.sentences[:-1], encoded.sentences[1:], strict=True):
        matches = np.zeros((end - begin, ngrams.trie.longest), np.int32)
        find_all_ngrams(ngrams.trie, np.array(encoded.ids[begin:end]), matches)
        counts += np.bincount(matches[matches >= 0], minlength=len(counts))
    np.testing.assert_array_equal(counts, ngrams.vocabulary.counts)


def test_ngrams_with_the_same_spelling_are_merged():
    """Without normalisation, a capital I with a dot is two code points in lower case, the same as an i and a dot."""
    encoded = encode("\u0130x i\u0307x", normalize="none")
    ngrams = frequent_ngrams(encoded, min_count=1)
    assert counts_of(ngrams)["i\u0307x"] == 2
    matches = np.zeros((len(encoded.ids), ngrams.trie.longest), np.int32)
    find_all_ngrams(ngrams.trie, np.array(encoded.ids), matches)
    index = ngrams.vocabulary.index("i\u0307x")
    assert (matches[0, 1], matches[3, 2]) == (index, index)


def test_words_are_joined_by_underscores():
    with Corpus([["new", "york", "a"], ["new", "york", "b"]]).encode() as encoded:
        assert counts_of(frequent_ngrams(encoded, min_count=2)) == {"new": 2, "york": 2, "new_york": 2}


@pytest.mark.parametrize("text", ["abc", " \t ", "\0"])
def test_text_without_frequent_ngrams(text):
    with pytest.raises(CorpusError, match="no n-gram occurs 2 times"):
        frequent_ngrams(encode(text), min_count=2)
