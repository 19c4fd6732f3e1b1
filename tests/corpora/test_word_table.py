"""Limited types: what is counted, what is missed, and that ids and counts agree."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import decoded, encode

from embeddings.corpora.tokenizers import characters
from embeddings.corpora.word_table import WordTable
from embeddings.errors import CorpusError

TOKENS = st.lists(st.sampled_from([f"w{i}" for i in range(12)] + ["w0", "w1"] * 6), min_size=1, max_size=120)


def naive(tokens, most):
    """Counts in plain Python: (met since it entered, missed before it at most) for each word, and the last median."""
    table, short = {}, 0
    for token in tokens:
        met, missed = table.get(token, (0, short))
        table[token] = (met + 1, missed)
        if len(table) > most:
            short = sorted(met + missed for met, missed in table.values())[len(table) // 2]
            table = {word: pair for word, pair in table.items() if sum(pair) > short}
    return {word: met for word, (met, _) in table.items()}, short


@settings(deadline=None, max_examples=80)
@given(
    tokens=TOKENS,
    most=st.integers(1, 14),
    size=st.sampled_from([1, 5, 33, 1 << 18]),
    kind=st.sampled_from(["file", "strings", "lists", "callable"]),
)
def test_counts_equal_the_reference_for_any_block_size(tokens, most, size, kind):
    expected, short = naive(tokens, most)
    settings = {"max_types": most, "block_size": size, "tokenizer": str.split if kind == "callable" else "words"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f")
        path.write_text("\n".join(tokens))
        source = {"strings": tokens, "lists": [[token] for token in tokens]}.get(kind, path)
        if not expected:
            with pytest.raises(CorpusError, match=rf"{len(tokens)} tokens.*max_types"):
                encode(source, **settings)
            return
        with encode(source, **settings) as encoded:
            vocabulary, ids = encoded.vocabulary, encoded.ids
            assert dict(zip(vocabulary.words, vocabulary.counts.tolist(), strict=True)) == expected
            assert encoded.max_undercount == short
            # an id is a word's place, or the number of words; each count is the number of its ids
            assert np.bincount(ids, minlength=len(vocabulary) + 1)[:-1].tolist() == vocabulary.counts.tolist()
            assert ids.max() <= len(vocabulary)
            assert all(
                vocabulary.words[i] == token for i, token in zip(ids, tokens, strict=True) if i < len(vocabulary)
            )
            assert encoded.sentences.tolist() == list(range(len(tokens) + 1))
            assert (vocabulary.total, encoded.meta["known_tokens"]) == (len(tokens), sum(expected.values()))
            check_bound(tokens, most, vocabulary, short)


@settings(deadline=None, max_examples=50)
@given(
    text=st.text(st.sampled_from("aaabbcdefgh\u0301\U0001f600 "), min_size=1, max_size=80),
    most=st.integers(1, 9),
    size=st.sampled_from([1, 5, 1 << 18]),
)
def test_a_token_that_starts_during_pruning_is_complete(text, most, size):
    """It is at the end of the arena while words before it are dropped."""
    tokens = characters(text)
    expected, short = naive(tokens, most)
    if expected:
        with encode([text], tokenizer="characters", normalize="none", max_types=most, block_size=size) as encoded:
            counts = encoded.vocabulary.counts.tolist()
            assert (dict(zip(encoded.vocabulary.words, counts, strict=True)), encoded.max_undercount) == (
                expected,
                short,
            )


def check_bound(tokens, most, vocabulary, short):
    """No count is too high, none too low by more than `short`, and `short` is at most 2 tokens in `most`."""
    counts = dict(zip(vocabulary.words, vocabulary.counts.tolist(), strict=True))
    for word, true in Counter(tokens).items():
        assert true - short <= counts.get(word, 0) <= true
    assert short <= 2 * len(tokens) / most


def test_a_limit_that_is_not_reached_changes_nothing(tmp_path):
    (tmp_path / "f").write_text("a b c a")
    with encode(tmp_path / "f", max_types=3) as small, encode(tmp_path / "f") as whole:
        assert small.max_undercount == whole.max_undercount == 0
        assert small.fingerprint == whole.fingerprint
        assert decoded(small) == decoded(whole)


@pytest.mark.parametrize(("max_types", "advice"), [(None, "; set max_types"), (100, "; raise max_types")])
def test_too_many_raw_ids(max_types, advice):
    table = WordTable(max_types)
    with pytest.raises(CorpusError, match=advice):
        table.reserve(2**31, 0)
