"""N-grams and hashes are fastText's, exactly: its published values, an obvious twin, gensim's own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from subword_models import naive_hash, naive_ngrams

from embeddings.errors import SettingError
from embeddings.models.subwords import FASTTEXT_BUCKETS, default_buckets, fnv1a, ngram_hashes, subwords


def of(word, **lengths):
    offsets, buckets = subwords([word], **lengths)
    assert offsets.tolist() == [0, len(buckets)]
    return buckets.tolist()


def test_hashes_are_those_of_fasttext_where_bytes_have_a_sign():
    hashes = {"команда": 1725507386, "北海道": 4096045468, "札幌": 3909947444, "mysterious": 1903186891}
    assert fnv1a(list(hashes)).tolist() == list(hashes.values())
    assert fnv1a([]).tolist() == []
    assert fnv1a([""]).tolist() == [2166136261]


def test_buckets_of_where_are_those_of_fasttext():
    found = of("where", min_n=3, max_n=6, buckets=2_000_000)
    spelled = naive_ngrams(b"where", 3, 6)
    assert len(found) == 14
    by_spelling = dict(zip(spelled, found, strict=True))
    assert (by_spelling[b"<wh"], by_spelling[b"<whe"], by_spelling[b"whe"]) == (167652, 989715, 420941)


def test_a_word_no_longer_than_max_n_is_its_own_ngram():
    assert naive_hash(b"<the>") % 1000 in of("the", min_n=3, max_n=5, buckets=1000)
    assert naive_hash(b"<the>") % 1000 not in of("the", min_n=3, max_n=4, buckets=1000)


def test_boundaries_alone_are_no_ngrams():
    assert of("a", min_n=1, max_n=1, buckets=10**6) == [naive_hash(b"a") % 10**6]
    assert of("", min_n=1, max_n=1, buckets=10**6) == []
    assert of("", min_n=0, max_n=2, buckets=10**6) == [naive_hash(b"<>") % 10**6]


def test_the_end_of_a_line_has_none():
    assert of("</s>", min_n=1, max_n=6, buckets=10) == [] == of(b"</s>", min_n=1, max_n=6, buckets=10)
    assert len(of("</s", min_n=1, max_n=6, buckets=10)) > 0


def test_none_are_asked_for():
    offsets, buckets = subwords(["one", "two"], min_n=3, max_n=0, buckets=0)
    assert offsets.tolist() == [0, 0, 0]
    assert buckets.tolist() == []
    assert subwords([], min_n=3, max_n=6, buckets=1)[0].tolist() == [0]


def test_types_are_those_promised():
    offsets, buckets = subwords(["word"], min_n=3, max_n=6, buckets=2**31 - 1)
    assert (offsets.dtype, buckets.dtype) == (np.int64, np.int32)
    assert (buckets >= 0).all()


ODD = {
    "combining marks": "e\u0301\u0323" * 3,
    "only marks": "\u0301" * 7,
    "emoji": "👩\u200d👩\u200d👧🏽",
    "NUL": "a\0b\0",
    "boundary characters": "<<>>",
    "10,000 letters": "abcdefghij" * 1000,
    "10,000 marks": "\u0301" * 10_000,
    "white space": " \t\n",
    "lone bytes": b"\xff\xfe\x80\x81a\x80",
    "a cut character": "札".encode()[:2],
    "it begins in the middle": "札".encode()[1:] + b"a",
    "only lone bytes": b"\x80" * 50,
}


@pytest.mark.parametrize("word", ODD.values(), ids=ODD)
@pytest.mark.parametrize(("min_n", "max_n"), [(3, 6), (1, 2), (0, 1), (100, 100)])
def test_odd_words_are_the_twins(word, min_n, max_n):
    data = word if isinstance(word, bytes) else word.encode()
    expected = [naive_hash(ngram) % 997 for ngram in naive_ngrams(data, min_n, max_n)]
    assert of(word, min_n=min_n, max_n=max_n, buckets=997) == expected


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.text() | st.binary()), st.integers(0, 4), st.integers(0, 5), st.integers(1, 2**31 - 1))
def test_any_words_are_the_twins(words, min_n, more, buckets):
    max_n = min_n + more
    offsets, found = subwords(words, min_n=min_n, max_n=max_n, buckets=buckets)
    for i, word in enumerate(words):
        data = word if isinstance(word, bytes) else word.encode()
        expected = [naive_hash(ngram) % buckets for ngram in naive_ngrams(data, min_n, max_n)]
        assert found[offsets[i] : offsets[i + 1]].tolist() == expected


@pytest.mark.golden
@settings(deadline=None)  # the first call imports gensim
@given(st.text(min_size=1), st.integers(1, 4), st.integers(0, 4))
def test_ngrams_are_gensims(word, min_n, more):
    from gensim.models.fasttext_inner import compute_ngrams_bytes, ft_hash_bytes

    try:
        data = word.encode()
    except UnicodeEncodeError:
        return
    expected = [ft_hash_bytes(ngram) for ngram in compute_ngrams_bytes(word, min_n, min_n + more)]
    assert fnv1a([word]).tolist() == [ft_hash_bytes(data)]
    assert sorted(ngram_hashes([word], min_n, min_n + more)[1].tolist()) == sorted(expected)


def test_surrogates_are_the_bytes_they_stand_for():
    assert fnv1a([b"a\xff".decode("utf-8", "surrogateescape")]).tolist() == fnv1a([b"a\xff"]).tolist()
    assert fnv1a(["\ud800"]).tolist() == [naive_hash("\ud800".encode("utf-8", "surrogatepass"))]


def test_default_buckets_are_as_many_as_are_filled():
    words = ["".join(chr(97 + (i // 26**k) % 26) for k in range(4)) for i in range(5000)]
    ngrams = {ngram for word in words for ngram in naive_ngrams(word.encode(), 3, 6)}
    filled = {naive_hash(ngram) % FASTTEXT_BUCKETS for ngram in ngrams}
    assert default_buckets(ngram_hashes(words, 3, 6)[1]) == len(filled) <= len(ngrams)
    assert default_buckets(ngram_hashes([], 3, 6)[1]) == 1


WRONG = {
    "reversed": ({"min_n": 4, "max_n": 3, "buckets": 10}, "min_n must be from 0 to max_n, 3, not 4"),
    "negative": ({"min_n": -1, "max_n": 3, "buckets": 10}, "min_n must be .* not -1"),
    "absurd": ({"min_n": 1, "max_n": 10**9, "buckets": 10}, "max_n must be .* not 1000000000"),
    "none": ({"min_n": 3, "max_n": 6, "buckets": 0}, "buckets must be .* not 0"),
    "too many": ({"min_n": 3, "max_n": 6, "buckets": 2**31}, "buckets must be .* not 2147483648"),
}


@pytest.mark.parametrize(("lengths", "told"), WRONG.values(), ids=WRONG)
def test_wrong_settings_are_refused(lengths, told):
    with pytest.raises(SettingError, match=told):
        subwords(["word"], **lengths)
