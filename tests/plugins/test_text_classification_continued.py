"""Continued training of classifiers."""

import numpy as np
import pytest
from test_text_classification import SMALL, labelled_lines

import embeddings as em
from embeddings.errors import CorpusError, FormatError, SettingError

NEW = ["__label__d film odd", "__label__b film odd movie1", "__label__d movie7"] * 10
FROZEN = {"learning_rate": 1e-30}
NGRAMS = {"word_ngrams": 2, "min_n": 2, "max_n": 3}


@pytest.fixture(scope="module")
def model():
    return em.train("classifier", labelled_lines(), **NGRAMS, **SMALL)


@pytest.fixture(scope="module")
def continued(model):
    return em.continue_training(model, NEW, threads=1, epochs=1, **FROZEN)


def rows_by_bucket(model):
    words = len(model.vocabulary)
    return dict(zip(model.tables["ngram_buckets"].tolist(), model.tables["inputs"][words:], strict=True))


def test_old_words_ngrams_and_labels_keep_their_rows(model, continued):
    for word in model.vectors.words:
        np.testing.assert_allclose(continued.vectors[word], model.vectors[word], atol=1e-6)
    old, new = rows_by_bucket(model), rows_by_bucket(continued)
    assert set(old) < set(new)
    for bucket, row in new.items():
        np.testing.assert_allclose(row, old.get(bucket, 0), atol=1e-6)
    for label in model.labels.words:
        rows = (one.tables["output"][one.labels.index(label)] for one in (continued, model))
        np.testing.assert_allclose(*rows, atol=1e-6)
    np.testing.assert_allclose(continued.tables["output"][continued.labels.index("d")], 0, atol=1e-6)


def test_words_and_labels_are_added_with_their_counts(model, continued):
    assert set(continued.vectors.words) == {*model.vectors.words, "odd", "movie7"}
    assert set(continued.labels.words) == {*"abcd"}
    for counts in (continued.labels.counts, continued.vocabulary.counts):
        assert (np.diff(counts) <= 0).all()
    old, new = (dict(zip(one.labels.words, one.labels.counts.tolist(), strict=True)) for one in (model, continued))
    assert new == {**old, "b": old["b"] + 10, "d": 20}
    assert continued.vocabulary.counts[continued.vocabulary.index("</s>")] == 150 + 30
    assert continued.record["notes"] == [
        f"{len(model.vocabulary)} words continue from the model, 2 are new",
        "3 labels continue from the model, 1 are new",
    ]


def test_the_new_model_predicts_old_and_new_labels(model, tmp_path):
    model.save(tmp_path / "model")
    texts = labelled_lines() + NEW
    continued = em.continue_training(em.load_model(tmp_path / "model"), texts, threads=1)
    assert continued.predict(["film odd", "film good"]).labels[:, 0].tolist() == ["__label__d", "__label__a"]
    again = em.continue_training(model, texts, threads=1)
    assert continued.predict_proba(["film odd"]).tobytes() == again.predict_proba(["film odd"]).tobytes()


def test_one_label_is_enough_if_the_model_has_others(model):
    lines = ["__label__a __label__rare film unusual"] * 9
    continued = em.continue_training(model, lines, threads=1, min_label_count=10)
    assert set(continued.labels.words) == {*"abc"}
    assert "unusual" in continued.vectors.words
    assert continued.predict_proba(["film unusual"])[0, continued.labels.index("a")] > 0.5


def test_labels_of_negative_sampling_and_of_tables():
    rows = [{"text": line.split(" ", 1)[1], "label": line[9:10]} for line in labelled_lines()]
    corpus = em.Corpus(
        rows, text_column="text", tokenizer="ascii-whitespace", case="keep", labels=em.corpora.LabelFormat()
    )
    model = em.train("classifier", corpus, objective="negative-sampling", **SMALL)
    new = [{"text": "film odd", "label": "d"}, {"text": "film good", "label": "a"}] * 20
    new = em.Corpus(new, text_column="text", tokenizer="ascii-whitespace", case="keep", labels=em.corpora.LabelFormat())
    continued = em.continue_training(model, new, threads=1)
    assert continued.predict(["odd", "good"]).labels[:, 0].tolist() == ["d", "a"]


def test_what_cannot_be_continued(model):
    tree = em.train("classifier", labelled_lines(), objective="hierarchical-softmax", **SMALL)
    with pytest.raises(SettingError, match="hierarchical-softmax"):
        em.continue_training(tree, NEW, threads=1)
    for changes in ({"word_ngrams": 3}, {"max_n": 4}, {"buckets": 100}, {"objective": "one-vs-all"}, {"dim": 9}):
        with pytest.raises(SettingError, match=next(iter(changes))):
            em.continue_training(model, NEW, threads=1, **changes)
    with pytest.raises(CorpusError, match="no text has a label"):
        em.continue_training(model, ["film good"], threads=1)
    broken = em.Model(
        "classifier", vectors=model.vectors, vocabulary=model.vocabulary, settings=model.settings,
        tables={**model.tables, "output": model.tables["output"][1:]}, record=model.record, labels=model.labels,
    )  # fmt: skip
    with pytest.raises(FormatError, match="output"):
        em.continue_training(broken, NEW, threads=1)
