"""Classifiers whose rows are trained further after the others are cut off."""

import numpy as np
import pytest
from supervised_models import LOSSES, supervised_model
from test_text_classification import OBJECTIVES, labelled_lines

import embeddings as em
from embeddings.classifier.classifier import prune
from embeddings.errors import SettingError
from embeddings.plugins.classifier.text_classification import retrain

RUN = {"seed": 1, "threads": 1}


def train(**settings):
    settings = {"dim": 8, "epochs": 5, "learning_rate": 0.3, "threads": 1} | settings
    return em.train("classifier", labelled_lines(), **settings).classifier


def probability_of_truth(classifier, lines):
    labels, texts = zip(*(line.split(" ", 1) for line in lines), strict=True)
    columns = [classifier.labels.index(label) for label in labels]
    return classifier.predict_proba(texts)[np.arange(len(lines)), columns].mean()


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_training_starts_from_the_rows_that_are_kept(objective):
    """With a vanishing learning rate nothing changes; otherwise the labels become more probable."""
    classifier = prune(train(objective=objective, word_ngrams=2, min_n=2, max_n=3), 60)
    same = retrain(classifier, labelled_lines(), 60, epochs=1, learning_rate=1e-30, **RUN)
    np.testing.assert_array_equal(same.inputs.table, classifier.inputs.table)
    np.testing.assert_array_equal(same.output, classifier.output)
    better = retrain(classifier, labelled_lines(), 60, epochs=30, learning_rate=0.5, **RUN)
    assert better.features is classifier.features
    lines = labelled_lines(seed=2)
    assert probability_of_truth(better, lines) > probability_of_truth(classifier, lines) + 0.02


@pytest.mark.parametrize("loss", LOSSES)
def test_models_of_fasttext_are_trained_further(tmp_path, loss):
    """Labels may have equal counts and another order than in the texts, and the texts unknown labels and words."""
    (tmp_path / "m.bin").write_bytes(supervised_model(loss).data)
    classifier = em.load_classifier(tmp_path / "m.bin")
    lines = ["__label__c the where a", "__label__é naïve 北海道", "__label__new the the unknown"] * 20
    same = retrain(classifier, lines, 1000, epochs=1, learning_rate=1e-30, **RUN)
    np.testing.assert_array_equal(same.inputs.table, classifier.inputs.table)
    used = 4 if loss == "hierarchical softmax" else 5  # a tree of 5 labels has 4 inner nodes
    np.testing.assert_array_equal(same.output[:used], classifier.output[:used])
    better = retrain(classifier, lines, 1000, epochs=10, learning_rate=0.5, **RUN)
    known = [line for line in lines if "new" not in line]
    assert probability_of_truth(better, known) > max(0.9, probability_of_truth(classifier, known))


def test_quantizing_after_training_again(tmp_path):
    model = em.train("classifier", labelled_lines(), dim=8, epochs=5, learning_rate=0.3, threads=1, word_ngrams=2)
    classifier = model.classifier
    larger = em.training.retrain(model, labelled_lines(), 12, epochs=20, learning_rate=0.5, threads=1)
    small = larger.quantize(qnorm=True)
    lines = labelled_lines(seed=2)
    assert probability_of_truth(small, lines) > probability_of_truth(classifier.quantize(12, qnorm=True), lines)
    small.export(tmp_path / "small.ftz")
    again = em.load_classifier(tmp_path / "small.ftz")
    texts = [line.split(" ", 1)[1] for line in lines]
    np.testing.assert_allclose(again.predict_proba(texts), small.predict_proba(texts), rtol=1e-6)


def test_texts_are_split_as_in_training():
    rows = [{"text": line.split(" ", 1)[1].title() + "!", "label": line[9:10]} for line in labelled_lines()]
    corpus = em.Corpus(rows, text_column="text", tokenizer="words", labels=em.corpora.LabelFormat())
    classifier = em.train("classifier", corpus, dim=8, epochs=2, threads=1).classifier
    lines = [f"__label__{row['label']} {row['text']}" for row in rows]
    better = retrain(classifier, lines, 12, epochs=20, learning_rate=0.5, **RUN)
    assert better.predict(["FILM, GOOD"]).labels[0, 0] == "a"
    assert better.predict_proba(["FILM, GOOD"]).max() > classifier.predict_proba(["FILM, GOOD"]).max()


def test_what_cannot_be_trained_again(tmp_path):
    classifier = train()
    with pytest.raises(SettingError, match="label"):
        retrain(classifier, ["__label__x film", "__label__y good"], 5)
    with pytest.raises(SettingError, match="already"):
        retrain(classifier.quantize(), labelled_lines(), 5)
    (tmp_path / "m.bin").write_bytes(supervised_model(words=["the", "where"], word_ngrams=1, max_n=0, buckets=0).data)
    with pytest.raises(SettingError, match="</s>"):
        retrain(em.load_classifier(tmp_path / "m.bin"), ["__label__a unknown", "__label__c the"], 1)
