"""The classifier of texts: one or several labels per text, any classes, searches, calibration, pickles."""

import io
import pickle

import joblib
import numpy as np
import pytest
from labelled_texts import labelled
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import embeddings as em
from embeddings.errors import CorpusError

SMALL = {"dim": 6, "epochs": 20, "learning_rate": 0.5}


@pytest.fixture(scope="module")
def fitted():
    return em.sklearn.TextClassifier(settings=SMALL).fit(*labelled())


CLASSES = {
    "names": ("a", "b", "c"),
    "integers": (7, -2, 30),
    "booleans": (False, True),
    "numbers and blanks": (" ", "__label__a", "a"),
    "floats": (0.0, 1.0),
}


@pytest.mark.parametrize("classes", CLASSES.values(), ids=CLASSES)
def test_classes_come_back(classes):
    texts, labels = labelled(classes)
    classifier = em.sklearn.TextClassifier(settings=SMALL).fit(texts, labels)
    assert classifier.classes_.tolist() == sorted(classes)
    assert classifier.predict(texts).tolist() == labels
    assert classifier.score(texts, labels) == 1
    probabilities = classifier.predict_proba(texts)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)
    assert (classifier.classes_[probabilities.argmax(axis=1)] == labels).all()


def test_the_model_is_that_of_the_trainer(fitted):
    texts, labels = labelled()
    lines = [f"__label__{label} {text}" for text, label in zip(texts, labels, strict=True)]
    model = em.train("classifier", lines, threads=1, **SMALL)
    expected = model.classifier
    assert [label.removeprefix("__label__") for label in expected.labels] == fitted.model_.classifier.labels
    columns = [fitted.classes_.tolist().index(label) for label in fitted.model_.classifier.labels]
    np.testing.assert_allclose(fitted.predict_proba(texts)[:, columns], expected.predict_proba(texts), rtol=1e-5)


@pytest.mark.parametrize("objective", [None, "softmax"])
def test_several_labels(objective):
    texts, labels = labelled()
    lists = [["v", label] if label == "a" else [label] for label in labels]
    settings = SMALL | ({} if objective is None else {"objective": objective})
    classifier = em.sklearn.TextClassifier(settings=settings, threshold=0.4).fit(texts, lists)
    assert classifier.model_.settings["objective"] == (objective or "one-vs-all")
    assert classifier.classes_.tolist() == ["a", "b", "c", "v"]
    assert [sorted(row) for row in classifier.predict(texts)] == [sorted(row) for row in lists]
    assert classifier.score(texts, lists) == 1
    assert {len(row) for row in classifier.set_params(k=1).predict(texts)} == {1}
    indicator = np.array([[name in row for name in "abcv"] for row in lists]).astype(int)
    for y in (indicator, indicator.tolist(), csr_matrix(indicator)):
        second = em.sklearn.TextClassifier(settings=settings, threshold=0.4).fit(texts, y)
        assert second.classes_.tolist() == [0, 1, 2, 3]
        np.testing.assert_array_equal(second.predict(texts), indicator)
        np.testing.assert_array_equal(second.predict_proba(texts), classifier.predict_proba(texts))
        assert second.score(texts, indicator) == 1


def test_classes_and_texts_without_labels():
    texts, labels = labelled()
    indicator = np.array([[label == name for name in "abz"] for label in labels]).astype(int)
    classifier = em.sklearn.TextClassifier(settings=SMALL).fit(texts, indicator)
    assert not classifier.predict_proba(texts)[:, 2].any()
    with pytest.raises(CorpusError, match="label"):
        em.sklearn.TextClassifier(settings=SMALL).fit(texts, np.zeros((len(texts), 2), int))


def test_unknown_words_and_odd_texts(fitted):
    proba = fitted.predict_proba(["zzz", "", "a1\nx1", "a1 x1", "\0", "__label__a"])
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_array_equal(proba[2], proba[3])
    assert fitted.predict_proba([]).shape == (0, 3)


def test_searches_pipelines_and_calibration():
    texts, labels = labelled()
    pipeline = make_pipeline(
        FunctionTransformer(lambda rows: [row.upper() for row in rows]), em.sklearn.TextClassifier(settings=SMALL)
    )
    assert pipeline.fit(texts, labels).score(texts, labels) == 1
    search = GridSearchCV(em.sklearn.TextClassifier(settings=SMALL), {"settings__dim": [3, 5]}, cv=2)
    assert search.fit(texts, labels).best_score_ == 1
    assert search.best_estimator_.model_.settings["dim"] == search.best_params_["settings__dim"]
    calibrated = CalibratedClassifierCV(em.sklearn.TextClassifier(settings=SMALL), cv=3).fit(texts, labels)
    assert calibrated.predict_proba(texts).shape == (90, 3)
    assert calibrated.score(texts, labels) == 1


def test_copies(fitted):
    texts, labels = labelled()
    stream = io.BytesIO()
    joblib.dump(fitted, stream)
    stream.seek(0)
    for copy in (pickle.loads(pickle.dumps(fitted)), joblib.load(stream), clone(fitted).fit(texts, labels)):
        np.testing.assert_array_equal(copy.predict_proba(texts), fitted.predict_proba(texts))


def test_trainers_and_parameters():
    texts, labels = labelled()
    trainer = em.TextClassification(**SMALL)
    classifier = em.sklearn.TextClassifier(trainer, {"dim": 3}).fit(texts, labels)
    assert classifier.model_.settings["dim"] == 3
    assert em.sklearn.TextClassifier(settings=SMALL).get_params()["settings__dim"] == 6


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (["a b", "c d"], ["x", "x"], "one class"),
        (["a b", "c d", "e"], ["x", "y"], r"inconsistent.*3, 2"),
        ([["a"], ["b"]], ["x", "y"], "must be strings"),
        (["a b", "c d"], None, "y to be passed"),
        (["a b", "c d"], [0.5, 1.5], "continuous"),
        ([], [], "empty"),
    ],
)
def test_invalid_data(texts, labels, message):
    with pytest.raises(ValueError, match=message):
        em.sklearn.TextClassifier(settings=SMALL).fit(texts, labels)
