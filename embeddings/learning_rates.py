"""Learning-rate schedules: the learning rate as a function of the completed share of training.

`x` is the share, 0 to 1, of the training after any warm-up. Rates fall from `first` to `last`.
"""

import math
from collections.abc import Callable

LINEAR, CONSTANT, EXPONENTIAL, INVERSE_TIME, INVERSE_SQUARE_ROOT, INVERSE_SIGMOID, STEP, COSINE, SLANTED_TRIANGULAR = (
    "linear", "constant", "exponential", "inverse-time", "inverse-square-root", "inverse-sigmoid", "step", "cosine",
    "slanted-triangular",
)  # fmt: skip
NONZERO_MINIMUM = (EXPONENTIAL, INVERSE_TIME, INVERSE_SQUARE_ROOT, STEP)  # schedules that never reach 0
DEFAULT_RATIOS = {  # initial learning rate / final learning rate
    LINEAR: 10_000,
    CONSTANT: 1,
    EXPONENTIAL: 100,
    INVERSE_TIME: 10,
    INVERSE_SQUARE_ROOT: 10,
    INVERSE_SIGMOID: 10_000,
    STEP: 16,
    COSINE: 10_000,
    SLANTED_TRIANGULAR: 32,  # as in Howard and Ruder (2018)
}
SLANTED_WARM_UP = 0.1  # share of training, as in Howard and Ruder (2018)
STAGES = 5  # of the schedule "step": with the default ratio, the rate halves from each to the next


def linear(x: float, first: float, last: float) -> float:
    """A line to 0, with a lower limit, as in word2vec."""
    return max(first * (1 - x), last)


def constant(x: float, first: float, last: float) -> float:
    """Always the first rate."""
    return first


def exponential(x: float, first: float, last: float) -> float:
    """In equal times it falls by equal factors."""
    return float(first * (last / first) ** x)


def inverse_time(x: float, first: float, last: float) -> float:
    """Proportional to 1 / (1 + k x)."""
    return first / (1 + (first / last - 1) * x)


def inverse_square_root(x: float, first: float, last: float) -> float:
    """Proportional to 1 / sqrt(1 + k x)."""
    return first / math.sqrt(1 + ((first / last) ** 2 - 1) * x)


def inverse_sigmoid(x: float, first: float, last: float) -> float:
    """A sigmoid of 10 (1/2 - x), scaled so that it begins and ends with the two rates."""
    return last + (first - last) * (1 - math.tanh(5 * (x - 0.5)) / math.tanh(2.5)) / 2


def step(x: float, first: float, last: float, stages: int = STAGES) -> float:
    """Constant in each of several equal stages; it falls by the same factor from each to the next."""
    stage = min(int(x * stages), stages - 1)
    return float(first * (last / first) ** (stage / (stages - 1)))


def cosine(x: float, first: float, last: float) -> float:
    """Half a period of a cosine (Loshchilov and Hutter 2017)."""
    return last + (first - last) * (1 + math.cos(math.pi * x)) / 2


def straight(x: float, first: float, last: float) -> float:
    """A line from the first rate to the last: the second part of the slanted triangle of Howard and Ruder (2018)."""
    return last + (first - last) * (1 - x)


SCHEDULES: dict[str, Callable[..., float]] = {
    LINEAR: linear,
    CONSTANT: constant,
    EXPONENTIAL: exponential,
    INVERSE_TIME: inverse_time,
    INVERSE_SQUARE_ROOT: inverse_square_root,
    INVERSE_SIGMOID: inverse_sigmoid,
    STEP: step,
    COSINE: cosine,
    SLANTED_TRIANGULAR: straight,
}


def learning_rate(
    schedule: str, share: float, first: float, last: float, *, warm_up: float = 0.0, stages: int | None = None
) -> float:
    """The learning rate after a share of training.

    Arguments:
        schedule: a key of `SCHEDULES`.
        share: completed share of training, 0 to 1.
        first: the rate after the warm-up.
        last: the rate at the end of training.
        warm_up: share of training in which the rate rises linearly, from 0 or, for "slanted-triangular", from `last`.
        stages: of the schedule "step".
    """
    if share < warm_up:
        start = last if schedule == SLANTED_TRIANGULAR else 0.0
        return start + (first - start) * share / warm_up
    x = (share - warm_up) / (1 - warm_up)
    return SCHEDULES[schedule](x, first, last, **({} if stages is None else {"stages": stages}))
