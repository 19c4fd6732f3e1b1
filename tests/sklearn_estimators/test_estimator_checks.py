"""scikit-learn's own checks, on the estimators, and on wrappers that turn numbers into texts."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

import embeddings as em

SETTINGS = {"dim": 6, "min_count": 1, "epochs": 2, "subsample": 0}


def tagged_as_numbers(tags):
    """scikit-learn has no checks for text estimators: with their own tags none would run."""
    tags.input_tags.two_d_array = True
    tags.input_tags.one_d_array = tags.input_tags.string = False
    return tags


class TaggedAsNumbers:
    """Changes only the tags."""

    def __sklearn_tags__(self):
        return tagged_as_numbers(super().__sklearn_tags__())


class NumbersAsTexts:
    """Turns each row of numbers into a text, and checks their columns, which texts do not have."""

    def __sklearn_tags__(self):
        return tagged_as_numbers(super().__sklearn_tags__())

    def fit(self, X, y=None):
        return super().fit(self.to_texts(X, reset=True), y)

    def to_texts(self, X, *, reset):
        rows = validate_data(self, X, reset=reset)
        texts = (" ".join(f"column{column}is{round(4 * cell)}" for column, cell in enumerate(row)) for row in rows)
        return [f"row {text}" for text in texts]  # at least two words, so that there is something to learn


class VectorsOfNumbers(NumbersAsTexts):
    """The same for transformers."""

    def transform(self, X):
        return super().transform(self.to_texts(X, reset=False))

    def fit_transform(self, X, y=None):
        return self.fit(X, y).transform(X)


class Means(TaggedAsNumbers, em.MeanVectorizer):
    """Means of word vectors."""


class Paragraphs(TaggedAsNumbers, em.ParagraphVectorizer):
    """Document vectors."""


class Classifier(TaggedAsNumbers, em.TextClassifier):
    """A text classifier."""


class MeansOfNumbers(VectorsOfNumbers, em.MeanVectorizer):
    """Means of word vectors for numbers."""


class ParagraphsOfNumbers(VectorsOfNumbers, em.ParagraphVectorizer):
    """Document vectors for numbers."""


class ClassifierOfNumbers(NumbersAsTexts, em.TextClassifier):
    """A classifier of numbers."""

    def predict_proba(self, X):
        return super().predict_proba(self.to_texts(X, reset=False))


NEEDS_NUMBERS = "text estimators refuse the matrix of numbers that the check fits"
TEXT_ONLY = {
    name: NEEDS_NUMBERS
    for name in (
        "check_fit_score_takes_y",
        "check_estimators_overwrite_params",
        "check_dont_overwrite_parameters",
        "check_estimators_fit_returns_self",
        "check_readonly_memmap_input",
        "check_n_features_in_after_fitting",
        "check_positive_only_tag_during_fit",
        "check_estimators_dtypes",
        "check_complex_data",
        "check_dtype_object",
        "check_estimators_empty_data_messages",
        "check_pipeline_consistency",
        "check_estimators_nan_inf",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_transformer_data_not_an_array",
        "check_transformer_general",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_fit2d_1sample",
        "check_fit2d_1feature",
        "check_dict_unchanged",
        "check_fit_idempotent",
        "check_fit_check_is_fitted",
        "check_n_features_in",
        "check_fit2d_predict1d",
        "check_classifier_data_not_an_array",
        "check_classifiers_one_label",
        "check_classifiers_classes",
        "check_classifiers_train",
        "check_classifiers_regression_target",
        "check_classifiers_multilabel_representation_invariance",
        "check_classifiers_multilabel_output_format_predict",
        "check_classifiers_multilabel_output_format_predict_proba",
        "check_classifiers_multilabel_output_format_decision_function",
        "check_supervised_y_2d",
    )
}


@parametrize_with_checks([Means(), Paragraphs(), Classifier()], expected_failed_checks=lambda _: TEXT_ONLY)
def test_estimators(estimator, check):
    try:
        check(estimator)
    except Exception as error:
        if check.func.__name__ in TEXT_ONLY:  # pytest takes far longer to print the traceback than the check takes
            pytest.fail(str(error), pytrace=False)
        raise


WRAPPED = [
    MeansOfNumbers(settings=SETTINGS),
    MeansOfNumbers("cbow", SETTINGS, weighting="sif", remove_components=1),
    ParagraphsOfNumbers(settings=SETTINGS, infer_epochs=3),
    ClassifierOfNumbers(settings={"dim": 6, "epochs": 100, "learning_rate": 0.3}),
]


@pytest.mark.slow
@parametrize_with_checks(WRAPPED)
def test_estimators_on_numbers(estimator, check):
    check(estimator)


def test_tags():
    for estimator in (em.MeanVectorizer(), em.ParagraphVectorizer(), em.TextClassifier()):
        tags = estimator.__sklearn_tags__()
        assert (tags.input_tags.string, tags.input_tags.one_d_array, tags.input_tags.two_d_array) == (True, True, False)
        assert tags.requires_fit
        assert not tags.non_deterministic
        assert estimator.set_params(threads=2).__sklearn_tags__().non_deterministic


def test_numbers_are_refused():
    for estimator in (em.MeanVectorizer(), em.ParagraphVectorizer(), em.TextClassifier()):
        with pytest.raises(ValueError, match=r"one dimension.*\(3, 2\)"):
            estimator.fit(np.ones((3, 2)), [0, 1, 1])
