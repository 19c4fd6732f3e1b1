"""How near composed vectors come to those of phrases that a composition model was not fitted to."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import ceil, floor, sqrt

import numpy as np

from embeddings.errors import SettingError
from embeddings.eval.statistics.confidence_intervals import NO_INTERVAL, Interval, Z, normal_interval
from embeddings.eval.statistics.item_scores import Measurement
from embeddings.eval.statistics.results import Key
from embeddings.plugins.tensor_indexing.composer import Composer
from embeddings.plugins.tensor_indexing.composition_tables import FIRST, PART, PHRASE, SECOND, TYPE
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY, TEST
from embeddings.plugins.tensor_indexing.ranks import cosine_ranks, distance_ranks
from embeddings.support.cosine import normalize

HELD_OUT = "held-out"
PROTOCOL = (
    "composed vectors of the test phrases against their own; ranks are among all phrases of all types and parts, and a "
    "tie counts for the phrase; phrases differ between models, so there are no paired tests; interval: of means by the "
    "normal distribution, of medians by order statistics"
)


@dataclass(frozen=True)
class HeldOut:
    """The phrases that each model was not fitted to."""

    name: str = HELD_OUT


def score_held_out(composer: Composer, *, name: str) -> list[Measurement]:
    """Eight measures for every type and function, over the test phrases of a fitted model.

    The mean "cosine" of composed and true vector; the mean "squared-error"; "median-rank", "mean-rank" and the mean
    "reciprocal-rank" of the true phrase by cosine, where rank 1 is the nearest of all phrases; and these three
    "by-distance", the order that goes with the squared error (a cosine ignores norms).
    """
    if not len(composer.examples):
        raise SettingError("held-out phrases require a fitted composition model: see `embeddings fit`")
    scores: list[Measurement] = []
    for type in composer.known_types:
        examples: np.ndarray = composer.examples[composer.examples[:, PART] == TEST]
        if type != ANY:
            examples = examples[examples[:, TYPE] == composer.types.index(type)]
        count, reason = len(examples), None if len(examples) else "no phrase of this type was held out"
        measurement = partial(Measurement, vectors=name, covered=count, total=count, reason=reason, protocol=PROTOCOL)
        for function in composer.known_functions(type)[:-1]:  # the last is the phrase's own vector
            for measure, value, interval in measures(composer, examples, type, function):
                key = Key(HELD_OUT, measure, section=type, method=function)
                scores.append(measurement(key=key, value=value, interval=interval))
    return scores


def measures(
    composer: Composer, test: np.ndarray, type: str, function: str
) -> Iterator[tuple[str, float | None, Interval]]:
    """Name, value and interval of each measure over test examples (examples, 5)."""
    if not len(test):
        yield from ((measure, None, NO_INTERVAL) for measure in ("cosine", "squared-error", "median-rank"))
        return
    matrix = composer.vectors.matrix
    first, second, true = (matrix[test[:, column]] for column in (FIRST, SECOND, PHRASE))
    composition = composer.compose_rows(first, second, type=type, function=function)
    phrases = matrix[np.unique(composer.examples[:, PHRASE])]
    cosines = (normalize(composition) * normalize(true)).sum(axis=1)
    errors = np.square(composition.astype(np.float64) - true).sum(axis=1)
    yield "cosine", float(cosines.mean()), normal_interval(cosines)
    yield "squared-error", float(errors.mean()), normal_interval(errors)
    for suffix, rank in (("", cosine_ranks), ("-by-distance", distance_ranks)):
        ranks = rank(composition, true, phrases)
        yield f"reciprocal-rank{suffix}", float((1 / ranks).mean()), normal_interval(1 / ranks)
        yield f"median-rank{suffix}", float(np.median(ranks)), median_interval(ranks)
        yield f"mean-rank{suffix}", float(ranks.mean()), normal_interval(ranks)


def median_interval(values: np.ndarray) -> Interval:
    """The 95 % interval of a median: the order statistics n / 2 -+ 1.96 sqrt(n) / 2; none for few values."""
    n, sorted_values = len(values), np.sort(values)
    low, high = floor((n - Z * sqrt(n)) / 2), ceil(1 + (n + Z * sqrt(n)) / 2)
    return (float(sorted_values[low - 1]), float(sorted_values[high - 1])) if low >= 1 and high <= n else NO_INTERVAL
