"""Vectors of documents: what the model infers, ready models, searches."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline

import embeddings as em
from embeddings.errors import SettingError

SMALL = {"dim": 8, "min_count": 1, "epochs": 10, "sample": 0}


def labelled(count=60):
    """Texts of two kinds, told apart by their words."""
    rng = np.random.default_rng(3)
    labels = (np.arange(count) % 2).tolist()
    return [
        " ".join(f"{'ab'[label]}{rng.integers(6)} c{rng.integers(6)}" for _ in range(5)) for label in labels
    ], labels


@pytest.mark.parametrize("trainer", ["paragraph-dbow", "paragraph-dm"])
def test_gives_what_the_model_infers(trainer):
    given, _ = labelled()
    made = em.ParagraphVectorizer(trainer, SMALL, random_state=5, infer_epochs=4)
    found = made.fit_transform(given)
    model = em.train(trainer, given, threads=1, seed=5, **SMALL)
    np.testing.assert_array_equal(made.model_.documents.matrix, model.documents.matrix)
    np.testing.assert_array_equal(found, model.infer(given, seed=5, epochs=4))
    assert made.get_feature_names_out().tolist() == [f"paragraphvectorizer{i}" for i in range(8)]
    assert not made.transform(["", "unknown"]).any()
    assert made.transform([]).shape == (0, 8)
    np.testing.assert_array_equal(made.transform([given[0].split()])[0], found[0])


def test_what_can_be_read_once_is_read_once():
    given, _ = labelled()
    made = em.ParagraphVectorizer(settings=SMALL)
    expected = made.fit(given).transform(given)
    np.testing.assert_array_equal(made.fit_transform(text for text in given), expected)
    np.testing.assert_array_equal(made.fit_transform([iter(text.split()) for text in given]), expected)


def test_ready_models(tmp_path):
    given, _ = labelled()
    corpus = em.Corpus(given, tokenizer="whitespace", case="keep")
    model = em.ParagraphDM(**SMALL).train(corpus, threads=1)
    model.save(tmp_path / "m")
    for one in (model, tmp_path / "m", str(tmp_path / "m")):
        made = em.ParagraphVectorizer(model=one).fit(["anything"])
        np.testing.assert_array_equal(made.transform(given), model.infer(given))
    for more in ({"trainer": "paragraph-dm"}, {"settings": {"dim": 3}}):
        with pytest.raises(SettingError, match="is for a training, and a model is given"):
            em.ParagraphVectorizer(model=model, **more).fit(given)
    for more in ({"tokenizer": "words"}, {"case": "keep"}):
        with pytest.raises(SettingError, match=f"which has its own {next(iter(more))}"):
            em.ParagraphVectorizer(model=model, **more).fit(given)


WRONG = [
    ({"trainer": "skipgram"}, "the trainer 'skipgram' finds no vectors for documents"),
    ({"trainer": em.CBOW()}, "finds no vectors for documents"),
    ({"model": 3}, "model must be a Model, or the path of one, not 3"),
    ({"infer_epochs": 0}, "infer_epochs must be at least 1"),
    ({"tokenizer": str.split}, "tokenizer must be the name of one"),
    ({"threads": 0}, "threads must be at least 1"),
]


@pytest.mark.parametrize(("given", "told"), WRONG, ids=[str(next(iter(row[0]))) for row in WRONG])
def test_parameters_are_refused_by_fit(given, told):
    with pytest.raises(SettingError, match=told):
        em.ParagraphVectorizer(**given).fit(["a b c"] * 9)


def test_models_that_do_not_infer_are_refused(tmp_path):
    model = em.CBOW(**SMALL).train(em.Corpus(["a b"] * 9))
    with pytest.raises(SettingError, match="a cbow model finds no vectors for documents"):
        em.ParagraphVectorizer(model=model).fit(["a"])
    (tmp_path / "p.tsv").write_text("new york\n")
    phrased = em.Corpus(["new york and new york"] * 5, phrases=tmp_path / "p.tsv")
    with pytest.raises(SettingError, match="in which phrases were joined"):
        em.ParagraphVectorizer(model=em.ParagraphDBOW(**SMALL).train(phrased)).fit(["new york"])


def test_side_by_side_searched_and_pickled():
    given, labels = labelled()
    both = FeatureUnion(
        [
            ("dbow", em.ParagraphVectorizer("paragraph-dbow", {**SMALL, "epochs": 60, "rate": 0.1})),
            ("dm", em.ParagraphVectorizer("paragraph-dm", SMALL)),
        ]
    )
    line = make_pipeline(both, LogisticRegression(C=100))
    grid = {"featureunion__dm__settings__combine": ["sum", "mean"], "featureunion__dbow__infer_epochs": [30]}
    found = GridSearchCV(line, grid, cv=2, error_score="raise").fit(given, labels)
    assert found.best_score_ > 0.8
    again = pickle.loads(pickle.dumps(found.best_estimator_))
    np.testing.assert_array_equal(again.decision_function(given), found.best_estimator_.decision_function(given))
