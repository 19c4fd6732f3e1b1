"""Prediction of categories against scikit-learn: predictions of each fold, and F1."""

import numpy as np
import pytest
from naive_bootstrap import interval, resample_counts

from embeddings.eval import evaluate
from embeddings.eval.tasks.evaluation_kind import Subject
from embeddings.eval.tasks.linear_classifier import MAJORITY
from embeddings.eval.tasks.word_categories import read_word_categories, score_categories
from embeddings.eval.test_sets import FOLDS, stratified_folds
from embeddings.vectors.vectors import Vectors

KINDS = ("person", "place", "thing")


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """Sixty names of persons, thirty of places, a few of things; a fifth of them has no vector."""
    path = tmp_path_factory.mktemp("categories") / "names.tsv"
    listed = [(f"{kind}{i}", kind) for kind, count in zip(KINDS, (60, 30, 12), strict=True) for i in range(count)]
    np.random.default_rng(0).shuffle(listed)
    path.write_text("".join(f"{word}\t{kind}\n" for word, kind in listed))
    return path


@pytest.fixture(scope="module")
def vectors(names):
    rng = np.random.default_rng(1)
    centres = 0.9 * rng.standard_normal((3, 8))
    test = read_word_categories(names)
    known = [(word, kind) for word, kind in zip(test.words, test.categories, strict=True) if not word.endswith("5")]
    rows = [centres[KINDS.index(kind)] + rng.standard_normal(8) for _, kind in known]
    return Vectors([word for word, _ in known], np.array(rows, np.float32))


def learned(results):
    return [result for result in results if result.method != MAJORITY]


def test_equals_scikit_learn_fold_by_fold(names, vectors):
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, f1_score

    test = read_word_categories(names)
    category, fold = (
        np.array(test.categories),
        stratified_folds(test.words, np.array([KINDS.index(kind) for kind in test.categories])),
    )
    seen = np.array([word in vectors for word in test.words])
    predicted = np.full(len(category), "nothing")
    for number in range(FOLDS):
        train, other = seen & (fold != number), seen & (fold == number)
        rows = np.array([vectors[word] for word in np.array(test.words)[train]], np.float64)
        mean, (_, spread, turn) = rows.mean(axis=0), np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
        white = np.sqrt(len(rows)) * turn.T / spread
        model = LogisticRegression(C=1, tol=1e-8, max_iter=5000).fit((rows - mean) @ white, category[train])
        test_rows = np.array([vectors[word] for word in np.array(test.words)[other]], np.float64)
        predicted[other] = model.predict((test_rows - mean) @ white)
    found = {(result.measure, result.section): result for result in learned(evaluate(vectors, categories=names))}
    assert 0.3 < found["macro-f1", None].value < 0.95
    values = f1_score(category, predicted, labels=KINDS, average=None)
    for kind, value in zip(KINDS, values, strict=True):
        assert found["f1", kind].value == pytest.approx(value)
    assert found["macro-f1", None].value == pytest.approx(values.mean())
    assert found["micro-f1", None].value == pytest.approx(f1_score(category, predicted, labels=KINDS, average="micro"))
    assert found["accuracy", None].value == pytest.approx(accuracy_score(category[seen], predicted[seen]))
    assert (found["micro-f1", None].covered, found["micro-f1", None].total) == (seen.sum(), 102)
    assert found["f1", "thing"].total == 12


def test_folds_are_stratified():
    category = np.repeat([0, 1, 2], [50, 25, 3])
    words = [f"w{i}" for i in range(78)]
    fold = stratified_folds(words, category)
    for number in range(FOLDS):
        counts = np.bincount(category[fold == number], minlength=3)
        assert counts[:2].tolist() == [10, 5]
        assert counts[2] <= 1
    np.testing.assert_array_equal(stratified_folds(words, category), fold)
    words[10] = words[70] = words[3]
    assert len(set(stratified_folds(words, category)[[3, 10, 70]])) == 1


def test_interval_equals_the_naive_bootstrap(names, vectors):
    scores = score_categories(Subject(vectors, "v"), read_word_categories(names))
    macro = next(one for one in scores if one.key.measure == "macro-f1")

    values = []
    for times in resample_counts(102):
        actual, predicted = np.repeat(macro.actual, times, axis=0), np.repeat(macro.predicted, times, axis=0)
        sums = actual.sum(axis=0) + predicted.sum(axis=0)
        values.append(np.mean(2 * (actual & predicted).sum(axis=0)[sums > 0] / sums[sums > 0]))
    result = macro.result()
    assert (result.low, result.high) == pytest.approx(interval(values))
    assert result.low < result.value < result.high
