"""Document vectors: inference, trained models, invalid parameters, searches."""

import pickle

import numpy as np
import pytest
from labelled_texts import labelled
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline

import embeddings as em
from embeddings.errors import SettingError

SMALL = {"dim": 8, "min_count": 1, "epochs": 10, "subsample": 0}


@pytest.mark.parametrize("trainer", ["paragraph-dbow", "paragraph-dm"])
def test_transform_infers(trainer):
    texts, _ = labelled("ab", 60)
    vectorizer = em.sklearn.ParagraphVectorizer(trainer, SMALL, random_state=5, infer_epochs=4)
    rows = vectorizer.fit_transform(texts)
    model = em.train(trainer, texts, threads=1, seed=5, **SMALL)
    np.testing.assert_array_equal(vectorizer.model_.documents.matrix, model.documents.matrix)
    np.testing.assert_array_equal(rows, model.infer(texts, seed=5, epochs=4))
    assert vectorizer.get_feature_names_out().tolist() == [f"paragraphvectorizer{i}" for i in range(8)]
    assert not vectorizer.transform(["", "unknown"]).any()
    assert vectorizer.transform([]).shape == (0, 8)
    np.testing.assert_array_equal(vectorizer.transform([texts[0].split()])[0], rows[0])


def test_iterators_are_read_once():
    texts, _ = labelled("ab", 60)
    vectorizer = em.sklearn.ParagraphVectorizer(settings=SMALL)
    expected = vectorizer.fit(texts).transform(texts)
    np.testing.assert_array_equal(vectorizer.fit_transform(text for text in texts), expected)
    np.testing.assert_array_equal(vectorizer.fit_transform([iter(text.split()) for text in texts]), expected)


def test_trained_models(tmp_path):
    texts, _ = labelled("ab", 60)
    corpus = em.Corpus(texts, tokenizer="whitespace", case="keep")
    model = em.ParagraphDM(**SMALL).train(corpus, threads=1)
    model.save(tmp_path / "m")
    for source in (model, tmp_path / "m", str(tmp_path / "m")):
        vectorizer = em.sklearn.ParagraphVectorizer(model=source).fit(["anything"])
        np.testing.assert_array_equal(vectorizer.transform(texts), model.infer(texts))
    for options in ({"trainer": "paragraph-dm"}, {"settings": {"dim": 3}}):
        with pytest.raises(SettingError, match=next(iter(options))):
            em.sklearn.ParagraphVectorizer(model=model, **options).fit(texts)
    for options in ({"tokenizer": "words"}, {"case": "keep"}):
        with pytest.raises(SettingError, match=next(iter(options))):
            em.sklearn.ParagraphVectorizer(model=model, **options).fit(texts)


def test_models_that_do_not_infer_are_refused(tmp_path):
    model = em.CBOW(**SMALL).train(em.Corpus(["a b"] * 9))
    with pytest.raises(SettingError, match="cbow"):
        em.sklearn.ParagraphVectorizer(model=model).fit(["a"])
    (tmp_path / "p.tsv").write_text("new york\n")
    phrased = em.Corpus(["new york and new york"] * 5, phrases=tmp_path / "p.tsv")
    with pytest.raises(SettingError, match="phrases"):
        em.sklearn.ParagraphVectorizer(model=em.ParagraphDBOW(**SMALL).train(phrased)).fit(["new york"])


def test_unions_searches_and_pickles():
    texts, labels = labelled("ab", 60)
    both = FeatureUnion(
        [
            ("dbow", em.sklearn.ParagraphVectorizer("paragraph-dbow", {**SMALL, "epochs": 60, "learning_rate": 0.1})),
            ("dm", em.sklearn.ParagraphVectorizer("paragraph-dm", SMALL)),
        ]
    )
    pipeline = make_pipeline(both, LogisticRegression(C=100))
    grid = {"featureunion__dm__settings__combine": ["sum", "mean"], "featureunion__dbow__infer_epochs": [30]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(texts, labels)
    assert search.best_score_ > 0.8
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.decision_function(texts), search.best_estimator_.decision_function(texts))
