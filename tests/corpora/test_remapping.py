"""Corpora with a fixed vocabulary: its words, its counts, its order."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.corpora import Corpus
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, FormatError

WORDS = st.sampled_from("abcdefg")


@pytest.fixture(autouse=True)
def home(own_cache):
    """The cache's folder of encoded corpora, empty."""
    return own_cache / "corpora"


@settings(deadline=None, max_examples=60)
@given(
    lines=st.lists(st.lists(WORDS, max_size=6), min_size=1, max_size=8),
    counts=st.dictionaries(WORDS | st.sampled_from("xyz"), st.integers(0, 99), min_size=1, max_size=7),
    max_types=st.sampled_from([None, 3]),
)
def test_ids_are_rows_of_the_vocabulary(lines, counts, max_types):
    lines = [*lines, ["a", "a", "a"]]
    vocabulary = Vocabulary.from_counts({**counts, "a": 5})
    with Corpus(lines, vocabulary=vocabulary, max_types=max_types).encode() as encoded:
        words, ids = [*vocabulary.words, None], encoded.ids.tolist()
        tokens = [token for line in lines for token in line]
        for token, word in zip(tokens, (words[i] for i in ids), strict=True):
            assert word == (token if token in vocabulary else None) or (max_types and word is None)
        assert list(encoded.vocabulary.words) == list(vocabulary.words)
        assert encoded.vocabulary.counts.tolist() == vocabulary.counts.tolist()
        assert encoded.select(min_count=50, max_vocab=1) is encoded.vocabulary
        assert np.diff(encoded.sentences).tolist() == [len(line) for line in lines]
        assert encoded.documents.tolist() == list(range(len(lines) + 1))
        assert encoded.meta["known_tokens"] == sum(i < len(vocabulary) for i in ids)


def test_the_original_corpus_stays_cached(tmp_path, home):
    (tmp_path / "f").write_text("a b c a\n\nb z")
    Vocabulary.from_counts({"z": 9, "b": 3}).save(tmp_path / "v.arrow")
    corpus = Corpus(tmp_path / "f", vocabulary=tmp_path / "v.arrow")
    encoded = corpus.encode()
    assert encoded is corpus.encode()
    assert encoded.ids.tolist() == [2, 1, 2, 2, 1, 0]
    whole = Corpus(tmp_path / "f").encode()
    assert whole.ids.tolist() == [0, 1, 2, 0, 1, 3]
    assert whole.fingerprint != encoded.fingerprint
    encoded.close()
    assert [path.name for path in home.iterdir()] == [whole.folder.name]


def test_a_vocabulary_without_common_words_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(CorpusError, match=r"no word.* 2 .*vocabulary"):
        Corpus(["a b"], vocabulary=Vocabulary(["x", "y"], [2, 1])).encode()
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]
    with pytest.raises(FormatError, match="missing cannot be read"):
        Corpus(["a"], vocabulary=Path(tempfile.gettempdir()) / "missing")
