"""scikit-learn's own checks, on the estimators as they are, and on the same below numbers written as texts."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

import embeddings as em

SETTINGS = {"dim": 6, "min_count": 1, "epochs": 2}


def tagged_as_numbers(tags):
    """With honest tags the checks are not run at all: those for texts do not exist."""
    tags.input_tags.two_d_array = True
    tags.input_tags.one_d_array = tags.input_tags.string = False
    return tags


class AsItIs:
    """Nothing is changed but the tags."""

    def __sklearn_tags__(self):
        return tagged_as_numbers(super().__sklearn_tags__())


class BelowNumbers:
    """Each row of numbers becomes a text; that they have columns is checked here, for texts have none."""

    def __sklearn_tags__(self):
        return tagged_as_numbers(super().__sklearn_tags__())

    def fit(self, X, y=None):
        return super().fit(self.written(X, reset=True), y)

    def transform(self, X):
        return super().transform(self.written(X, reset=False))

    def fit_transform(self, X, y=None):
        return self.fit(X, y).transform(X)

    def written(self, X, *, reset):
        rows = validate_data(self, X, reset=reset)
        return [" ".join(f"column{place}is{round(4 * cell)}" for place, cell in enumerate(row)) for row in rows]


class Means(AsItIs, em.MeanVectorizer):
    """Means of words."""


class Paragraphs(AsItIs, em.ParagraphVectorizer):
    """Vectors of documents."""


class MeansOfNumbers(BelowNumbers, em.MeanVectorizer):
    """Means of words, given numbers."""


class ParagraphsOfNumbers(BelowNumbers, em.ParagraphVectorizer):
    """Vectors of documents, given numbers."""


ON_NUMBERS = "text input: the check learns from a matrix of numbers, which is refused"
TEXT_ONLY = {
    name: ON_NUMBERS
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
    )
}


@parametrize_with_checks([Means(), Paragraphs()], expected_failed_checks=lambda _: TEXT_ONLY)
def test_as_they_are(estimator, check):
    check(estimator)


BELOW = [
    MeansOfNumbers(settings=SETTINGS),
    MeansOfNumbers("cbow", SETTINGS, weighting="sif", remove_components=1),
    ParagraphsOfNumbers(settings=SETTINGS, infer_epochs=3),
]


@pytest.mark.slow
@parametrize_with_checks(BELOW)
def test_below_numbers(estimator, check):
    check(estimator)


def test_honest_tags():
    for made in (em.MeanVectorizer(), em.ParagraphVectorizer()):
        tags = made.__sklearn_tags__()
        assert (tags.input_tags.string, tags.input_tags.one_d_array, tags.input_tags.two_d_array) == (True, True, False)
        assert tags.requires_fit
        assert not tags.non_deterministic
        assert made.set_params(threads=2).__sklearn_tags__().non_deterministic


def test_numbers_are_refused():
    for made in (em.MeanVectorizer(), em.ParagraphVectorizer()):
        with pytest.raises(ValueError, match=r"one dimension, .* not the shape \(3, 2\)"):
            made.fit(np.ones((3, 2)))
