"""Mini-batch descent with early stopping: Adam (Kingma and Ba 2015) until held-out phrases gain no more."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from embeddings.composition.functions import Learned, Parameters
from embeddings.composition.linear import Part
from embeddings.composition.loss import Loss
from embeddings.neighbours import row_blocks, unit

FIRST, SECOND, TINY = 0.9, 0.999, 1e-8  # decay of the moments; no division by zero
FIXED = "identity"  # a parameter that is given, not learned
GAIN = 1e-4  # share of the loss by which an epoch must better the best one, or it counts as none


@dataclass(frozen=True)
class Descent:
    """How a function is learned.

    Arguments:
        loss: what is made least.
        rate: at the start.
        epochs: most passes over the phrases.
        batch: phrases at a time.
        penalty: weight of the squared distance of the parameters from where they start.
        patience: passes in a row without gain after which it ends.
    """

    loss: Loss
    rate: float
    epochs: int
    batch: int
    penalty: float
    patience: int


class Epoch(NamedTuple):
    """A pass: mean squared errors over the targets' mean square, of train (as it went along) and dev; dev's loss; rate."""

    train: float | None
    dev: float
    loss: float
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
    """The parameters with the least loss on `dev`, and every epoch; the first is the start itself.

    After each epoch that betters the best by less than `GAIN`, the best parameters come back and the rate is halved;
    an epoch that overflows betters nothing.
    """
    learner = Adam({name: array for name, array in start.items() if name != FIXED}, how.penalty)
    judge = partial(judged, function, part=dev, others=unit(np.concatenate([dev.z, train.z])), loss=how.loss)
    now, best = copied(start), start
    epochs = [Epoch(None, *judge(best), how.rate)]
    least, rate, failures = epochs[0].loss, how.rate, 0
    while len(epochs) <= how.epochs and failures < how.patience:
        with np.errstate(over="ignore", invalid="ignore"):
            met = one_pass(function, now, learner, train, how, rate, rng)
            epochs.append(Epoch(met, *judge(now), rate))
        gained = epochs[-1].loss < least * (1 - GAIN)
        if epochs[-1].loss < least:
            least, best = epochs[-1].loss, copied(now)
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
    function: Learned,
    now: Parameters,
    learner: "Adam",
    train: Part,
    how: Descent,
    rate: float,
    rng: np.random.Generator,
) -> float:
    """Learn from every phrase once, in a random order; the error as it went along. `now` is changed in place."""
    order, total = rng.permutation(len(train.x)), 0.0
    for start in range(0, len(order), how.batch):
        x, y, z = (rows[order[start : start + how.batch]] for rows in train)
        made, gradient = function.gradient(now, x, y, partial(how.loss.slope, true=z))
        total += squares(made - z)
        learner.step(now, gradient, rate)
    return total / squares(train.z)


def judged(
    function: Learned, parameters: Parameters, part: Part, others: np.ndarray, loss: Loss
) -> tuple[float, float]:
    """The squared error over the squared length of the targets, and the mean loss; NaN where they overflow.

    `others` are unit rows of phrases, those of the part the first.
    """
    error, total = 0.0, 0.0
    for rows in row_blocks(len(part.x), part.x.shape[1] ** 2):
        made, true = function.predict(parameters, part.x[rows], part.y[rows]), part.z[rows]
        error += squares((made - true).astype(np.float64))
        total += loss.of(made, true, others, np.arange(len(part.x))[rows])
    return error / squares(part.z), total / len(part.x)


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
