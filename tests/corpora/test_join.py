"""Joined corpora: equal to the reference, complete in every respect, cached like any other."""

import json
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import check, decoded, encode, joined
from naive_phrases import alternated, join_sentences

import embeddings as em
from embeddings.corpora import EncodedCorpus
from embeddings.corpora.phrases import Phrase, PhraseList, Phrases, join
from embeddings.corpora.remapping import remap
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError

WORDS = st.sampled_from("aabbcdef")
SENTENCES = st.lists(st.lists(WORDS, max_size=14), min_size=1, max_size=10)
PHRASES = st.lists(
    st.tuples(st.lists(st.sampled_from("abcx"), min_size=2, max_size=4), st.integers(1, 3)), min_size=1, max_size=8
)


def to_phrase_list(phrases):
    return PhraseList(Phrase(tuple(words), step=step) for words, step in phrases)


def steps_of(listed):
    return [{phrase.words for phrase in listed if phrase.step == step} for step in (1, 2, 3)]


@settings(deadline=None, max_examples=60)
@given(
    sentences=SENTENCES,
    phrases=PHRASES,
    mode=st.sampled_from(["replace", "alternate"]),
    block=st.sampled_from([1, 1 << 20]),
)
def test_phrases_are_joined_like_the_reference(sentences, phrases, mode, block):
    sentences, listed = [*sentences, ["a", "b", "c"]], to_phrase_list([*phrases, (["f", "a"], 1)])
    with pytest.MonkeyPatch.context() as patch, encode(sentences) as encoded:
        patch.setattr(join, "BLOCK", block)
        if "f" not in encoded.vocabulary:
            listed = PhraseList([*listed, ("a", "b", "c", "a")])
        tokens = join_sentences(sentences, steps_of(listed))
        tokens = alternated(tokens) if mode == "alternate" else tokens
        expected = [["_".join(token) for token in line] for line in tokens]
        with joined(encoded, listed, mode=mode) as result:
            check(result, expected, encoded.documents.tolist())
            assert result.meta["tokens"] == result.vocabulary.total == result.meta["known_tokens"] == len(result.ids)
            assert result.meta["phrases"]["occurrences"] == sum(len(token) > 1 for line in tokens for token in line)
            assert result.fingerprint != encoded.fingerprint or expected == sentences


@pytest.mark.parametrize("length", [join.MAX_RUN - 1, join.MAX_RUN, 3 * join.MAX_RUN + 1])
def test_a_line_longer_than_a_block_is_joined(length, monkeypatch):
    monkeypatch.setattr(join, "BLOCK", 1)
    words = np.random.default_rng(1).choice(list("abcd"), length).tolist()
    with encode([words, ["a", "b"]]) as encoded, joined(encoded, PhraseList([("a", "b"), ("b", "c", "c")])) as result:
        # a, b and c stand in phrases, d ends a run
        steps = [{("a", "b"), ("b", "c", "c")}]
        assert decoded(result) == [
            ["_".join(token) for token in tokens] for tokens in join_sentences([words, ["a", "b"]], steps)
        ]


def test_a_long_run_is_split(monkeypatch):
    length = 2 * join.MAX_RUN + 10
    with encode([["a"] * length]) as encoded, joined(encoded, PhraseList([("a", "a", "a")])) as result:
        text = " ".join(decoded(result)[0])
    assert text.replace("_", " ").split() == ["a"] * length
    assert len(text.split()) - (length - 1) // 3 <= 4


def test_documents_tags_and_unknown_words_are_kept(tmp_path):
    rows = [{"text": f"new york {i % 3}\nthe new york times", "id": f"t{i}"} for i in range(9)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    shape = {"text_column": "text", "tag_column": "id"}
    with encode(tmp_path / "rows.jsonl", **shape) as encoded, tempfile.TemporaryDirectory() as folder:
        result = joined(encoded, PhraseList([("new", "york"), ("no", "where")]))
        assert result.tags.to_pylist() == [f"t{i}" for i in range(9)]
        assert result.documents.tolist() == encoded.documents.tolist()
        assert decoded(result)[:2] == [["new_york", "0"], ["the", "new_york", "times"]]
        assert result.meta["phrases"]["known"] == 1
        result.close()
        remap(encoded, Vocabulary(["york", "new", "the"], [3, 2, 1]), Path(folder))
        result = joined(EncodedCorpus(Path(folder)), PhraseList([("new", "york")]))
        assert list(result.vocabulary.words) == ["new_york", "the"]
        assert result.ids[:5].tolist() == [0, 2, 1, 0, 2]
        assert (result.vocabulary.total, result.vocabulary.tokens) == (45, 27)
        result.close()


def test_the_undercount_of_phrases_is_reported():
    """Each missing occurrence of a phrase lacks one of its words."""
    words = [f"w{i}" for i in np.random.default_rng(1).integers(0, 60, 400)]
    with encode([["a", "b"] * 60 + words + ["a", "b"]], max_types=20) as encoded:
        assert encoded.max_undercount > 0
        with joined(encoded, PhraseList([("a", "b")])) as result:
            assert result.max_undercount == 2 * encoded.max_undercount
            assert result.vocabulary.counts[result.vocabulary.index("a_b")] + result.max_undercount >= 61


def test_a_phrase_spelled_like_a_word_is_one_type_with_it():
    sentences = [["a_b", "a", "b", "c"], ["a_b"]]
    with encode(sentences) as encoded, joined(encoded, PhraseList([("a", "b")])) as result:
        check(result, [["a_b", "a_b", "c"], ["a_b"]])


def test_corpora_with_phrases_are_cached_by_their_phrases(tmp_path, monkeypatch):
    monkeypatch.setenv("EMBEDDINGS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "text").write_text("New York is far\nnew york\n")
    (tmp_path / "list").write_text("New York\n")
    corpus = em.Corpus(tmp_path / "text", phrases=tmp_path / "list")
    result = corpus.encode()
    assert decoded(result) == [["new_york", "is", "far"], ["new_york"]]
    assert result.finalizer is None
    assert (
        result.folder
        == corpus.encode().folder
        == em.Corpus(tmp_path / "text", phrases=tmp_path / "list").encode().folder
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
    assert len(folders | {result.folder}) == 8
    assert [path.name for path in (tmp_path / "cache" / "corpora").iterdir() if path.name.startswith(".")] == []


def test_missing_phrases_are_refused_and_an_empty_list_is_not(tmp_path):
    with encode([["a", "b"]]) as encoded:
        with pytest.raises(CorpusError, match="none of 1 phrases has all its words in the corpus"):
            joined(encoded, PhraseList([("a", "x")]))
        with joined(encoded, Phrases().find(encoded)) as result:
            assert decoded(result) == [["a", "b"]]


def test_invalid_ids_are_unknown_words(tmp_path):
    with encode([["a", "b", "a", "b"]]) as encoded:
        ids = np.load(encoded.folder / "ids.npy")
        ids[1:3] = [1 << 30, -7]
        np.save(encoded.folder / "ids.npy", ids)
        broken = EncodedCorpus(encoded.folder, is_new=True)
        assert len(Phrases(scoring="count", min_count=1).find(broken)) == 0
        with joined(broken, PhraseList([("a", "b")])) as result:
            assert decoded_known(result) == [["a", None, None, "b"]]
        broken.close()


def decoded_known(encoded):
    words = [*encoded.vocabulary.words, None]
    tokens = [words[i] for i in encoded.ids.tolist()]
    return [tokens[start:end] for start, end in pairwise(encoded.sentences.tolist())]
