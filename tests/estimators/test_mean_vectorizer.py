"""Means of words: an obvious twin, texts in every form, parameters, pipelines and searches."""

import pickle

import numpy as np
import pandas as pd
import pyarrow
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import embeddings as em
from embeddings.errors import CorpusError, EmbeddingsError, RegistryError, SettingError
from embeddings.sklearn.word_weights import common_components, without

SMALL = {"dim": 8, "min_count": 1, "epochs": 3, "window": 2, "sample": 0}
WORDS = [f"w{i}" for i in range(40)]


def texts(count=60, seed=1):
    """Words of very different frequency, some of which no vectors know; every tenth text has none that is known."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, 41)
    for number in range(count):
        chosen = rng.choice(WORDS, size=rng.integers(1, 12), p=shares / shares.sum()).tolist()
        yield "nobody knows" if number % 10 == 9 else " ".join([*chosen, "unseen"])


def labelled(count=80):
    """Texts of two kinds, told apart by their words."""
    rng = np.random.default_rng(3)
    labels = (np.arange(count) % 2).tolist()
    return [
        " ".join(f"{'ab'[label]}{rng.integers(6)} c{rng.integers(6)}" for _ in range(4)) for label in labels
    ], labels


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(2)
    return em.Vectors(WORDS[:30], rng.standard_normal((30, 7)), counts=np.arange(300, 0, -10))


def naive(vectors, given, weight, by_count):
    """The mean of each text, one word at a time."""
    rows = []
    for text in given:
        known = [word for word in text.split() if word in vectors]
        total = sum((weight(word) * vectors[word].astype(float) for word in known), np.zeros(vectors.dim))
        divisor = len(known) if by_count else sum(map(weight, known))
        rows.append(total / divisor if known else total)
    return np.array(rows)


def shares_of(kind, vectors, given):
    """The share of each word of a corpus, by another way."""
    if kind == "vectors":
        return {word: count / vectors.counts.sum() for word, count in zip(vectors.words, vectors.counts, strict=True)}
    tokens = " ".join(given).split()
    return {word: tokens.count(word) / len(tokens) for word in set(tokens)}


@pytest.mark.parametrize("frequencies", ["vectors", "texts"])
@pytest.mark.parametrize("weighting", ["mean", "subsample", "sif"])
def test_by_an_obvious_twin(vectors, weighting, frequencies):
    given, asked = list(texts()), list(texts(seed=5))
    shares = shares_of(frequencies, vectors, given)
    weights = {
        "mean": lambda word: 1,
        "subsample": lambda word: min(1, np.sqrt(0.01 / shares[word]) + 0.01 / shares[word]) if word in shares else 1,
        "sif": lambda word: 0.01 / (0.01 + shares.get(word, 0)),
    }
    more = {} if weighting == "mean" else {"constant": 0.01, "frequencies": frequencies}
    made = em.MeanVectorizer(vectors=vectors, weighting=weighting, **more).fit(given)
    found = made.transform(asked)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, naive(vectors, asked, weights[weighting], weighting == "sif"), atol=1e-6)
    assert not found[9].any()
    assert made.model_ is None
    assert made.vectors_ is vectors


@pytest.mark.parametrize("count", [4, 60])
@pytest.mark.parametrize("removed", [1, 3])
def test_common_components_as_the_paper_has_it(vectors, count, removed):
    """Of fewer texts than dimensions, and of more."""
    given, asked = list(texts(count)), list(texts(seed=5))
    plain = em.MeanVectorizer(vectors=vectors, weighting="sif").fit(given)
    made = em.MeanVectorizer(vectors=vectors, weighting="sif", remove_components=removed).fit(given)
    u = np.linalg.svd(plain.transform(given).astype(float).T, full_matrices=False)[0][:, :removed]
    rows = plain.transform(asked).astype(float)
    np.testing.assert_allclose(made.transform(asked), rows - rows @ u @ u.T, atol=1e-5)
    assert made.components_.shape == (removed, 7)
    np.testing.assert_array_equal(made.fit_transform(given), made.transform(given))


def test_components_are_no_more_than_the_texts_span():
    rng = np.random.default_rng(1)
    row = rng.standard_normal(5)
    for rows in (np.outer(rng.standard_normal(3), row), np.outer(rng.standard_normal(30), row)):
        found = common_components(rows, 4)
        assert found.shape == (1, 5)
        np.testing.assert_allclose(without(found, rows), 0, atol=1e-12)
    for rows in (np.zeros((3, 5)), np.zeros((9, 5)), np.zeros((0, 5))):
        assert common_components(rows, 2).shape == (0, 5)


@pytest.mark.parametrize("weighting", ["subsample", "sif"])
def test_counts_are_those_of_the_training(weighting):
    """Words that the training left out are part of the corpus that shares are of."""
    given = ["a a a a b b", "c a"]
    made = em.MeanVectorizer(settings={**SMALL, "min_count": 2}, weighting=weighting).fit(given)
    assert made.frequencies_.counts.tolist() == [5, 2]
    assert made.frequencies_.total == 8
    assert em.MeanVectorizer(settings=SMALL).fit(given).frequencies_ is None


def test_vectors_without_counts_are_weighted_by_the_texts(vectors):
    bare = em.Vectors(vectors.words, vectors.matrix)
    made = em.MeanVectorizer(vectors=bare, weighting="sif").fit(["w0 w0 w1"])
    assert made.frequencies_.words == ["w0", "w1"]
    with pytest.raises(SettingError, match="the vectors, which know no counts"):
        em.MeanVectorizer(vectors=bare, weighting="sif", frequencies="vectors").fit(["w0"])


def test_one_thread_and_a_seed_settle_every_byte():
    given = list(texts())
    one, again, other = (
        em.MeanVectorizer(settings=SMALL, random_state=seed).fit_transform(given).tobytes() for seed in (1, 1, 2)
    )
    assert one == again != other
    drawn = [em.MeanVectorizer(settings=SMALL, random_state=np.random.RandomState(4)).fit(given) for _ in range(2)]
    np.testing.assert_array_equal(drawn[0].vectors_.matrix, drawn[1].vectors_.matrix)
    model = em.train("skipgram", given, threads=1, seed=1, **SMALL)
    np.testing.assert_array_equal(model.vectors.matrix, em.MeanVectorizer(settings=SMALL).fit(given).vectors_.matrix)
    np.random.seed(0)  # noqa: NPY002  what None stands for in scikit-learn
    first = em.MeanVectorizer(settings=SMALL, random_state=None).fit_transform(given)
    np.random.seed(0)  # noqa: NPY002
    np.testing.assert_array_equal(first, em.MeanVectorizer(settings=SMALL, random_state=None).fit_transform(given))


def test_any_trainer_by_name_or_made():
    given = list(texts())
    by_name = em.MeanVectorizer("cbow", {**SMALL, "dim": 5}).fit(given)
    assert (by_name.model_.name, by_name.vectors_.dim) == ("cbow", 5)
    made = em.MeanVectorizer(em.CBOW(**SMALL), {"dim": 5}).fit(given)
    np.testing.assert_array_equal(made.vectors_.matrix, by_name.vectors_.matrix)
    words = em.MeanVectorizer("paragraph-dbow", {**SMALL, "train_words": True}).fit(given)
    assert words.transform(["w1"]).tobytes() == words.model_.vectors["w1"].tobytes()


def test_words_without_a_vector_of_their_own_are_composed():
    made = em.MeanVectorizer("fasttext", {**SMALL, "buckets": 100}).fit(["walking talked", "walked talking"])
    np.testing.assert_allclose(made.transform(["Walks"])[0], made.vectors_["walks"], atol=1e-7)
    assert made.transform(["Walks"]).any()
    again = pickle.loads(pickle.dumps(made))
    np.testing.assert_array_equal(again.transform(["walks"]), made.transform(["walks"]))


def test_texts_in_every_form(vectors):
    made = em.MeanVectorizer(vectors=vectors).fit(["w1"])
    plain = ["w1 W2, w3!", "w4 x", "", "w1"]
    expected = made.transform(plain)
    np.testing.assert_allclose(expected[0], vectors[["w1", "w2", "w3"]].mean(axis=0), atol=1e-6)
    series = pd.Series(plain, index=[7, 8, 9, 10])
    columns = pyarrow.array(plain), pyarrow.chunked_array([plain[:1], plain[1:]])
    for form in (tuple(plain), np.array(plain), np.array(plain, object), series, (text for text in plain), *columns):
        np.testing.assert_array_equal(made.transform(form), expected)
    tokens = [["w1", "W2", "w3"], ["w4", "x"], [], ("w1",)]
    np.testing.assert_array_equal(made.transform(tokens), expected)
    for form in (map(iter, tokens), pyarrow.array([list(words) for words in tokens])):
        np.testing.assert_array_equal(made.transform(form), expected)
    assert made.transform([]).shape == (0, 7)
    assert not made.transform(["", "?", "nobody"]).any()
    frame = made.set_output(transform="pandas").transform(series)
    assert frame.index.tolist() == [7, 8, 9, 10]
    assert frame.columns.tolist() == [f"meanvectorizer{i}" for i in range(7)]
    np.testing.assert_array_equal(frame.to_numpy(), expected)


REFUSED = [
    ("w1 w2", "must be a list"),
    (b"w1", "must be a list"),
    ({"w1": 1}, "must be a list"),
    (3, "must be a list"),
    (None, "must be a list"),
    (pd.DataFrame({"a": ["w1"]}), r"one dimension, .* not the shape \(1, 1\): choose one column by name"),
    (np.array([["w1"]]), r"one dimension, .* not the shape \(1, 1\)"),
    (["w1", None], r"text 1 is None, of type NoneType"),
    (pyarrow.array(["w1", None]), r"text 1 is None, of type NoneType"),
    (["w1", float("nan")], "text 1 is nan, of type float"),
    (np.array([1.5]), r"text 0 is .*1\.5"),
    ([b"w1"], "text 0 is b'w1', of type bytes"),
]


@pytest.mark.parametrize(("given", "told"), REFUSED, ids=[str(number) for number in range(len(REFUSED))])
def test_what_holds_no_texts_is_refused(vectors, given, told):
    made = em.MeanVectorizer(vectors=vectors)
    with pytest.raises(SettingError, match=told):
        made.fit(given)
    with pytest.raises(SettingError, match=told):
        made.fit(["w1"]).transform(given)


def test_nothing_to_learn_from(vectors):
    with pytest.raises(SettingError, match="it is empty"):
        em.MeanVectorizer().fit([])
    with pytest.raises(CorpusError, match="no words found in a list of texts"):
        em.MeanVectorizer().fit(["", "?"])
    with pytest.raises(CorpusError, match="no word occurs 5 times"):
        em.MeanVectorizer().fit(["a b"])
    with pytest.raises(CorpusError, match="item 2"):
        em.MeanVectorizer(vectors=vectors).fit(["a", ["b"]])
    with pytest.raises(NotFittedError):
        em.MeanVectorizer(vectors=vectors).transform(["w1"])


def test_a_text_may_be_the_name_of_a_file(vectors, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w1").touch()
    assert em.MeanVectorizer(vectors=vectors).fit_transform(["w1"]).any()
    with pytest.raises(CorpusError, match="the name of a file"):
        em.Corpus(["w1"]).encode()


WRONG = [
    ({"trainer": "skipgrams"}, RegistryError, "no trainer called 'skipgrams'"),
    ({"trainer": 3}, SettingError, "trainer must be the name of one"),
    ({"trainer": em.SkipGram}, SettingError, "trainer must be the name of one"),
    ({"settings": {"dims": 3}}, SettingError, "skipgram has no setting 'dims'; did you mean dim"),
    ({"trainer": em.CBOW(), "settings": {"dims": 3}}, SettingError, "CBOW has no setting 'dims'; did you mean dim"),
    ({"settings": {"dim": 0}}, SettingError, "dim must be at least 1"),
    ({"settings": 3}, SettingError, "settings must be a dict"),
    ({"settings": {3: 3}}, SettingError, "settings must be a dict"),
    ({"vectors": 3}, SettingError, "vectors must be Vectors, a Model, or the path of either"),
    ({"vectors": "nowhere"}, EmbeddingsError, "nowhere does not exist"),
    ({"weighting": "tfidf"}, SettingError, "weighting must be one of mean, subsample, sif, not 'tfidf'"),
    ({"weighting": "sif", "constant": 0}, SettingError, "constant must be at least 1e-09"),
    ({"weighting": "sif", "constant": float("nan")}, SettingError, "constant must be"),
    ({"constant": 0.1}, SettingError, "constant is for weighting by subsample or sif"),
    ({"frequencies": "texts"}, SettingError, "frequencies is for weighting by subsample or sif"),
    ({"weighting": "sif", "frequencies": "x"}, SettingError, "frequencies must be one of vectors, texts"),
    ({"remove_components": -1}, SettingError, "remove_components must be at least 0"),
    ({"remove_components": True}, SettingError, "remove_components must be a whole number"),
    ({"tokenizer": "x"}, RegistryError, "no tokenizer called 'x'"),
    ({"case": "upper"}, SettingError, "case must be lower or keep"),
    ({"threads": 0}, SettingError, "threads must be at least 1"),
    ({"random_state": -1}, SettingError, "random_state must be at least 0"),
    ({"random_state": "x"}, SettingError, "random_state must be a whole number"),
]


@pytest.mark.parametrize(("given", "kind", "told"), WRONG, ids=[str(next(iter(row[0]))) for row in WRONG])
def test_parameters_are_refused_by_fit(given, kind, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = em.MeanVectorizer(**given)
    with pytest.raises(kind, match=told):
        made.fit(["a b c"] * 9)


def test_threads_are_checked_before_texts_are_read(vectors):
    for given in ({}, {"vectors": vectors}):
        with pytest.raises(SettingError, match="threads must be at least 1"):
            em.MeanVectorizer(threads=0, **given).fit([["w1", 3]])  # no token, if it came to reading


def test_what_is_given_is_not_trained(vectors):
    for more in ({"trainer": "cbow"}, {"settings": {"dim": 3}}):
        with pytest.raises(SettingError, match="is for a training, and vectors are given"):
            em.MeanVectorizer(vectors=vectors, **more).fit(["w1"])


def test_ready_vectors_from_a_model_and_from_paths(tmp_path):
    """Texts are cut as for the training, and weighed by its counts."""
    corpus = em.Corpus(["The End. the end!"] * 9, tokenizer="whitespace", case="keep")
    model = em.CBOW(**SMALL).train(corpus, threads=1)
    model.save(tmp_path / "m")
    model.vectors.save(tmp_path / "v.npy")
    asked = ["The End.", "the End. end"]
    expected = [model.vectors[["The", "End."]].mean(axis=0), model.vectors[["the", "End."]].mean(axis=0)]
    for given in (model, tmp_path / "m", str(tmp_path / "m")):
        made = em.MeanVectorizer(vectors=given).fit(asked)
        np.testing.assert_allclose(made.transform(asked), expected, atol=1e-7)
    assert em.MeanVectorizer(vectors=model, weighting="sif").fit(asked).frequencies_ is model.vocabulary
    cut = em.MeanVectorizer(vectors=tmp_path / "v.npy").fit(asked)
    np.testing.assert_allclose(cut.transform(asked)[0], model.vectors["The"], atol=1e-7)
    cut.set_params(tokenizer="whitespace").fit(asked)
    np.testing.assert_allclose(cut.transform(asked), expected, atol=1e-7)
    lower = em.MeanVectorizer(vectors=model, case="lower").fit(asked)
    np.testing.assert_allclose(lower.transform(asked[:1])[0], model.vectors["the"], atol=1e-7)


def test_models_of_phrases_are_refused(tmp_path):
    (tmp_path / "p.tsv").write_text("new york\n")
    model = em.CBOW(**SMALL).train(em.Corpus(["new york and new york"] * 5, phrases=tmp_path / "p.tsv"))
    with pytest.raises(SettingError, match="in which phrases were joined, which no estimator does"):
        em.MeanVectorizer(vectors=model).fit(["new york"])
    made = em.MeanVectorizer(vectors=model.vectors).fit([["new_york"]])
    np.testing.assert_array_equal(made.transform([["new_york"]])[0], model.vectors["new_york"])


def test_clones_share_ready_vectors(vectors):
    made = em.MeanVectorizer(vectors=vectors, weighting="sif").fit(["w1"])
    copied = clone(made)
    assert copied.vectors is vectors
    assert not hasattr(copied, "vectors_")
    model = em.CBOW(**SMALL).train(em.Corpus(["a b"] * 9))
    assert clone(em.MeanVectorizer(vectors=model)).vectors is model
    trainer = em.CBOW(**SMALL)
    assert clone(em.MeanVectorizer(trainer)).trainer == trainer


def test_settings_are_parameters():
    made = em.MeanVectorizer("cbow", {"dim": 5})
    assert made.get_params()["settings__dim"] == 5
    assert "settings__dim" not in made.get_params(deep=False)
    given = made.settings
    assert made.set_params(settings__dim=7, settings__window=2, case="keep") is made
    assert made.settings == {"dim": 7, "window": 2}
    assert given == {"dim": 5}
    assert em.MeanVectorizer().set_params(settings__dim=3).settings == {"dim": 3}
    with pytest.raises(ValueError, match="Invalid parameter 'dim'"):
        made.set_params(dim=3)
    assert repr(made) == "MeanVectorizer(case='keep', settings={'dim': 7, 'window': 2}, trainer='cbow')"


def test_pipelines_and_grid_search():
    given, labels = labelled()
    line = make_pipeline(em.MeanVectorizer(settings={**SMALL, "epochs": 20}), LogisticRegression(C=100))
    assert line.fit(given[:60], labels[:60]).score(given[60:], labels[60:]) == 1
    grid = [
        {"meanvectorizer__settings__dim": [4, 8], "meanvectorizer__trainer": ["cbow", "skipgram"]},
        {"meanvectorizer__weighting": ["sif"], "meanvectorizer__constant": [1e-2], "logisticregression__C": [1, 100]},
    ]
    found = GridSearchCV(line, grid, cv=2, error_score="raise").fit(given, labels)
    assert len(found.cv_results_["params"]) == 6
    assert found.best_score_ > 0.9
    dims = [params.get("meanvectorizer__settings__dim") for params in found.cv_results_["params"]]
    assert dims == [4, 4, 8, 8, None, None]
    assert line.named_steps["meanvectorizer"].settings["dim"] == 8


def test_pickled_once_fitted(vectors):
    made = em.MeanVectorizer(vectors=vectors, weighting="sif", remove_components=1).fit(list(texts()))
    again = pickle.loads(pickle.dumps(made))
    np.testing.assert_array_equal(again.transform(["w1 w2"]), made.transform(["w1 w2"]))


def test_not_imported_before_it_is_used(python):
    code = "import sys, embeddings, embeddings.cli; embeddings.Vectors; print('sklearn' in sys.modules)"
    assert python("-c", code).stdout.strip() == "False"


def test_shown_in_a_notebook(vectors):
    text = em.MeanVectorizer(vectors=vectors, weighting="sif")._repr_html_()
    assert "Vectors: 30 words, 7 components" in text
