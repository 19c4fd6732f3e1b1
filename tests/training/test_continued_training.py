"""Continued training: the vocabulary grows, counts are added, and old rows keep their values."""

import numpy as np
import pytest
from interrupted_runs import SMALL, interrupted_after, learn, never_read, table_bytes

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, FormatError, SettingError
from embeddings.models.table import Table
from embeddings.training.continued_training import checked_table, extend_vocabulary

OLD = [["a", "b", "c", "d"], ["a", "b", "e", "f"], ["a", "c"]] * 20
NEW = [["a", "x", "b", "y"], ["x", "c", "y"], ["z"]] * 30
FROZEN = {"learning_rate": 1e-30}
CONFIGURATIONS = [
    ("skipgram", {}),
    ("cbow", {}),
    ("structured-skipgram", {"window": 2}),
    ("directional-skipgram", {}),
    ("continuous-window", {"window": 2}),
    ("fasttext", {"buckets": 40}),
    ("fasttext", {"architecture": "cbow", "position_weights": True}),
    ("paragraph-dbow", {}),
    pytest.param("paragraph-dbow", {"train_words": True}, marks=pytest.mark.slow),
    ("paragraph-dm", {}),
    pytest.param("paragraph-dm", {"combine": "concat", "window": 2}, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("trainer", "settings"), CONFIGURATIONS, ids=str)
def test_all_tables_are_continued(trainer, settings):
    model = learn(trainer, em.Corpus(OLD), settings)
    continued = em.continue_training(model, em.Corpus(NEW), threads=1, **FROZEN)
    words = model.vectors.words
    assert set(continued.vectors.words) == {*words, "x", "y", "z"}
    rows = [continued.vectors.index(word) for word in words]
    assert rows != list(range(len(words)))
    for name, table in {"vectors": model.vectors.matrix, **model.tables}.items():
        new = continued.vectors.matrix if name == "vectors" else continued.tables[name]
        if name == "documents":
            assert len(new) == len(NEW)
            continue
        new = new if name in ("ngrams", "positions", "nothing") else new[rows]
        np.testing.assert_allclose(new, table, atol=1e-6, err_msg=name)
    assert continued.record["notes"][0].startswith("6 words continue")


def test_counts_are_added():
    model = learn("cbow", em.Corpus(OLD), {})
    continued = em.continue_training(model, em.Corpus(NEW), threads=1, **FROZEN)
    counts = dict(zip(continued.vocabulary.words, continued.vocabulary.counts.tolist(), strict=True))
    assert counts == {"a": 90, "b": 70, "c": 70, "d": 20, "e": 20, "f": 20, "x": 60, "y": 60, "z": 30}
    assert continued.vocabulary.total == 10 * 20 + 8 * 30
    assert continued.vectors.counts.tolist() == sorted(counts.values(), reverse=True)


def test_words_missing_from_the_new_text_keep_their_vectors():
    model = learn("skipgram", em.Corpus(OLD), {"subsample": 0.0})
    continued = em.continue_training(model, em.Corpus(NEW), threads=1, epochs=20, learning_rate=0.1)
    for word in "def":
        assert continued.vectors[word].tobytes() == model.vectors[word].tobytes()
    for word in "abc":
        assert not np.allclose(continued.vectors[word], model.vectors[word])
    frozen = em.continue_training(model, em.Corpus(NEW), threads=1, **FROZEN)
    assert not np.allclose(continued.vectors["x"], frozen.vectors["x"])


def test_extended_vocabulary():
    old, new = Vocabulary(["a", "b"], [9, 1], total=12), Vocabulary(["c", "d", "b", "e"], [5, 4, 3, 1])
    extended = extend_vocabulary(old, new, min_count=2, max_vocab=None)
    assert list(zip(extended.words, extended.counts.tolist(), strict=True)) == [("a", 9), ("c", 5), ("b", 4), ("d", 4)]
    assert extended.total == 12 + 13
    assert list(extend_vocabulary(old, new, min_count=2, max_vocab=3).words) == ["a", "c", "b"]
    assert list(extend_vocabulary(old, new, min_count=9, max_vocab=2).words) == ["a", "b"]


def test_fasttext_file(tmp_path):
    model = learn("fasttext", em.Corpus(OLD), {"buckets": 40})
    model.export(tmp_path / "m.bin", "fasttext")
    loaded = em.load_model(tmp_path / "m.bin")
    continued = em.continue_training(loaded, em.Corpus(NEW), threads=1, **FROZEN)
    np.testing.assert_allclose(continued.tables["ngrams"], model.tables["ngrams"], atol=1e-6)
    np.testing.assert_allclose(continued.vectors["f"], model.vectors["f"], atol=1e-6)


def test_continued_run_is_resumed(tmp_path):
    model, checkpoints = learn("cbow", em.Corpus(OLD), {}), em.Checkpoints(tmp_path / "c")
    whole = em.continue_training(model, em.Corpus(NEW), threads=1)
    with interrupted_after(2), pytest.raises(em.training.Interrupted):
        em.continue_training(model, em.Corpus(NEW), threads=1, checkpoints=checkpoints)
    other = learn("cbow", em.Corpus(OLD), {"learning_rate": 0.9})
    with pytest.raises(em.EmbeddingsError, match="continued"):
        em.continue_training(
            other, em.Corpus(NEW), threads=1, learning_rate=0.075, checkpoints=checkpoints, resume=True
        )
    continued = em.continue_training(model, em.Corpus(NEW), threads=1, checkpoints=checkpoints, resume=True)
    assert table_bytes(continued) == table_bytes(whole)


@pytest.mark.parametrize(
    ("changes", "text", "error", "message"),
    [
        ({"dim": 9}, em.Corpus(never_read()), SettingError, r"dim must be 8.*got 9"),
        ({"max_vocab": 1}, em.Corpus(never_read()), SettingError, "max_vocab.*got 1"),
        ({}, em.Corpus(never_read(), case="keep"), SettingError, r"case must be 'lower'.*'keep'"),
        ({}, em.Corpus(never_read(), tokenizer="whitespace"), SettingError, r"tokenizer must be 'words'"),
        ({}, em.Corpus(NEW, vocabulary=Vocabulary(["a"], [1])), SettingError, "vocabulary"),
        ({"init": em.InitFrom("v")}, em.Corpus(NEW), SettingError, "init"),
        ({"window": 3}, em.Corpus(NEW), FormatError, r"'output'.*6, 8.*6, 4, 8"),
    ],
)  # fmt: skip
def test_unsuitable_settings_and_text(changes, text, error, message):
    model = learn("structured-skipgram", em.Corpus(OLD), {"window": 2})
    with pytest.raises(error, match=message):
        em.continue_training(model, text, threads=1, **changes)


def test_models_that_cannot_be_continued():
    skipgram = learn("skipgram", em.Corpus(OLD), {})
    with pytest.raises(SettingError, match=r"skipgram.*cbow"):
        em.train("cbow", em.Corpus(NEW), continued=skipgram, **SMALL)
    with pytest.raises(SettingError, match=r"skipgram.*tensor-indexing"):
        em.train("tensor-indexing", em.Corpus(NEW), continued=skipgram, min_phrases=0, **SMALL)
    bare = em.Model("skipgram", vectors=skipgram.vectors, vocabulary=skipgram.vocabulary, settings=skipgram.settings)
    with pytest.raises(FormatError, match="'output'"):
        em.continue_training(bare, em.Corpus(NEW), threads=1)


def test_text_of_new_words_only():
    model = learn("skipgram", em.Corpus(OLD), {})
    continued = em.continue_training(model, em.Corpus([["p", "q"]] * 9), threads=1)
    assert continued.vectors["a"].tobytes() == model.vectors["a"].tobytes()
    with pytest.raises(CorpusError, match="no word"):
        em.continue_training(model, em.Corpus([["p", "q"]]), threads=1, min_count=5)


def test_rows_must_fit():
    declared, saved = Table(rows=4, dim=3, axis="words"), np.ones((5, 3), np.float32)
    model = learn("skipgram", em.Corpus(OLD), {})
    with pytest.raises(FormatError, match=r"'x'.*\(4, 3\).*\(5, 3\)"):
        checked_table(model, "x", saved, (4, 3))
    for wrong in (saved.astype(np.int32), saved[:, :2], saved[:, :, np.newaxis], None):
        with pytest.raises(FormatError, match="'x'"):
            checked_table(model, "x", wrong, (5, 3))
    table = declared.allocate(1)
    assert checked_table(model, "x", saved, (5, 3)) is saved
    declared.set_rows(table, np.array([0, 2]), saved[[1, 4]])
    assert table.sum(axis=1).tolist() == [3, 0, 3, 0]
    assert not table[:, 3:].any()


TOWNS = em.corpora.PhraseList([("new", "york"), ("old", "town")])


@pytest.mark.parametrize("mode", ["replace", "alternate"])
def test_phrases_of_the_model_are_joined_in_the_new_text(tmp_path, mode):
    first = em.Corpus(["new york is an old town"] * 30, phrases=TOWNS, joiner="+", phrase_mode=mode)
    model = learn("skipgram", first, {})
    model.save(tmp_path / "m")
    continued = em.continue_training(em.load_model(tmp_path / "m"), ["new york grows"] * 30, threads=1)
    assert {"new+york", "old+town", "grows"} <= set(continued.vectors.words)
    assert ("york" in continued.vectors.words) == (mode == "alternate")
    assert continued.vocabulary.counts[continued.vocabulary.index("new+york")] == 60 // (1 + (mode == "alternate"))
    assert [row["words"] for row in continued.phrases.to_pylist()] == [["new", "york"], ["old", "town"]]
    assert continued.record["text"]["phrases"]["mode"] == mode
    third = em.continue_training(continued, ["an old town"] * 30, threads=1)
    assert third.vocabulary.counts[third.vocabulary.index("old+town")] == 60 // (1 + (mode == "alternate"))


def test_phrases_of_the_new_text_are_added():
    model = learn("skipgram", em.Corpus(["new york is old"] * 30, phrases=TOWNS), {})
    more = em.corpora.PhraseList([("big", "apple")])
    continued = em.continue_training(model, em.Corpus(["the big apple is old"] * 30, phrases=more), threads=1)
    assert [row["words"] for row in continued.phrases.to_pylist()] == [["new", "york"], ["big", "apple"]]
    with pytest.raises(SettingError, match=r"joiner must be '_'.*'\+'"):
        em.continue_training(model, em.Corpus(["big apple"] * 30, phrases=more, joiner="+"), threads=1)
    with pytest.raises(SettingError, match="requires phrases"):
        em.continue_training(model, em.Corpus(["is old"] * 30), threads=1)
