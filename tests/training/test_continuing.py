"""Going on with a model: the vocabulary grows, counts are added, what was known is where it was."""

import numpy as np
import pytest
from resuming import SMALL, arrays, interrupted_after, learn

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, FormatError, SettingError
from embeddings.kernels.row_operations import padded
from embeddings.training.continued_training import grown, put_rows

OLD = [["a", "b", "c", "d"], ["a", "b", "e", "f"], ["a", "c"]] * 20
NEW = [["a", "x", "b", "y"], ["x", "c", "y"], ["z"]] * 30
STILL = {"learning_rate": 1e-30}  # so that nothing moves
FORMS = [
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


@pytest.mark.parametrize(("trainer", "settings"), FORMS, ids=str)
def test_every_table_goes_on(trainer, settings):
    model = learn(trainer, em.Corpus(OLD), settings)
    again = em.continue_training(model, em.Corpus(NEW), threads=1, **STILL)
    words = model.vectors.words
    assert set(again.vectors.words) == {*words, "x", "y", "z"}
    places = [again.vectors.index(word) for word in words]
    assert places != list(range(len(words)))
    for name, table in {"vectors": model.vectors.matrix, **model.tables}.items():
        found = again.vectors.matrix if name == "vectors" else again.tables[name]
        if name == "documents":
            assert len(found) == len(NEW)
            continue
        found = found if name in ("ngrams", "positions", "nothing") else found[places]
        np.testing.assert_allclose(found, table, atol=1e-6, err_msg=name)
    assert again.record["notes"] == ["6 words went on from the model, 3 are new"]


def test_counts_are_added():
    model = learn("cbow", em.Corpus(OLD), {})
    again = em.continue_training(model, em.Corpus(NEW), threads=1, **STILL)
    counts = dict(zip(again.vocabulary.words, again.vocabulary.counts.tolist(), strict=True))
    assert counts == {"a": 90, "b": 70, "c": 70, "d": 20, "e": 20, "f": 20, "x": 60, "y": 60, "z": 30}
    assert again.vocabulary.total == 10 * 20 + 8 * 30
    assert again.vectors.counts.tolist() == sorted(counts.values(), reverse=True)


def test_words_that_the_new_text_has_not_stay_and_others_learn():
    model = learn("skipgram", em.Corpus(OLD), {"subsample": 0.0})
    again = em.continue_training(model, em.Corpus(NEW), threads=1, epochs=20, learning_rate=0.1)
    for word in "def":
        assert again.vectors[word].tobytes() == model.vectors[word].tobytes()
    for word in "abc":
        assert not np.allclose(again.vectors[word], model.vectors[word])
    still = em.continue_training(model, em.Corpus(NEW), threads=1, **STILL)
    assert not np.allclose(again.vectors["x"], still.vectors["x"])


def test_which_words_come_in():
    old, new = Vocabulary(["a", "b"], [9, 1], total=12), Vocabulary(["c", "d", "b", "e"], [5, 4, 3, 1])
    found = grown(old, new, min_count=2, max_vocab=None)
    assert list(zip(found.words, found.counts.tolist(), strict=True)) == [("a", 9), ("c", 5), ("b", 4), ("d", 4)]
    assert found.total == 12 + 13
    assert list(grown(old, new, min_count=2, max_vocab=3).words) == ["a", "c", "b"]
    assert list(grown(old, new, min_count=9, max_vocab=2).words) == ["a", "b"]


def test_a_saved_model_and_a_path(tmp_path):
    learn("cbow", em.Corpus(OLD), {}).save(tmp_path / "m")
    (tmp_path / "new.txt").write_text("\n".join(map(" ".join, NEW)))
    model = em.load_model(tmp_path / "m")
    again = em.continue_training(model, tmp_path / "new.txt", threads=1, seed=3)
    assert again.settings == model.settings
    assert arrays(again) == arrays(em.continue_training(model, em.Corpus(NEW), threads=1, seed=3))


def test_a_fasttext_file_goes_on(tmp_path):
    model = learn("fasttext", em.Corpus(OLD), {"buckets": 40})
    model.export(tmp_path / "m.bin", "fasttext")
    read = em.load_model(tmp_path / "m.bin")
    again = em.continue_training(read, em.Corpus(NEW), threads=1, **STILL)
    np.testing.assert_allclose(again.tables["ngrams"], model.tables["ngrams"], atol=1e-6)
    np.testing.assert_allclose(again.vectors["f"], model.vectors["f"], atol=1e-6)


def test_it_goes_on_from_a_checkpoint(tmp_path):
    model, made = learn("cbow", em.Corpus(OLD), {}), em.Checkpoints(tmp_path / "c")
    whole = em.continue_training(model, em.Corpus(NEW), threads=1)
    with interrupted_after(2), pytest.raises(em.Interrupted):
        em.continue_training(model, em.Corpus(NEW), threads=1, checkpoints=made)
    other = learn("cbow", em.Corpus(OLD), {"learning_rate": 0.9})
    with pytest.raises(em.EmbeddingsError, match="continued was"):
        em.continue_training(other, em.Corpus(NEW), threads=1, learning_rate=0.075, checkpoints=made, resume=True)
    again = em.continue_training(model, em.Corpus(NEW), threads=1, checkpoints=made, resume=True)
    assert arrays(again) == arrays(whole)


@pytest.mark.parametrize(
    ("changes", "text", "error", "told"),
    [
        ({"dim": 9}, em.Corpus(NEW), SettingError, "the model was trained with dim 8, which cannot become 9"),
        ({}, em.Corpus(NEW, case="keep"), SettingError, "learned from text read with case 'lower': read this so too"),
        ({}, em.Corpus(NEW, tokenizer="whitespace"), SettingError, "with tokenizer 'words'"),
        ({}, em.Corpus(NEW, vocabulary=Vocabulary(["a"], [1])), SettingError, "can have none of its own"),
        ({"init": em.InitFrom("v")}, em.Corpus(NEW), SettingError, "leave out init"),
        ({"window": 3}, em.Corpus(NEW), FormatError, "table 'output' of shape .6, 4, 8. does not fit this run"),
    ],
)  # fmt: skip
def test_what_does_not_go_on(changes, text, error, told):
    model = learn("structured-skipgram", em.Corpus(OLD), {"window": 2})
    with pytest.raises(error, match=told):
        em.continue_training(model, text, threads=1, **changes)


def test_what_can_be_told_is_told_before_the_text_is_read():
    def never():
        raise AssertionError("the corpus was read")
        yield ["a"]

    model = learn("cbow", em.Corpus(OLD), {})
    for given, changes in (({"tokenizer": "whitespace"}, {}), ({}, {"max_vocab": 1}), ({"case": "keep"}, {})):
        with pytest.raises(SettingError, match=r"read this so too|max-vocab 1 is less than the \d+ words"):
            em.continue_training(model, em.Corpus(never(), **given), threads=1, **changes)


@pytest.mark.parametrize("wrong", ["v", em.Vectors(["a"], np.ones((1, 2))), 3])
def test_only_a_model_is_gone_on_with(wrong):
    with pytest.raises(SettingError, match=r"a Model is gone on with, such as embeddings\.load_model gives, not "):
        em.continue_training(wrong, em.Corpus(NEW))
    with pytest.raises(SettingError, match=r"a Model is gone on with, such as embeddings\.load_model gives, not "):
        em.train("cbow", em.Corpus(NEW), continued=wrong)


def test_models_that_cannot_go_on():
    sembei = learn("sembei", em.Corpus(["abcabc"] * 9, tokenizer="codepoints"), {"per_length": "all"})
    with pytest.raises(SettingError, match="sembei cannot go on with a model: what it learns is found in one text"):
        em.continue_training(sembei, em.Corpus(["abc"], tokenizer="codepoints"))
    skipgram = learn("skipgram", em.Corpus(OLD), {})
    with pytest.raises(SettingError, match="a skipgram model cannot be gone on with by cbow"):
        em.train("cbow", em.Corpus(NEW), continued=skipgram, **SMALL)
    with pytest.raises(SettingError, match="a skipgram model cannot be gone on with by tensor-indexing"):
        em.train("tensor-indexing", em.Corpus(NEW), continued=skipgram, fewest=0, **SMALL)
    bare = em.Model("skipgram", vectors=skipgram.vectors, vocabulary=skipgram.vocabulary, settings=skipgram.settings)
    with pytest.raises(FormatError, match="the skipgram model has no table 'output'"):
        em.continue_training(bare, em.Corpus(NEW), threads=1)


def test_a_text_of_nothing_but_new_words():
    model = learn("skipgram", em.Corpus(OLD), {})
    again = em.continue_training(model, em.Corpus([["p", "q"]] * 9), threads=1)
    assert again.vectors["a"].tobytes() == model.vectors["a"].tobytes()
    with pytest.raises(CorpusError, match="no word"):
        em.continue_training(model, em.Corpus([["p", "q"]]), threads=1, min_count=5)


def test_rows_that_do_not_fit():
    table = np.zeros((4, padded(3)), np.float32)
    with pytest.raises(FormatError, match=r"'x' of shape \(5, 3\) does not fit"):
        put_rows("x", table, np.ones((5, 3), np.float32), slice(None), slice(None))
    put_rows("x", table, np.ones((4, 3), np.float32), slice(None), slice(None))
    assert table[:, :3].all()
    assert not table[:, 3:].any()


TOWNS = em.PhraseList([("new", "york"), ("old", "town")])


@pytest.mark.parametrize("words", ["replace", "alternate"])
def test_phrases_of_the_model_are_joined_in_the_new_text_and_none_is_lost(tmp_path, words):
    first = em.Corpus(["new york is an old town"] * 30, phrases=TOWNS, joiner="+", phrase_mode=words)
    model = learn("skipgram", first, {})
    model.save(tmp_path / "m")
    again = em.continue_training(em.load_model(tmp_path / "m"), ["new york grows"] * 30, threads=1)
    assert {"new+york", "old+town", "grows"} <= set(again.vectors.words)
    assert ("york" in again.vectors.words) == (words == "alternate")
    assert again.vocabulary.counts[again.vocabulary.index("new+york")] == 60 // (1 + (words == "alternate"))
    assert [row["words"] for row in again.phrases.to_pylist()] == [["new", "york"], ["old", "town"]]
    assert again.record["text"]["phrases"]["words"] == words
    third = em.continue_training(again, ["an old town"] * 30, threads=1)
    assert third.vocabulary.counts[third.vocabulary.index("old+town")] == 60 // (1 + (words == "alternate"))


def test_phrases_of_the_new_text_come_to_those_of_the_model():
    model = learn("skipgram", em.Corpus(["new york is old"] * 30, phrases=TOWNS), {})
    more = em.PhraseList([("big", "apple")])
    again = em.continue_training(model, em.Corpus(["the big apple is old"] * 30, phrases=more), threads=1)
    assert [row["words"] for row in again.phrases.to_pylist()] == [["new", "york"], ["big", "apple"]]
    with pytest.raises(SettingError, match="the words of the model's phrases are joined by '_': join these so too"):
        em.continue_training(model, em.Corpus(["big apple"] * 30, phrases=more, joiner="+"), threads=1)
    with pytest.raises(SettingError, match="name the phrases for this text too"):
        em.continue_training(model, em.Corpus(["is old"] * 30), threads=1)


def test_phrases_come_through_a_checkpoint(tmp_path):
    text, made = em.Corpus(["new york is an old town"] * 300, phrases=TOWNS), em.Checkpoints(tmp_path / "c")
    with interrupted_after(1), pytest.raises(em.Interrupted):
        learn("skipgram", text, {}, checkpoints=made)
    again = learn("skipgram", text, {}, checkpoints=made, resume=True)
    assert again.phrases.equals(learn("skipgram", text, {}).phrases)
    assert again.phrases.num_rows == 2


def test_a_file_of_another_program_goes_on_with_a_path(tmp_path):
    learn("fasttext", em.Corpus(OLD), {"buckets": 40}).export(tmp_path / "m.bin", "fasttext")
    (tmp_path / "new.txt").write_text("a x b y\n" * 30)
    assert "x" in em.continue_training(em.load_model(tmp_path / "m.bin"), tmp_path / "new.txt", threads=1).vectors
