"""Corpora with a fixed vocabulary: its words, its counts, its order."""

import tempfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import embeddings as em
from embeddings.corpora import Corpus
from embeddings.corpora.corpus_cache import new_folder
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.remapping import find_unknown_rows, remap_to_rows, row_number
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, FormatError, SettingError

WORDS = st.sampled_from("abcdefg")


@pytest.fixture
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
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FormatError, match=r"missing \(vocabulary\) cannot be read"):
        Corpus(["a"], vocabulary=Path(tempfile.gettempdir()) / "missing")


TEXT = [*["the king rules the land", "the queen rules the land"] * 5, "an emu sees Zeppelin", "the yak"]
SMALL = {"dim": 6, "min_count": 5, "subsample": 0, "epochs": 2, "threads": 1}


def with_rows(lines, min_count, rows):
    encoded = em.Corpus(lines, tokenizer="whitespace").encode()
    with new_folder(None) as folder:
        remap_to_rows(encoded, encoded.select(min_count=min_count), rows, folder)
    return encoded, EncodedCorpus(folder, temporary=True)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), min_size=1, max_size=8),
    st.integers(1, 3),
    st.integers(2, 4),
)
def test_rare_words_become_rows(lines, rows, min_count):
    lines = [*lines, ["a"] * 4]
    tokens = [token for line in lines for token in line]
    counts = {word: tokens.count(word) for word in tokens}
    name = (lambda word: f"<unk-{zlib.crc32(word.encode()) % rows}/{rows}>") if rows > 1 else lambda word: "<unk>"
    expected = [token if counts[token] >= min_count else name(token) for token in tokens]
    names = ["<unk>"] if rows == 1 else [f"<unk-{row}/{rows}>" for row in range(rows)]
    if any(one not in expected for one in names):
        with pytest.raises(CorpusError, match=r"min_count|unknown_rows"):
            with_rows(lines, min_count, rows)
        return
    old, encoded = with_rows(lines, min_count, rows)
    vocabulary = encoded.vocabulary
    assert [vocabulary.words[row] for row in encoded.ids.tolist()] == expected
    assert dict(zip(vocabulary.words, vocabulary.counts.tolist(), strict=True)) == {
        word: expected.count(word) for word in expected
    }
    assert (vocabulary.tokens, vocabulary.total, encoded.fingerprint) == (len(tokens), len(tokens), old.fingerprint)
    assert find_unknown_rows(vocabulary.words) == names


def test_hashed_rows_come_before_a_word_of_the_text():
    words = ["the", "<unk>", "<unk-1/2>", "<unk-0/2>", "<unk-x/2>"]
    assert find_unknown_rows(words) == ["<unk-0/2>", "<unk-1/2>"]
    assert find_unknown_rows(words[:2]) == ["<unk>"]
    assert find_unknown_rows(["the"]) is None
    assert row_number("\ud800", 3) in range(3)


def test_the_word_of_the_text_and_lost_tokens_count_as_unknown():
    _, encoded = with_rows([["<unk>"] * 3 + ["a"] * 3 + ["b"]], 2, 1)
    assert encoded.vocabulary.words == ["<unk>", "a"]
    assert encoded.vocabulary.counts.tolist() == [4, 3]
    vocabulary = em.corpora.Vocabulary.from_counts({"the": 9})
    model = em.train("skipgram", em.Corpus(TEXT, vocabulary=vocabulary), **SMALL | {"min_count": 1}, unknown_rows=1)
    assert dict(zip(model.vocabulary.words, model.vocabulary.counts.tolist(), strict=True)) == {"<unk>": 35, "the": 9}
    with pytest.raises(CorpusError, match="unknown_rows=1"):
        em.train("skipgram", em.Corpus(TEXT, vocabulary=vocabulary), **SMALL, unknown_rows=2)
    with pytest.raises(CorpusError, match="raise min_count"):
        em.train("skipgram", TEXT, **SMALL | {"min_count": 1}, unknown_rows=1)
    with pytest.raises(CorpusError, match="fewer unknown_rows"):
        em.train("skipgram", TEXT, **SMALL, unknown_rows=50)


@pytest.mark.parametrize("trainer", ["skipgram", "glove"])
def test_every_trainer_of_windows_learns_the_rows(trainer):
    names = SMALL if trainer != "glove" else {name: SMALL[name] for name in SMALL if name != "subsample"}
    corpus = em.Corpus(TEXT)
    model = em.train(trainer, corpus, **names, unknown_rows=2)
    assert {"<unk-0/2>", "<unk-1/2>", "the", "king"} < set(model.vocabulary.words)
    assert model.record["corpus"] == corpus.encode().fingerprint
    again = em.train(trainer, corpus, **{**names, "epochs": 4}, unknown_rows=2)
    for name in ("<unk-0/2>", "<unk-1/2>"):
        assert not np.array_equal(model.vectors[name], again.vectors[name])


def test_rows_survive_files_and_are_used_when_asked_for(tmp_path):
    model = em.train("skipgram", TEXT, **SMALL, unknown_rows=2)
    row = model.vectors[f"<unk-{zlib.crc32(b'zebra') % 2}/2>"]
    model.save(tmp_path / "model")
    files = [tmp_path / name for name in ("v.txt", "v.bin", "v.npz", "v.parquet", "v.safetensors")]
    sources = [model.vectors, em.load_model(tmp_path / "model").vectors]
    for path in files:
        try:
            model.vectors.save(path)
        except em.EmbeddingsError:
            continue
        sources.append(em.load(path))
    assert len(sources) >= 5
    for vectors in sources:
        assert "zebra" not in vectors
        assert not em.lookup(vectors, ["zebra"]).any()
        assert em.lookup(vectors, ["zebra", "king"], "unknown") == pytest.approx(np.array([row, model.vectors["king"]]))
        learned = vectors.with_unknown_rows()
        assert learned["zebra"] == pytest.approx(row)
        assert learned["king"] == pytest.approx(model.vectors["king"])
    assert np.array_equal(em.lookup(model, ["ZEBRA"], "unknown")[0], row)  # the text was in lower case
    words = [word for word in model.vectors.words if word != "<unk-1/2>"]
    with pytest.raises(SettingError, match="1 of 2 rows"):
        em.lookup(model.vectors.subset(words), ["zebra"], "unknown")
    with pytest.raises(SettingError, match="unknown_rows"):
        model.vectors.subset(["king"]).with_unknown_rows()


def test_continued_training_counts_new_rare_words():
    model = em.train("skipgram", TEXT, **SMALL, unknown_rows=2)
    more = em.continue_training(model, ["the ox ox ox ox ox sees the gnu"], threads=1)
    before, after = (
        dict(zip(one.vocabulary.words, one.vocabulary.counts.tolist(), strict=True)) for one in (model, more)
    )
    assert (after["ox"], after["the"]) == (5, before["the"] + 2)
    added = [zlib.crc32(word.encode()) % 2 for word in ("sees", "gnu")]
    for row in (0, 1):
        assert after[f"<unk-{row}/2>"] == before[f"<unk-{row}/2>"] + added.count(row)
    with pytest.raises(SettingError, match="unknown_rows must be 2"):
        em.continue_training(model, ["the ox"], unknown_rows=1)
