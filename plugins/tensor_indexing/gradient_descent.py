"""Mini-batch gradient descent by Adam (Kingma and Ba 2015) with early stopping on held-out phrases."""

import math
from collections.abc import Callable
from copy import deepcopy
from typing import NamedTuple

import numpy as np

from embeddings.plugins.tensor_indexing.composition_settings import CompositionSettings
from embeddings.plugins.tensor_indexing.functions import LearnedFunction, Parameters, PhraseVectors
from embeddings.support.cosine import row_blocks

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
FIXED = "identity"  # a parameter that is not learned
MIN_GAIN = 1e-4  # relative gain on the best dev error below which an epoch counts as none


class Epoch(NamedTuple):
    """Mean squared errors over the targets' mean square of train (during the epoch) and dev; the learning rate."""

    train: float | None
    dev: float
    learning_rate: float


ReportEpoch = Callable[[int, Epoch], None]


def descend(
    function: LearnedFunction,
    start: Parameters,
    train: PhraseVectors,
    dev: PhraseVectors,
    settings: CompositionSettings,
    rng: np.random.Generator,
    report: ReportEpoch | None = None,
) -> tuple[Parameters, list[Epoch]]:
    """Fit a function; returns the parameters with the least error on `dev`, and all epochs, the first being the start.

    After each epoch that gains less than `MIN_GAIN`, the best parameters are restored and the learning rate is halved;
    an epoch that overflows gains nothing.
    """
    adam = Adam({name: array for name, array in start.items() if name != FIXED}, settings.penalty)
    current, best = deepcopy(start), start
    epochs = [Epoch(None, relative_error(function, best, dev), settings.fit_learning_rate)]
    least, rate, failures = epochs[0].dev, settings.fit_learning_rate, 0
    while len(epochs) <= settings.fit_epochs and failures < settings.patience:
        order, total = rng.permutation(len(train.x)), 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            for first in range(0, len(order), settings.fit_batch):
                x, y, z = (rows[order[first : first + settings.fit_batch]] for rows in train)
                error, gradient = function.gradient(current, x, y, z)
                total += float(np.vdot(error, error))
                adam.step(current, gradient, rate)
            epochs.append(Epoch(total / sum_of_squares(train.z), relative_error(function, current, dev), rate))
        has_gained = epochs[-1].dev < least * (1 - MIN_GAIN)
        if epochs[-1].dev < least:
            least, best = epochs[-1].dev, deepcopy(current)
        failures = 0 if has_gained else failures + 1
        if failures:
            current, rate = deepcopy(best), rate / 2
            adam.reset()
        if report:
            report(len(epochs) - 1, epochs[-1])
    return best, epochs


def relative_error(function: LearnedFunction, parameters: Parameters, phrases: PhraseVectors) -> float:
    """The squared error divided by the squared length of the targets; NaN after an overflow."""
    total = 0.0
    for rows in row_blocks(len(phrases.x), phrases.x.shape[1] ** 2):
        predictions = function.predict(parameters, phrases.x[rows], phrases.y[rows])
        error = (predictions - phrases.z[rows]).astype(np.float64)
        total += float(np.vdot(error, error))
    return total / sum_of_squares(phrases.z)


def sum_of_squares(rows: np.ndarray) -> float:
    """The sum of squares, but at least the smallest positive float32."""
    return max(float(np.vdot(rows, rows)), float(np.finfo(np.float32).tiny))


class Adam:
    """Adam (Kingma and Ba 2015, algorithm 1) with a penalty on the distance from `centre`.

    g += penalty * (p - centre), m += (1 - b1) (g - m), v += (1 - b2) (g^2 - v),
    p -= rate * sqrt(1 - b2^t) / (1 - b1^t) * m / (sqrt(v) + epsilon).
    """

    def __init__(self, centre: Parameters, penalty: float) -> None:
        self.centre, self.penalty = centre, penalty
        self.reset()

    def reset(self) -> None:
        """Forget past gradients."""
        self.steps = 0
        self.means, self.squares = ({name: np.zeros_like(a) for name, a in self.centre.items()} for _ in range(2))

    def step(self, parameters: Parameters, gradient: Parameters, rate: float) -> None:
        """Update the parameters in place."""
        self.steps += 1
        size = rate * math.sqrt(1 - BETA2**self.steps) / (1 - BETA1**self.steps)
        for name, slope in gradient.items():
            slope += self.penalty * (parameters[name] - self.centre[name])
            mean, square = self.means[name], self.squares[name]
            mean += (1 - BETA1) * (slope - mean)
            square += (1 - BETA2) * (slope * slope - square)
            parameters[name] -= size * mean / (np.sqrt(square) + EPSILON)
