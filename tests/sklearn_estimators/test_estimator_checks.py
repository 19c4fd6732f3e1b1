"""scikit-learn's own checks on the estimators, whose numbers a wrapper turns into texts; what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

import embeddings as em
from embeddings.errors import EmbeddingsError, RegistryError, SettingError

SETTINGS = {"dim": 6, "min_count": 1, "epochs": 2, "subsample": 0}


class NumbersAsTexts:
    """Turns each row of numbers into a text; checks columns and values of numbers, which texts do not have."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True  # scikit-learn has no checks for text estimators: none would run
        tags.input_tags.one_d_array = tags.input_tags.string = False
        return tags

    def fit(self, X, y=None):
        return super().fit(self.to_texts(X, reset=True), y)

    def to_texts(self, X, *, reset):
        rows = validate_data(self, X, reset=reset)
        texts = (" ".join(f"column{column}is{round(4 * cell)}" for column, cell in enumerate(row)) for row in rows)
        return [f"row {text}" for text in texts]  # at least two words, so that there is something to learn


class VectorsOfNumbers(NumbersAsTexts):
    """Turns the rows of numbers that a transformer gets into texts."""

    def transform(self, X):
        return super().transform(self.to_texts(X, reset=False))

    def fit_transform(self, X, y=None):
        return self.fit(X, y).transform(X)


class MeansOfNumbers(VectorsOfNumbers, em.sklearn.MeanVectorizer):
    """Means of word vectors for numbers."""


class ParagraphsOfNumbers(VectorsOfNumbers, em.sklearn.ParagraphVectorizer):
    """Document vectors for numbers."""


class ClassifierOfNumbers(NumbersAsTexts, em.sklearn.TextClassifier):
    """A classifier of numbers."""

    def predict_proba(self, X):
        return super().predict_proba(self.to_texts(X, reset=False))


WRAPPED = [
    MeansOfNumbers(settings=SETTINGS),
    MeansOfNumbers("cbow", SETTINGS, pool="sif", remove_components=1),
    ParagraphsOfNumbers(settings=SETTINGS, infer_epochs=3),
    ClassifierOfNumbers(settings={"dim": 6, "epochs": 100, "learning_rate": 0.3}),
]


@parametrize_with_checks(WRAPPED)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_tags():
    for estimator in (em.sklearn.MeanVectorizer(), em.sklearn.ParagraphVectorizer(), em.sklearn.TextClassifier()):
        tags = estimator.__sklearn_tags__()
        assert (tags.input_tags.string, tags.input_tags.one_d_array, tags.input_tags.two_d_array) == (True, True, False)
        assert tags.requires_fit
        assert not tags.non_deterministic
        assert estimator.set_params(threads=2).__sklearn_tags__().non_deterministic


NUMBERS = {
    "matrix": (np.ones((3, 2)), r"texts must be .* one column of a table, got ndarray of shape \(3, 2\)"),
    "table": (
        pd.DataFrame({"a": [1, 2, 3]}),
        r"texts must be .* one column of a table, got DataFrame of shape \(3, 1\)",
    ),
    "vector": (np.ones(3), r"texts must be strings.*; text 0 is .*1\.0.*, of type float64"),
    "list": ([1, 2, 3], r"texts must be strings.*; text 0 is 1, of type int"),
    "bytes": ([b"a", b"b", b"c"], r"texts must be strings.*; text 0 is b'a', of type bytes"),
    **{
        kind: (value, r"texts must be a list of .*")
        for kind, value in {"text": "a b", "one bytes": b"a", "mapping": {"a": 1}, "number": 3, "nothing": None}.items()
    },
    "sparse matrix": (csr_matrix(np.ones((3, 2))), r"texts must be a list of strings.*, got csr_matrix of shape .*"),
}


