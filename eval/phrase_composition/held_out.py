"""How near functions come to the vectors of phrases that they were not fitted to."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor, sqrt

import numpy as np

from embeddings.errors import SettingError
from embeddings.eval.confidence_intervals import Interval, Z, mean_interval
from embeddings.eval.item_scores import Measured
from embeddings.eval.results import Key
from embeddings.plugins.tensor_indexing.composer import Composer
from embeddings.plugins.tensor_indexing.composition_tables import FIRST, PART, PHRASE, SECOND, TYPE
from embeddings.plugins.tensor_indexing.functions import OWN
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY
from embeddings.plugins.tensor_indexing.ranks import distance_ranks, ranks_of
from embeddings.plugins.tensor_indexing.split import TEST
from embeddings.support.cosine import unit

HELD_OUT = "held-out"
PROTOCOL = (
    "the phrases of the test part, composed, against their own vectors; ranks are among all phrases of all types and "
    "parts, and a tie counts for the phrase; each model has phrases of its own, so that there are no paired tests; "
    "interval: of means by the normal distribution, of medians by order statistics"
)


@dataclass(frozen=True)
class HeldOut:
    """The phrases that each model was not fitted to."""

    name: str = HELD_OUT


def held_out(composer: Composer, *, name: str) -> list[Measured]:
    """Eight measures for every type and function, over the test phrases of a fitted model.

    The mean "cosine" of composed and true vector; the mean "squared-error", the squared length of their difference;
    "median-rank", "mean-rank" and the mean "reciprocal-rank" of the true phrase: 1 + how many phrases, of all types and
    parts, lie nearer by cosine. And these three "by-distance", where those are counted whose difference is shorter: the
    order that goes with the squared error, while a cosine knows nothing of lengths.

    Raises:
        SettingError: no function was fitted.
    """
    if not len(composer.examples):
        raise SettingError("there are no held-out phrases: these vectors are no model that was fitted to phrases")
    found: list[Measured] = []
    for type in composer.known_types:
        test = tests(composer, type)
        for function in [function for function in composer.known_functions(type) if function != OWN]:
            for measure, value, interval in measures(composer, test, type, function):
                found.append(
                    Measured(
                        vectors=name,
                        key=Key(HELD_OUT, measure, section=type, method=function),
                        value=value,
                        interval=interval,
                        covered=len(test),
                        total=len(test),
                        reason=None if len(test) else "no phrase of this type was held out",
                        protocol=PROTOCOL,
                    )
                )
    return found


def tests(composer: Composer, type: str) -> np.ndarray:
    """The examples of a type that are test, (examples, 5)."""
    examples: np.ndarray = composer.examples[composer.examples[:, PART] == TEST]
    if type != ANY:
        examples = examples[examples[:, TYPE] == composer.types.index(type)]
    return examples


def measures(
    composer: Composer, test: np.ndarray, type: str, function: str
) -> Iterator[tuple[str, float | None, Interval]]:
    """Name, value and interval of each measure."""
    if not len(test):
        yield from ((measure, None, (None, None)) for measure in ("cosine", "squared-error", "median-rank"))
        return
    matrix = composer.vectors.matrix
    made = composer.rows(matrix[test[:, FIRST]], matrix[test[:, SECOND]], type=type, function=function)
    true, phrases = matrix[test[:, PHRASE]], matrix[np.unique(composer.examples[:, PHRASE])]
    cosines = (unit(made) * unit(true)).sum(axis=1)
    errors = np.square(made.astype(np.float64) - true).sum(axis=1)
    yield "cosine", float(cosines.mean()), mean_interval(cosines)
    yield "squared-error", float(errors.mean()), mean_interval(errors)
    for name, ranks in (("", ranks_of(made, true, phrases)), ("-by-distance", distance_ranks(made, true, phrases))):
        yield f"reciprocal-rank{name}", float((1 / ranks).mean()), mean_interval(1 / ranks)
        yield f"median-rank{name}", float(np.median(ranks)), median_interval(ranks)
        yield f"mean-rank{name}", float(ranks.mean()), mean_interval(ranks)


def median_interval(values: np.ndarray) -> Interval:
    """The 95 % interval of a median: the values at places n / 2 -+ 1.96 sqrt(n) / 2; none for few values."""
    n, ordered = len(values), np.sort(values)
    low, high = floor((n - Z * sqrt(n)) / 2), ceil(1 + (n + Z * sqrt(n)) / 2)
    return (float(ordered[low - 1]), float(ordered[high - 1])) if low >= 1 and high <= n else (None, None)
