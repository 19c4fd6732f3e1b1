"""Joined corpora: what the twin joins, whole in every respect, cached like any other."""

import json
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import check, decoded, encode
from naive_phrases import joined

import embeddings as em
from embeddings.corpora import EncodedCorpus
from embeddings.corpora.phrases import Phrase, PhraseList, Phrases, join, join_kernel
from embeddings.corpora.remapping import remap
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, FormatError, SettingError

WORDS = st.sampled_from("aabbcdef")
SENTENCES = st.lists(st.lists(WORDS, max_size=14), min_size=1, max_size=10)
PHRASES = st.lists(
    st.tuples(st.lists(st.sampled_from("abcx"), min_size=2, max_size=4), st.integers(1, 3)), min_size=1, max_size=8
)


def phrase_list(phrases):
    return PhraseList(Phrase(tuple(words), step=step) for words, step in phrases)


def steps_of(listed):
    return [{phrase.words for phrase in listed if phrase.step == step} for step in (1, 2, 3)]


def applied(encoded, listed, **settings):
    return listed.apply(encoded, **settings)


@settings(deadline=None, max_examples=80)
@given(sentences=SENTENCES, phrases=PHRASES, block=st.sampled_from([1, 1 << 20]))
def test_phrases_are_joined_as_the_twin_joins_them(sentences, phrases, block):
    sentences, listed = [*sentences, ["a", "b", "c"]], phrase_list([*phrases, (["f", "a"], 1)])
    expected = [["_".join(token) for token in tokens] for tokens in joined(sentences, steps_of(listed))]
    with pytest.MonkeyPatch.context() as patch, encode(sentences) as encoded:
        patch.setattr(join, "BLOCK", block)
        if "f" not in encoded.vocabulary:
            listed = PhraseList([*listed, ("a", "b", "c", "a")])
            expected = [["_".join(token) for token in tokens] for tokens in joined(sentences, steps_of(listed))]
        with applied(encoded, listed) as made:
            check(made, expected, encoded.documents.tolist())
            assert made.meta["tokens"] == made.vocabulary.total == made.meta["known_tokens"] == len(made.ids)
            assert made.fingerprint != encoded.fingerprint or expected == sentences


@settings(deadline=None, max_examples=60)
@given(sentences=SENTENCES, phrases=PHRASES, words=st.sampled_from(["replace", "alternate"]))
def test_split_again_it_is_the_corpus(sentences, phrases, words):
    """With sentences ending where they ended: no phrase reaches across."""
    sentences, listed = [*sentences, ["a", "b", "c"]], phrase_list([*phrases, (["a", "b", "c"], 1)])
    with encode(sentences) as encoded, applied(encoded, listed, mode=words, joiner="+") as made:
        assert [[part for token in tokens for part in token.split("+")] for tokens in decoded(made)] == sentences


def test_every_second_occurrence_stays_as_words():
    sentences = [["a", "b", "a", "b", "c"], ["a", "b"], ["b", "c"], ["a", "b", "b", "c"]]
    with encode(sentences) as encoded:
        made = PhraseList([("a", "b"), ("b", "c")]).apply(encoded, mode="alternate")
    assert decoded(made) == [["a_b", "a", "b", "c"], ["a_b"], ["b_c"], ["a", "b", "b", "c"]]
    assert made.meta["phrases"] == {
        "listed": 2, "known": 2, "occurrences": 3, "joiner": "_", "mode": "alternate"
    }  # fmt: skip
    made.close()


@pytest.mark.parametrize("length", [join_kernel.MAX_RUN - 1, join_kernel.MAX_RUN, 3 * join_kernel.MAX_RUN + 1])
def test_a_line_longer_than_a_block_is_joined_like_any_other(length, monkeypatch):
    monkeypatch.setattr(join, "BLOCK", 1)
    words = np.random.default_rng(1).choice(list("abcd"), length).tolist()
    with encode([words, ["a", "b"]]) as encoded, PhraseList([("a", "b"), ("b", "c", "c")]).apply(encoded) as made:
        # a, b and c stand in phrases, d ends a run
        steps = [{("a", "b"), ("b", "c", "c")}]
        assert decoded(made) == [["_".join(token) for token in tokens] for tokens in joined([words, ["a", "b"]], steps)]


