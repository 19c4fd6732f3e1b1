"""Mini-batch descent with early stopping: Adam (Kingma and Ba 2015) until held-out phrases gain no more."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from embeddings.plugins.tensor_indexing.functions import Learned, Parameters
from embeddings.plugins.tensor_indexing.linear_solvers import Part
from embeddings.support.cosine import row_blocks

FIRST, SECOND, TINY = 0.9, 0.999, 1e-8  # decay of the moments; no division by zero
FIXED = "identity"  # a parameter that is given, not learned
GAIN = 1e-4  # share of the error by which an epoch must better the best one, or it counts as none


@dataclass(frozen=True)
class Descent:
    """How a function is learned.

    Arguments:
        rate: at the start.
        epochs: most passes over the phrases.
        batch: phrases at a time.
        penalty: weight of the squared distance of the parameters from where they start.
        patience: passes in a row without gain after which it ends.
    """

    rate: float
    epochs: int
    batch: int
    penalty: float
    patience: int


class Epoch(NamedTuple):
    """A pass: the mean squared errors over the targets' mean square, of train (as it went along) and dev; the rate."""

    train: float | None
    dev: float
    rate: float


Watch = Callable[[int, Epoch], None]


def descend(
    function: Learned,
    start: Parameters,
    train: Part,
    dev: Part,
    how: Descent,
    rng: np.random.Generator,
    watch: Watch | None = None,
) -> tuple[Parameters, list[Epoch]]:
    """The parameters that do best on `dev`, and every epoch; the first is the start itself.

    After each epoch that betters the best by less than `GAIN`, the best parameters come back and the rate is halved;
    an epoch that overflows betters nothing.
    """
    learner = Adam({name: array for name, array in start.items() if name != FIXED}, how.penalty)
    now, best = copied(start), start
    epochs = [Epoch(None, error_of(function, best, dev), how.rate)]
    least, rate, failures = epochs[0].dev, how.rate, 0
    while len(epochs) <= how.epochs and failures < how.patience:
        with np.errstate(over="ignore", invalid="ignore"):
            met = one_pass(function, now, learner, train, how.batch, rate, rng)
            epochs.append(Epoch(met, error_of(function, now, dev), rate))
        gained = epochs[-1].dev < least * (1 - GAIN)
        if epochs[-1].dev < least:
            least, best = epochs[-1].dev, copied(now)
        if gained:
            failures = 0
        else:
            now, rate, failures = copied(best), rate / 2, failures + 1
            learner.forget()
        if watch:
            watch(len(epochs) - 1, epochs[-1])
    return best, epochs


def copied(parameters: Parameters) -> Parameters:
    """The same in memory of its own."""
    return {name: array.copy() for name, array in parameters.items()}


def one_pass(
    function: Learned, now: Parameters, learner: "Adam", train: Part, batch: int, rate: float, rng: np.random.Generator
) -> float:
    """Learn from every phrase once, in a random order; the error as it went along. `now` is changed in place."""
    order, total = rng.permutation(len(train.x)), 0.0
    for start in range(0, len(order), batch):
        x, y, z = (rows[order[start : start + batch]] for rows in train)
        error, gradient = function.gradient(now, x, y, z)
        total += float(np.vdot(error, error))
        learner.step(now, gradient, rate)
    return total / squares(train.z)


def error_of(function: Learned, parameters: Parameters, part: Part) -> float:
    """The squared error over the squared length of the targets; NaN where it overflows."""
    total = 0.0
    for rows in row_blocks(len(part.x), part.x.shape[1] ** 2):
        error = (function.predict(parameters, part.x[rows], part.y[rows]) - part.z[rows]).astype(np.float64)
        total += float(np.vdot(error, error))
    return total / squares(part.z)


def squares(rows: np.ndarray) -> float:
    """The sum of squares, never zero."""
    return max(float(np.vdot(rows, rows)), float(np.finfo(np.float32).tiny))


class Adam:
    """Steps by the mean of past gradients over the root of that of their squares (Kingma and Ba 2015, algorithm 1).

    To each gradient that of half the `penalty` times the squared distance from `centre` is added.
    """

    def __init__(self, centre: Parameters, penalty: float) -> None:
        self.centre, self.penalty = centre, penalty
        self.forget()

    def forget(self) -> None:
        """Start anew."""
        self.steps = 0
        self.means = {name: np.zeros_like(array) for name, array in self.centre.items()}
        self.squares = {name: np.zeros_like(array) for name, array in self.centre.items()}

    def step(self, parameters: Parameters, gradient: Parameters, rate: float) -> None:
        """Change the parameters in place."""
        self.steps += 1
        size = rate * math.sqrt(1 - SECOND**self.steps) / (1 - FIRST**self.steps)
        for name, slope in gradient.items():
            slope += self.penalty * (parameters[name] - self.centre[name])
            mean, square = self.means[name], self.squares[name]
            mean += (1 - FIRST) * (slope - mean)
            square += (1 - SECOND) * (slope * slope - square)
            parameters[name] -= size * mean / (np.sqrt(square) + TINY)
