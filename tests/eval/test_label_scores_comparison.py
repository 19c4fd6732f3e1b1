"""Paired tests of classifiers."""

import numpy as np
import pytest
from fixed_classifier import LABELS, FixedClassifier, indicator, random_texts
from sklearn import metrics

from embeddings.eval import compare_scores, evaluate_classifier
from embeddings.eval.statistics.results import MCNEMAR, TEXTS


class Shifted(FixedClassifier):
    """Predicts the next label for some texts; its labels are in another order, and one has no text."""

    labels = ("__label__zz", *FixedClassifier.labels[::-1])

    def rank(self, text, starts, k=1, threshold=0.0, *, threads=None):
        ids, probabilities = FixedClassifier.rank(self, text, starts, k, threshold)
        lengths = np.diff(starts)
        shifted = (ids + (lengths % 3 == 0)[:, None]) % len(LABELS)
        return np.where(ids < 0, -1, len(LABELS) - shifted), probabilities


def compare_labels(*scores):
    return compare_scores([one.item_scores() for one in scores])


def test_classifiers_of_one_label_are_compared_by_the_texts_they_get_right():
    lines, actual, predictions = random_texts(np.random.default_rng(1), 300)
    lines = [line + " " * n for n, line in enumerate(lines)]
    first = evaluate_classifier(FixedClassifier(), lines, name="first")
    second = evaluate_classifier(Shifted(), lines, name="second")
    precision, recall, f1, macro = compare_labels(first, second)
    own = {one.measure: one.value for one in second.results() if one.section is None and one.method is None}
    for comparison in (precision, recall, f1, macro):
        assert (comparison.value_second, comparison.items) == (pytest.approx(own[comparison.measure]), 300)
    hits = np.mean([row[0][0] == names[0] for row, names in zip(predictions, actual, strict=True)])
    assert (precision.value_first, precision.test, macro.test) == (pytest.approx(hits), MCNEMAR, TEXTS)
    assert precision.p == recall.p == f1.p
    assert (macro.first, macro.second, macro.measure) == ("first", "second", "macro-f1@1")
    (back, *_) = compare_labels(second, first)
    assert (back.difference, back.p) == (pytest.approx(-precision.difference), precision.p)


def test_classifiers_of_several_labels_are_compared_by_a_bootstrap():
    lines, actual, predictions = random_texts(np.random.default_rng(2), 200, 3)
    first, second = (evaluate_classifier(FixedClassifier(), lines, k=2, threshold=p, name=str(p)) for p in (0, 0.3))
    second = type(first)(second.predictions, second.set, second.classifier, 2, 0)
    comparisons = compare_labels(first, second)
    kept = [[[name for name, p in row[:2] if p >= threshold] for row in predictions] for threshold in (0, 0.3)]
    rng, differences = np.random.default_rng(0), []
    for _ in range(400):
        rows = rng.integers(200, size=200)
        sides = [
            metrics.f1_score(indicator(actual)[rows], indicator(side)[rows], average="micro", zero_division=0)
            for side in kept
        ]
        differences.append(sides[0] - sides[1])
    f1 = comparisons[2]
    np.testing.assert_allclose([f1.low, f1.high], np.quantile(differences, [0.025, 0.975]), atol=0.02)
    assert [one.test for one in comparisons] == [TEXTS] * 4
    same = compare_labels(first, first)
    assert all((one.difference, one.p) == (0, 1) for one in same)
