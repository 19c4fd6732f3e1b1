"""Subword n-grams and hashes equal fastText's published values, a naive implementation, and gensim's."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from optional_libraries import needs_gensim
from subword_models import naive_hash, naive_ngrams

from embeddings.errors import SettingError
from embeddings.kernels.subword_rows import hash_words
from embeddings.vectors.subwords import (
    FASTTEXT_BUCKETS,
    bucket_count,
    concatenate_bytes,
    ngram_hashes,
    subwords,
    to_bytes,
)


def buckets_of(word, **lengths):
    offsets, buckets = subwords([word], **lengths)
    assert offsets.tolist() == [0, len(buckets)]
    return buckets.tolist()


def fnv1a(words):
    """The hash of each whole text, without boundaries."""
    text, starts = concatenate_bytes([to_bytes(word) for word in words])
    hashes = np.empty(len(words), np.uint32)
    hash_words(text, starts, hashes)
    return hashes


def test_hashes_equal_fasttext_with_signed_bytes():
    hashes = {"команда": 1725507386, "北海道": 4096045468, "札幌": 3909947444, "mysterious": 1903186891}
    assert fnv1a(list(hashes)).tolist() == list(hashes.values())
    assert fnv1a([]).tolist() == []
    assert fnv1a([""]).tolist() == [2166136261]


def test_buckets_of_a_word_equal_fasttext():
    buckets = buckets_of("where", min_n=3, max_n=6, buckets=2_000_000)
    ngrams = naive_ngrams(b"where", 3, 6)
    assert len(buckets) == 14
    by_ngram = dict(zip(ngrams, buckets, strict=True))
    assert (by_ngram[b"<wh"], by_ngram[b"<whe"], by_ngram[b"whe"]) == (167652, 989715, 420941)


def test_the_end_of_line_token_has_no_ngrams():
    assert buckets_of("</s>", min_n=1, max_n=6, buckets=10) == [] == buckets_of(b"</s>", min_n=1, max_n=6, buckets=10)
    assert len(buckets_of("</s", min_n=1, max_n=6, buckets=10)) > 0


def test_no_ngrams_and_no_words():
    offsets, buckets = subwords(["one", "two"], min_n=3, max_n=0, buckets=0)
    assert offsets.tolist() == [0, 0, 0]
    assert buckets.tolist() == []
    assert subwords([], min_n=3, max_n=6, buckets=1)[0].tolist() == [0]


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


@example(list(ODD.values()), 1, 5, 997)
@example(list(ODD.values()), 100, 0, 997)
@given(st.lists(st.text() | st.binary()), st.integers(0, 4), st.integers(0, 5), st.integers(1, 2**31 - 1))
def test_any_words_equal_the_naive_implementation(words, min_n, more, buckets):
    max_n = min_n + more
    offsets, rows = subwords(words, min_n=min_n, max_n=max_n, buckets=buckets)
    for i, word in enumerate(words):
        data = word if isinstance(word, bytes) else word.encode()
        expected = [naive_hash(ngram) % buckets for ngram in naive_ngrams(data, min_n, max_n)]
        assert rows[offsets[i] : offsets[i + 1]].tolist() == expected


@needs_gensim
@pytest.mark.golden
@given(st.text(min_size=1), st.integers(1, 4), st.integers(0, 4))
def test_ngrams_equal_gensim(word, min_n, more):
    from gensim.models.fasttext_inner import compute_ngrams_bytes, ft_hash_bytes

    try:
        data = word.encode()
    except UnicodeEncodeError:
        return
    expected = [ft_hash_bytes(ngram) for ngram in compute_ngrams_bytes(word, min_n, min_n + more)]
    assert fnv1a([word]).tolist() == [ft_hash_bytes(data)]
    assert sorted(ngram_hashes([word], min_n, min_n + more)[1].tolist()) == sorted(expected)


def test_surrogate_escapes_are_hashed_as_their_bytes():
    assert fnv1a([b"a\xff".decode("utf-8", "surrogateescape")]).tolist() == fnv1a([b"a\xff"]).tolist()
    assert fnv1a(["\ud800"]).tolist() == [naive_hash("\ud800".encode("utf-8", "surrogatepass"))]


def test_default_buckets_is_the_number_of_used_buckets():
    words = ["".join(chr(97 + (i // 26**k) % 26) for k in range(4)) for i in range(5000)]
    ngrams = {ngram for word in words for ngram in naive_ngrams(word.encode(), 3, 6)}
    used = {naive_hash(ngram) % FASTTEXT_BUCKETS for ngram in ngrams}
    settings = SimpleNamespace(max_n=6, buckets=None)
    assert bucket_count(settings, None, "ngrams", ngram_hashes(words, 3, 6)[1]) == len(used) <= len(ngrams)
    assert bucket_count(settings, None, "ngrams", ngram_hashes([], 3, 6)[1]) == 1


INVALID = {
    "reversed": ({"min_n": 4, "max_n": 3, "buckets": 10}, r"min_n.*3.*got 4"),
    "negative": ({"min_n": -1, "max_n": 3, "buckets": 10}, r"min_n.*got -1"),
    "absurd": ({"min_n": 1, "max_n": 10**9, "buckets": 10}, r"max_n.*got 1000000000"),
    "none": ({"min_n": 3, "max_n": 6, "buckets": 0}, r"buckets.*got 0"),
    "too many": ({"min_n": 3, "max_n": 6, "buckets": 2**31}, r"buckets.*got 2147483648"),
}


@pytest.mark.parametrize(("lengths", "message"), INVALID.values(), ids=INVALID)
def test_invalid_settings_are_refused(lengths, message):
    with pytest.raises(SettingError, match=message):
        subwords(["word"], **lengths)
