"""Means of word vectors: a naive version, all forms of texts, parameters, pipelines and searches."""

import pickle

import numpy as np
import pandas as pd
import pyarrow
import pytest
import sklearn
from labelled_texts import labelled
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.fixes import parse_version

import embeddings as em
from embeddings.errors import CorpusError, SettingError

SMALL = {"dim": 8, "min_count": 1, "epochs": 3, "window": 2, "subsample": 0}
WORDS = [f"w{i}" for i in range(40)]


def make_texts(count=60, seed=1):
    """Words of very different frequency, some without vectors; every tenth text has only such words."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, 41)
    for number in range(count):
        chosen = rng.choice(WORDS, size=rng.integers(1, 12), p=shares / shares.sum()).tolist()
        yield "nobody knows" if number % 10 == 9 else " ".join([*chosen, "unseen"])


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(2)
    return em.Vectors(WORDS[:30], rng.standard_normal((30, 7)), counts=np.arange(300, 0, -10))


def test_one_thread_and_a_seed_are_bit_reproducible():
    texts = list(make_texts())
    one, again, other = (
        em.sklearn.MeanVectorizer(settings=SMALL, random_state=seed).fit_transform(texts).tobytes()
        for seed in (1, 1, 2)
    )
    assert one == again != other
    fitted = [
        em.sklearn.MeanVectorizer(settings=SMALL, random_state=np.random.RandomState(4)).fit(texts) for _ in range(2)
    ]
    np.testing.assert_array_equal(fitted[0].vectors_.matrix, fitted[1].vectors_.matrix)
    model = em.train("skipgram", texts, threads=1, seed=1, **SMALL)
    np.testing.assert_array_equal(
        model.vectors.matrix, em.sklearn.MeanVectorizer(settings=SMALL).fit(texts).vectors_.matrix
    )
    np.random.seed(0)  # noqa: NPY002  what None stands for in scikit-learn
    first = em.sklearn.MeanVectorizer(settings=SMALL, random_state=None).fit_transform(texts)
    np.random.seed(0)  # noqa: NPY002
    np.testing.assert_array_equal(
        first, em.sklearn.MeanVectorizer(settings=SMALL, random_state=None).fit_transform(texts)
    )


def test_trainers_by_name_or_as_objects():
    texts = list(make_texts())
    by_name = em.sklearn.MeanVectorizer("cbow", {**SMALL, "dim": 5}).fit(texts)
    assert (by_name.model_.name, by_name.vectors_.dim) == ("cbow", 5)
    vectorizer = em.sklearn.MeanVectorizer(em.CBOW(**SMALL), {"dim": 5}).fit(texts)
    np.testing.assert_array_equal(vectorizer.vectors_.matrix, by_name.vectors_.matrix)
    words = em.sklearn.MeanVectorizer("paragraph-dbow", {**SMALL, "train_words": True}, pool="mean").fit(texts)
    assert words.transform(["w1"]).tobytes() == words.model_.vectors["w1"].tobytes()


def test_unseen_words_are_composed():
    vectorizer = em.sklearn.MeanVectorizer("fasttext", {**SMALL, "buckets": 100}).fit(
        ["walking talked", "walked talking"]
    )
    np.testing.assert_allclose(vectorizer.transform(["Walks"])[0], vectorizer.vectors_["walks"], atol=1e-7)
    assert vectorizer.transform(["Walks"]).any()


def test_forms_of_texts(vectors):
    vectorizer = em.sklearn.MeanVectorizer(vectors=vectors, pool="mean").fit(["w1"])
    plain = ["w1 W2, w3!", "w4 x", "", "w1"]
    expected = vectorizer.transform(plain)
    np.testing.assert_allclose(expected[0], vectors[["w1", "w2", "w3"]].mean(axis=0), atol=1e-6)
    series = pd.Series(plain, index=[7, 8, 9, 10])
    columns = pyarrow.array(plain), pyarrow.chunked_array([plain[:1], plain[1:]])
    for form in (tuple(plain), np.array(plain), np.array(plain, object), series, (text for text in plain), *columns):
        np.testing.assert_array_equal(vectorizer.transform(form), expected)
    tokens = [["w1", "W2", "w3"], ["w4", "x"], [], ("w1",)]
    np.testing.assert_array_equal(vectorizer.transform(tokens), expected)
    for form in (map(iter, tokens), pyarrow.array([list(words) for words in tokens])):
        np.testing.assert_array_equal(vectorizer.transform(form), expected)
    assert vectorizer.transform([]).shape == (0, 7)
    assert not vectorizer.transform(["", "?", "nobody"]).any()
    frame = vectorizer.set_output(transform="pandas").transform(series)
    if parse_version(sklearn.__version__) >= parse_version("1.7.2"):  # older versions keep the index of frames only
        assert frame.index.tolist() == [7, 8, 9, 10]
    assert frame.columns.tolist() == [f"meanvectorizer{i}" for i in range(7)]
    np.testing.assert_array_equal(frame.to_numpy(), expected)


def test_nulls_are_empty_texts(vectors):
    expected = em.sklearn.MeanVectorizer(vectors=vectors).fit_transform(["w1", ""])
    frame = pd.DataFrame({"text": ["w1", None]})
    for source in (["w1", None], ["w1", float("nan")], pyarrow.array(["w1", None]), frame["text"], [["w1"], None]):
        np.testing.assert_array_equal(em.sklearn.MeanVectorizer(vectors=vectors).fit_transform(source), expected)


def test_nothing_to_learn_from(vectors):
    with pytest.raises(SettingError, match="empty"):
        em.sklearn.MeanVectorizer().fit([])
    with pytest.raises(CorpusError, match="list of texts"):
        em.sklearn.MeanVectorizer().fit(["", "?"])
    with pytest.raises(CorpusError, match="5 times"):
        em.sklearn.MeanVectorizer().fit(["a b"])
    with pytest.raises(CorpusError, match="item 2"):
        em.sklearn.MeanVectorizer(vectors=vectors).fit(["a", ["b"]])
    with pytest.raises(NotFittedError):
        em.sklearn.MeanVectorizer(vectors=vectors).transform(["w1"])


def test_texts_are_not_taken_for_file_names(vectors, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w1").touch()
    assert em.sklearn.MeanVectorizer(vectors=vectors).fit_transform(["w1"]).any()
    with pytest.raises(CorpusError, match="file"):
        em.Corpus(["w1"]).encode()


def test_parameters_of_training_are_refused_next_to_vectors(vectors):
    for options in ({"trainer": "cbow"}, {"settings": {"dim": 3}}):
        with pytest.raises(SettingError, match=next(iter(options))):
            em.sklearn.MeanVectorizer(vectors=vectors, **options).fit(["w1"])


def test_trained_vectors_of_a_model_and_of_paths(tmp_path):
    """Texts are tokenized as the training corpus was, and weighted by its counts."""
    corpus = em.Corpus(["The End. the end!"] * 9, tokenizer="whitespace", case="keep")
    model = em.CBOW(**SMALL).train(corpus, threads=1)
    model.save(tmp_path / "m")
    model.vectors.save(tmp_path / "v.npy")
    queries = ["The End.", "the End. end"]
    expected = [model.vectors[["The", "End."]].mean(axis=0), model.vectors[["the", "End."]].mean(axis=0)]
    for texts in (model, tmp_path / "m", str(tmp_path / "m")):
        vectorizer = em.sklearn.MeanVectorizer(vectors=texts, pool="mean").fit(queries)
        np.testing.assert_allclose(vectorizer.transform(queries), expected, atol=1e-7)
    assert em.sklearn.MeanVectorizer(vectors=model, pool="sif").fit(queries).frequencies_ is model.vocabulary
    plain = em.sklearn.MeanVectorizer(vectors=tmp_path / "v.npy").fit(queries)
    np.testing.assert_allclose(plain.transform(queries), expected, atol=1e-7)
    plain.set_params(tokenizer="whitespace").fit(queries)
    np.testing.assert_allclose(plain.transform(queries), expected, atol=1e-7)
    lower = em.sklearn.MeanVectorizer(vectors=model, case="lower", pool="mean").fit(queries)
    np.testing.assert_allclose(lower.transform(queries[:1])[0], model.vectors["the"], atol=1e-7)


def test_phrases_are_joined(tmp_path):
    (tmp_path / "p.tsv").write_text("new york\n")
    model = em.CBOW(**SMALL).train(em.Corpus(["new york and new york"] * 5, phrases=tmp_path / "p.tsv"))
    vectorizer = em.sklearn.MeanVectorizer(vectors=model, pool="mean").fit(["new york"])
    np.testing.assert_array_equal(vectorizer.transform(["New York"])[0], model.vectors["new_york"])
    vectorizer = em.sklearn.MeanVectorizer(vectors=model.vectors, pool="mean").fit([["new_york"]])
    np.testing.assert_array_equal(vectorizer.transform([["new_york"]])[0], model.vectors["new_york"])


TUNED = {"constant": 0.01, "frequencies": "texts"}
POOLS = [("mean", {}), ("sif", TUNED), ("sif", {}), ("idf", {}), ("sum", {})]


@pytest.mark.parametrize(("pool", "more"), POOLS)
def test_pools_are_those_of_embed(vectors, pool, more):
    texts, queries = list(make_texts()), list(make_texts(seed=5))
    options = {"pool": pool, "remove_components": 1, "normalize": True, **more}
    vectorizer = em.sklearn.MeanVectorizer(vectors=vectors, **options).fit(texts)
    expected = em.embed(vectors, queries, fit_on=texts, **options)
    np.testing.assert_array_equal(vectorizer.transform(queries), expected)
    assert len(vectorizer.get_feature_names_out()) == expected.shape[1]


def test_clones_share_vectors(vectors):
    vectorizer = em.sklearn.MeanVectorizer(vectors=vectors, pool="sif").fit(["w1"])
    copied = clone(vectorizer)
    assert copied.vectors is vectors
    assert not hasattr(copied, "vectors_")
    model = em.CBOW(**SMALL).train(em.Corpus(["a b"] * 9))
    assert clone(em.sklearn.MeanVectorizer(vectors=model)).vectors is model
    trainer = em.CBOW(**SMALL)
    assert clone(em.sklearn.MeanVectorizer(trainer)).trainer == trainer


def test_settings_are_parameters():
    vectorizer = em.sklearn.MeanVectorizer("cbow", {"dim": 5})
    assert vectorizer.get_params()["settings__dim"] == 5
    assert "settings__dim" not in vectorizer.get_params(deep=False)
    texts = vectorizer.settings
    assert vectorizer.set_params(settings__dim=7, settings__window=2, case="keep") is vectorizer
    assert vectorizer.settings == {"dim": 7, "window": 2}
    assert texts == {"dim": 5}
    assert em.sklearn.MeanVectorizer().set_params(settings__dim=3).settings == {"dim": 3}
    with pytest.raises(ValueError, match="'dim'"):
        vectorizer.set_params(dim=3)
    for trainer in ("cbow", None, em.CBOW()):
        with pytest.raises(ValueError, match=r"trainer__dim does not exist: .*: set settings__dim"):
            em.sklearn.MeanVectorizer(trainer).set_params(trainer__dim=3)
    assert repr(vectorizer) == "MeanVectorizer(case='keep', settings={'dim': 7, 'window': 2}, trainer='cbow')"


def test_pipelines_and_grid_search():
    texts, labels = labelled("ab", 80)
    pipeline = make_pipeline(em.sklearn.MeanVectorizer(settings={**SMALL, "epochs": 20}), LogisticRegression(C=100))
    assert pipeline.fit(texts[:60], labels[:60]).score(texts[60:], labels[60:]) == 1
    grid = [
        {"meanvectorizer__settings__dim": [4, 8], "meanvectorizer__trainer": ["cbow", "skipgram"]},
        {"meanvectorizer__pool": ["sif"], "meanvectorizer__constant": [1e-2], "logisticregression__C": [1, 100]},
    ]
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(texts, labels)
    assert len(search.cv_results_["params"]) == 6
    assert search.best_score_ > 0.9
    dims = [params.get("meanvectorizer__settings__dim") for params in search.cv_results_["params"]]
    assert dims == [4, 4, 8, 8, None, None]
    assert pipeline.named_steps["meanvectorizer"].settings["dim"] == 8


def test_fitted_estimators_can_be_pickled(vectors):
    means = em.sklearn.MeanVectorizer(vectors=vectors, pool="sif", remove_components=1).fit(list(make_texts()))
    subwords = em.sklearn.MeanVectorizer("fasttext", {**SMALL, "buckets": 100}).fit(["w1 w2", "w2 w1"])
    for vectorizer in (means, subwords):
        again = pickle.loads(pickle.dumps(vectorizer))
        np.testing.assert_array_equal(again.transform(["w1 w2 w"]), vectorizer.transform(["w1 w2 w"]))