@pytest.fixture(scope="module")
def fitted():
    """Fitted estimators with a method that takes texts."""
    texts = ["a b", "b c", "c a"]
    means, paragraphs = em.sklearn.MeanVectorizer(settings=SETTINGS), em.sklearn.ParagraphVectorizer(settings=SETTINGS)
    classifier = em.sklearn.TextClassifier(settings={"dim": 6}).fit(texts, [0, 1, 1])
    return [
        (means, means.fit(texts).transform),
        (paragraphs, paragraphs.fit(texts).transform),
        (classifier, classifier.predict),
        (classifier, classifier.predict_proba),
    ]


@pytest.mark.parametrize(("numbers", "message"), NUMBERS.values(), ids=NUMBERS)
def test_numbers_are_refused(fitted, numbers, message):
    for estimator, apply in fitted:
        with pytest.raises(SettingError, match=f"^{message}$"):
            estimator.fit(numbers, [0, 1, 1])
        with pytest.raises(SettingError, match=f"^{message}$"):
            apply(numbers)


INVALID_PARAMETERS = {
    em.sklearn.MeanVectorizer: [
        ({"trainer": "skipgrams"}, RegistryError, "'skipgrams'"),
        ({"trainer": 3}, TypeError, "dataclass instances"),
        ({"trainer": em.SkipGram}, TypeError, "dataclass instances"),
        ({"settings": {"dims": 3}}, SettingError, "'dims'.*dim"),
        ({"trainer": em.CBOW(), "settings": {"dims": 3}}, SettingError, "'dims'.*dim"),
        ({"settings": {"dim": 0}}, SettingError, "dim.*0"),
        ({"settings": 3}, TypeError, "mapping"),
        ({"settings": {3: 3}}, TypeError, "strings"),
        ({"vectors": 3}, SettingError, "expected Vectors.*3"),
        ({"vectors": "nowhere"}, EmbeddingsError, "nowhere"),
        ({"pool": "sif", "constant": 0}, SettingError, "constant.*1e-09"),
        ({"pool": "sif", "constant": float("nan")}, SettingError, "constant.*nan"),
        ({"pool": "median"}, SettingError, "pool.*'median'"),
        ({"pool": "mean", "constant": 0.1}, SettingError, "constant.*sif"),
        ({"pool": "mean", "frequencies": "texts"}, SettingError, "frequencies.*sif"),
        ({"pool": "sif", "frequencies": "x"}, SettingError, "frequencies.*vectors, texts.*'x'"),
        ({"remove_components": -1}, SettingError, "remove_components.*-1"),
        ({"remove_components": True}, SettingError, "remove_components.*True"),
        ({"tokenizer": "x"}, RegistryError, "'x'"),
        ({"case": "upper"}, SettingError, "case.*'upper'"),
        ({"threads": 0}, SettingError, "threads.*0"),
        ({"random_state": -1}, SettingError, "random_state.*-1"),
        ({"random_state": "x"}, ValueError, "'x'"),
    ],
    em.sklearn.ParagraphVectorizer: [
        ({"trainer": "skipgram"}, SettingError, "trainer.*paragraph-dbow.*'skipgram'"),
        ({"trainer": em.CBOW()}, SettingError, "trainer.*paragraph-dbow.*CBOW"),
        ({"infer_epochs": 0}, SettingError, "infer_epochs.*0"),
        ({"tokenizer": str.split}, SettingError, "tokenizer must be a name"),
        ({"threads": 0}, SettingError, "threads.*0"),
    ],
    em.sklearn.TextClassifier: [
        ({"trainer": "skipgram"}, SettingError, "trainer must be"),
        ({"settings": {"dims": 3}}, SettingError, "dim"),
        ({"k": 0}, SettingError, "k must be"),
        ({"threshold": 2.0}, SettingError, "threshold must be"),
        ({"threads": 0}, SettingError, "threads"),
    ],
}


@pytest.mark.parametrize(
    ("kind", "parameters", "error", "message"),
    [(kind, *case) for kind, cases in INVALID_PARAMETERS.items() for case in cases],
)
def test_fit_refuses_invalid_parameters(kind, parameters, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    estimator = kind(**parameters)
    with pytest.raises(error, match=message):
        estimator.fit(["a b c"] * 9, [0, 1, 1] * 3)
