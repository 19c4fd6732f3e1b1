"""The trainer `classifier`."""

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import CorpusError, SettingError

OBJECTIVES = ("softmax", "hierarchical-softmax", "one-vs-all", "negative-sampling")
WORDS = {"a": ["good", "fine", "great"], "b": ["bad", "awful", "poor"], "c": ["so-so", "medium", "average"]}
SMALL = {"dim": 8, "epochs": 20, "learning_rate": 0.5, "threads": 1}


def labelled_lines(texts=150, seed=1):
    """Lines in fastText's form: a label, and two words of which one shows it."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(list(WORDS), texts)
    return [f"__label__{label} film {rng.choice(WORDS[label])} movie{rng.integers(5)}" for label in labels]


@pytest.fixture(scope="module")
def model():
    return em.train("classifier", labelled_lines(), word_ngrams=2, **SMALL)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_learns_the_labels(objective):
    model = em.train("classifier", labelled_lines(), objective=objective, word_ngrams=2, **SMALL)
    texts = [f"film {word}" for words in WORDS.values() for word in words]
    labels, probabilities = model.predict(texts)
    assert labels[:, 0].tolist() == [f"__label__{label}" for label, words in WORDS.items() for _ in words]
    assert (probabilities > 0.8).all()


def test_a_saved_model_predicts_the_same(model, tmp_path):
    model.save(tmp_path / "model")
    loaded = em.load_model(tmp_path / "model")
    classifier = em.load_classifier(tmp_path / "model")
    texts = ["film good", "awful movie1", "", "unknown words"]
    expected = model.predict_proba(texts)
    assert loaded.labels.words == ["b", "c", "a"] or sorted(loaded.labels.words) == ["a", "b", "c"]
    np.testing.assert_array_equal(loaded.predict_proba(texts), expected)
    np.testing.assert_array_equal(classifier.predict_proba(texts), expected)
    np.testing.assert_allclose(expected.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(loaded.vectors.matrix, model.vectors.matrix)


def test_labels_of_tables_have_no_prefix_and_texts_are_tokenized_as_in_training():
    rows = [{"text": line.split(" ", 1)[1].title() + "!", "label": line[9:10]} for line in labelled_lines()]
    corpus = em.Corpus(rows, text_column="text", tokenizer="words", labels=em.LabelFormat())
    model = em.train("classifier", corpus, **SMALL)
    assert model.predict(["FILM, GOOD", "(awful)"]).labels[:, 0].tolist() == ["a", "b"]


def test_character_ngrams_classify_unknown_words():
    model = em.train("classifier", labelled_lines(), min_n=2, max_n=4, **SMALL)
    assert model.predict(["goodish", "awfully"]).labels[:, 0].tolist() == ["__label__a", "__label__b"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a text", "another"], "no text has a label"),
        (["__label__a one", "__label__a two"], "only the label 'a'"),
    ],
)
def test_texts_that_cannot_be_classified_are_refused(lines, message):
    with pytest.raises(CorpusError, match=message):
        em.train("classifier", lines, **SMALL)


def test_a_corpus_without_labels_is_refused():
    with pytest.raises(CorpusError, match="LabelFormat"):
        em.train("classifier", em.Corpus(labelled_lines()), **SMALL)


@pytest.mark.parametrize("settings", [{"buckets": 100}, {"negatives": 3}, {"min_n": 3, "max_n": 2}])
def test_settings_without_effect_are_refused(settings):
    with pytest.raises(SettingError):
        em.TextClassification(**settings)