def test_a_run_without_end_is_cut(monkeypatch):
    length = 2 * join_kernel.MAX_RUN + 10
    with encode([["a"] * length]) as encoded, PhraseList([("a", "a", "a")]).apply(encoded) as made:
        text = " ".join(decoded(made)[0])
    assert text.replace("_", " ").split() == ["a"] * length
    assert len(text.split()) - (length - 1) // 3 <= 4


def test_documents_tags_and_unknown_words_stay(tmp_path):
    rows = [{"text": f"new york {i % 3}\nthe new york times", "id": f"t{i}"} for i in range(9)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    shape = {"text_column": "text", "tag_column": "id"}
    with encode(tmp_path / "rows.jsonl", **shape) as encoded, tempfile.TemporaryDirectory() as folder:
        made = PhraseList([("new", "york"), ("no", "where")]).apply(encoded)
        assert made.tags.to_pylist() == [f"t{i}" for i in range(9)]
        assert made.documents.tolist() == encoded.documents.tolist()
        assert decoded(made)[:2] == [["new_york", "0"], ["the", "new_york", "times"]]
        assert made.meta["phrases"]["known"] == 1
        made.close()
        remap(encoded, Vocabulary(["york", "new", "the"], [3, 2, 1]), Path(folder))
        made = PhraseList([("new", "york")]).apply(EncodedCorpus(Path(folder)))
        assert list(made.vocabulary.words) == ["new_york", "the"]
        assert made.ids[:5].tolist() == [0, 2, 1, 0, 2]
        assert (made.vocabulary.total, made.vocabulary.tokens) == (45, 27)
        made.close()


def test_counts_that_may_be_low_are_told():
    """Each occurrence of a phrase that is missing lacks one of its words."""
    words = [f"w{i}" for i in np.random.default_rng(1).integers(0, 60, 400)]
    with encode([["a", "b"] * 60 + words + ["a", "b"]], max_types=20) as encoded:
        assert encoded.max_undercount > 0
        with PhraseList([("a", "b")]).apply(encoded) as made:
            assert made.max_undercount == 2 * encoded.max_undercount
            assert made.vocabulary.counts[made.vocabulary.index("a_b")] + made.max_undercount >= 61


def test_a_phrase_that_looks_like_a_word_is_one_with_it():
    sentences = [["a_b", "a", "b", "c"], ["a_b"]]
    with encode(sentences) as encoded, PhraseList([("a", "b")]).apply(encoded) as made:
        check(made, [["a_b", "a_b", "c"], ["a_b"]])


def test_phrases_of_a_corpus_are_cached_by_what_they_are(tmp_path, monkeypatch):
    monkeypatch.setenv("EMBEDDINGS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "text").write_text("New York is far\nnew york\n")
    (tmp_path / "list").write_text("New York\n")
    corpus = em.Corpus(tmp_path / "text", phrases=tmp_path / "list")
    made = corpus.encode()
    assert decoded(made) == [["new_york", "is", "far"], ["new_york"]]
    assert made.finalizer is None
    assert (
        made.folder == corpus.encode().folder == em.Corpus(tmp_path / "text", phrases=tmp_path / "list").encode().folder
    )
    folders = {
        em.Corpus(tmp_path / "text", **settings).encode().folder
        for settings in (
            {},
            {"phrases": tmp_path / "list", "joiner": "+"},
            {"phrases": tmp_path / "list", "phrase_mode": "alternate"},
            {"phrases": PhraseList([("is", "far")])},
            {"phrases": Phrases(threshold=1.0, min_count=1)},
            {"phrases": Phrases(threshold=1.5, min_count=1)},
            {"phrases": "auto"},
        )
    }
    assert len(folders | {made.folder}) == 8
    assert [path.name for path in (tmp_path / "cache" / "corpora").iterdir() if path.name.startswith(".")] == []


def test_what_is_not_cached_lasts_as_long_as_the_corpus(tmp_path):
    corpus = em.Corpus(iter(["new york", "new york"]), phrases=PhraseList([("new", "york")]))
    assert corpus.encode() is corpus.encode()
    folder = corpus.encode().folder
    corpus.encode().close()
    assert not folder.exists()


def test_trainers_learn_phrases_and_take_their_vocabulary(tmp_path):
    lines = [
        f"{a} new york {b}" for a in ("in", "from", "to", "old", "near") for b in ("is", "was", "cat", "on", "by", "a")
    ]
    corpus = em.Corpus(lines, phrases=Phrases(threshold=1.0, min_count=6, types="noun-noun,other"))
    model = em.SkipGram(dim=4, epochs=1, min_count=1).train(corpus, threads=1)
    assert "new_york" in model.vocabulary
    assert model.vocabulary.counts[model.vocabulary.index("new_york")] == 30
    given = em.Corpus(lines, phrases=PhraseList([("new", "york")]), vocabulary=Vocabulary(["new_york", "cat"], [9, 9]))
    assert list(em.SkipGram(dim=4, epochs=1).train(given, threads=1).vocabulary.words) == ["new_york", "cat"]


def test_a_corpus_without_phrases_is_told_or_left(tmp_path):
    with encode([["a", "b"]]) as encoded:
        with pytest.raises(CorpusError, match="none of 1 phrases has all its words in the corpus"):
            PhraseList([("a", "x")]).apply(encoded)
        with Phrases().find(encoded).apply(encoded) as made:
            assert decoded(made) == [["a", "b"]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"phrases": "auto", "joiner": "a"},
            "joiner must be marks that are neither letter, digit nor white space, not 'a'",
        ),
        (
            {"phrases": "auto", "joiner": ""},
            "joiner must be marks that are neither letter, digit nor white space, not ''",
        ),
        ({"phrases": "auto", "joiner": "\udcff"}, "joiner must be valid Unicode (UTF-8), not '\\udcff'"),
        ({"phrases": "auto", "phrase_mode": "keep"}, "phrase-words must be replace or alternate, not 'keep'"),
        ({"joiner": "+"}, "joiner and phrase-words say how phrases become tokens: name the phrases too"),
        ({"phrases": 7}, "phrases must be Phrases, a PhraseList, a file or 'auto', not 7"),
    ],
)
def test_settings_of_a_corpus_are_checked(given, message):
    with pytest.raises(SettingError) as error:
        em.Corpus(["a"], **given)
    assert str(error.value) == message


def test_broken_ids_are_words_that_nobody_knows(tmp_path):
    with encode([["a", "b", "a", "b"]]) as encoded:
        ids = np.load(encoded.folder / "ids.npy")
        ids[1:3] = [1 << 30, -7]
        np.save(encoded.folder / "ids.npy", ids)
        broken = EncodedCorpus(encoded.folder)
        assert len(Phrases(scoring="count", min_count=1).find(broken)) == 0
        with PhraseList([("a", "b")]).apply(broken) as made:
            assert decoded_known(made) == [["a", None, None, "b"]]
        broken.close()


def decoded_known(encoded):
    words = [*encoded.vocabulary.words, None]
    tokens = [words[i] for i in encoded.ids.tolist()]
    return [tokens[start:end] for start, end in pairwise(encoded.sentences.tolist())]


def test_a_missing_list_is_told(tmp_path):
    with pytest.raises(FormatError, match="cannot be read as a list of phrases: No such file"):
        em.Corpus(["a"], phrases=tmp_path / "missing")
