"""Logistic regression on windows of vectors, and the scores of the most frequent label beside it.

It minimises what scikit-learn's `LogisticRegression(C=1, tol=1e-4)` minimises, also by L-BFGS, but through the table of
distinct words: a window is a few rows of it, so a product with all windows is a product with the table and a sparse sum
of its rows. For English EWT this takes a tenth of the time and memory.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.eval.statistics.confidence_intervals import NO_INTERVAL, Interval, wilson
from embeddings.eval.statistics.results import ItemScores, Key, Measurement
from embeddings.eval.test_sets import Split
from embeddings.support.imports import import_library

PENALTY = 1.0  # 1/C in scikit-learn
TOLERANCE = 1e-4  # largest component of the gradient of the mean loss at the end
ACCEPTED = 1e-3  # the same where the search ends for another reason, and counts as converged
ITERATIONS = 1000
NOT_CONVERGED = "a classifier did not converge, so the value may be too low"
NO_LABEL = -1


@dataclass(frozen=True)
class Windows:
    """Concatenated rows of a table: `table` (rows, width) float32, and `places` (items, positions) in it."""

    table: np.ndarray
    places: NDArray[np.int64]


@dataclass(frozen=True)
class Classifier:
    """A linear classifier of windows: `weights` (positions, width, classes) and `bias` (classes,)."""

    weights: np.ndarray
    bias: np.ndarray
    has_converged: bool = True

    def predict(self, windows: Windows) -> NDArray[np.int64]:
        """The class of each window (items,); a tie goes to the lowest."""
        products = windows.table.astype(np.float64) @ self.weights
        scores = self.bias + sum(product[places] for product, places in zip(products, windows.places.T, strict=True))
        return np.asarray(np.argmax(scores, axis=1), dtype=np.int64)


def train_classifier(windows: Windows, classes: NDArray[np.int64], count: int) -> Classifier:
    """The best classifier of `count` classes, from the class (items,) of each window; deterministic."""
    minimize = import_library("scipy.optimize").minimize
    threadpool_limits = import_library("threadpoolctl").threadpool_limits

    objective = Objective(windows, classes, count)
    options = {"maxiter": ITERATIONS, "gtol": TOLERANCE, "ftol": 64 * np.finfo(float).eps}
    with threadpool_limits(1):
        solution = minimize(objective, np.zeros(objective.size), jac=True, method="L-BFGS-B", options=options)
    weights, bias = objective.unpack(solution.x)
    is_near = float(np.abs(solution.jac).max()) <= ACCEPTED  # where float32 allows no further progress
    return Classifier(weights, bias, bool(solution.success) or is_near)


class Objective:
    """The penalised mean loss and its gradient, as a function of weights and biases in one flat array."""

    def __init__(self, windows: Windows, classes: NDArray[np.int64], count: int) -> None:
        csr_array = import_library("scipy.sparse").csr_array

        self.table, self.classes, self.items = windows.table, classes, np.arange(len(classes))
        items, positions = windows.places.shape
        columns = (windows.places + len(self.table) * np.arange(positions)).ravel().astype(np.int32)
        starts = np.arange(0, items * positions + 1, positions, dtype=np.int32)
        ones, shape = np.ones(len(columns), np.float32), (items, positions * len(self.table))
        self.selection = csr_array((ones, columns, starts), shape=shape)  # sums products with the table
        self.transposed = self.selection.T.tocsr()
        self.shape = positions, self.table.shape[1], count
        self.size = int(np.prod(self.shape)) + count

    def unpack(self, flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights (positions, width, classes) and biases (classes,)."""
        count = self.shape[-1]
        return flat[:-count].reshape(self.shape), flat[-count:]

    def __call__(self, flat: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss and its gradient."""
        weights, bias = self.unpack(flat)
        products = self.table @ weights.astype(np.float32)
        scores = self.selection @ products.reshape(-1, self.shape[-1]) + bias.astype(np.float32)
        # the exponentials of differences from the largest score cannot overflow
        scores -= scores.max(axis=1, keepdims=True)
        target = scores[self.items, self.classes].astype(np.float64)
        probabilities = np.exp(scores, out=scores)
        sums = probabilities.sum(axis=1)
        loss = (np.log(sums.astype(np.float64)) - target).sum() + PENALTY / 2 * (weights * weights).sum()
        errors = np.divide(probabilities, sums[:, None], out=probabilities)
        errors[self.items, self.classes] -= 1
        # first the errors of all windows of a row, then one product with the table: rows are far fewer than windows
        row_sums = (self.transposed @ errors).reshape(self.shape[0], len(self.table), -1)
        slopes = (self.table.T @ row_sums).astype(np.float64) + PENALTY * weights
        gradient = np.append(slopes.ravel(), errors.sum(axis=0, dtype=np.float64))
        return loss / len(self.items), gradient / len(self.items)


def whiten(matrix: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Rows (words, dim) transformed so that, weighted by `counts`, their mean is 0 and their covariance 1, float32."""
    total = counts.sum()
    if total == 0:
        return np.zeros((len(matrix), 0), dtype=np.float32)
    wide = matrix.astype(np.float64)
    wide /= np.abs(wide).max() or 1  # so that no square overflows or underflows
    wide -= counts @ wide / total
    is_counted = counts > 0
    weighted_rows = np.sqrt(counts[is_counted] / total)[:, None] * wide[is_counted]
    _, deviations, axes = np.linalg.svd(weighted_rows, full_matrices=False)
    has_variance = deviations > 1e-6 * deviations.max(initial=0)  # other directions are dropped
    return np.asarray(wide @ (axes[has_variance].T / deviations[has_variance]), dtype=np.float32)


def predict_rows(
    matrix: np.ndarray,
    covered: NDArray[np.bool_],
    classes: NDArray[np.int64],
    train_rows: NDArray[np.int64],
    test_rows: NDArray[np.int64],
) -> tuple[NDArray[np.int64], bool]:
    """The predicted classes of the test rows of a matrix, and whether the classifier converged.

    The matrix is whitened over the training rows that are `covered`; other rows are zeros.
    """
    weights = np.zeros(len(matrix))
    weights[train_rows] = covered[train_rows]
    table = whiten(matrix, weights) * covered[:, None].astype(np.float32)
    classifier = train_classifier(Windows(table, train_rows[:, None]), classes[train_rows], int(classes.max()) + 1)
    return classifier.predict(Windows(table, test_rows[:, None])), classifier.has_converged


class CrossPredictions(NamedTuple):
    """The predicted class of each item, the most frequent class of its training items, and a warning.

    The most frequent class is `NO_LABEL` for items that are not tested.
    """

    guess: NDArray[np.int64]
    most_frequent: NDArray[np.int64]
    note: str | None


def cross_predict(
    classes: NDArray[np.int64],
    splits: Iterable[Split],
    predict: Callable[[NDArray[np.int64], NDArray[np.int64]], tuple[NDArray[np.int64], bool]] | None,
) -> CrossPredictions:
    """Predict the classes of the test items of each split.

    Arguments:
        predict: a function from the rows to train and to test on to predictions, and to whether training converged;
            None predicts no class.
    """
    guess, most_frequent, has_converged = np.full(len(classes), NO_LABEL), np.full(len(classes), NO_LABEL), True
    for train_rows, test_rows in splits:
        most_frequent[test_rows] = np.bincount(classes[train_rows]).argmax()
        if predict is not None:
            guess[test_rows], split_converged = predict(train_rows, test_rows)
            has_converged &= split_converged
    return CrossPredictions(guess, most_frequent, None if has_converged else NOT_CONVERGED)


MAJORITY = "most frequent label"


def majority_scores(name: str, test: str, actual: np.ndarray, majority: np.ndarray) -> list[ItemScores]:
    """Accuracy and macro-F1 of predicting the most frequent label of the training texts, `majority` (items,)."""
    hits, total = int((actual == majority).sum()), len(actual)
    values: dict[str, tuple[float, Interval]] = {
        "macro-f1": (macro_f1(actual, majority), NO_INTERVAL),
        "accuracy": (hits / total, wilson(hits, total)),
    }
    return [
        Measurement(
            vectors=name,
            key=Key(test, measure, method=MAJORITY),
            value=value,
            interval=interval,
            covered=total,
            total=total,
            protocol="the most frequent label of the training texts",
        )
        for measure, (value, interval) in values.items()
    ]


def macro_f1(actual: np.ndarray, predicted: np.ndarray) -> float:
    """The mean F1 over all labels that occur or are predicted."""
    f1_score = import_library("sklearn.metrics").f1_score

    return float(f1_score(actual, predicted, average="macro", zero_division=0))
