"""How certain neighbours, similarities and analogies are, from replicates of a model."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.analysis.stability_runs import StabilityRuns
from embeddings.models.embed import load_source
from embeddings.models.model import Model
from embeddings.support.cosine import normalize
from embeddings.support.docstrings import argument_texts
from embeddings.support.dots import Dot
from embeddings.support.imports import import_library
from embeddings.support.result_table import PlottedTable
from embeddings.vectors.search import Neighbours
from embeddings.vectors.vectors import Vectors, as_vectors

LEVEL = 0.95
SELECTION = (
    "low to high and the ranks are corrected for the selection of these words among all; pair_low to pair_high, for a "
    "pair that was chosen before, are not"
)


@dataclass(frozen=True)
class ConfidentSimilarity:
    """A cosine and how far it varies.

    Arguments:
        cosine: the cosine, or the score of the answer to an analogy.
        low, high: the 95 % confidence interval of the mean cosine over trainings on other corpora of the same size and
            source, with other seeds (see `interval`).
        data_sd, seed_sd: the standard deviations by the text and by the seed; None without trainings with other seeds,
            and `data_sd` also where resamples vary no more than seeds, so that there is no estimate of it.
    """

    cosine: float
    low: float
    high: float
    data_sd: float | None
    seed_sd: float | None


def interval(
    value: float, resamples: NDArray[np.floating], seeds: NDArray[np.floating], *, is_selected: bool = False,
    limit: float = 1.0,
) -> ConfidentSimilarity:  # fmt: skip
    """The interval of the mean of a value over trainings on other corpora of the same size, with other seeds.

    Value plus and minus a quantile of Student's t times the standard deviation over resamples. It is centred at the
    value of the model and not at the resamples, which differ from the model systematically: they hold about 63 % of
    the documents, some of them several times.

    The cosine of a nearest neighbour is different: the model has selected the word for it, so that part of it is
    chance, which resamples lack. Its interval is centred at their mean, and the standard deviation is that from the
    value of the model. Both choices were made by the measured coverage.

    Arguments:
        resamples, seeds: the value in each training; NaN where it is not defined.
        is_selected: whether the item was selected because its value is high in the model.
        limit: the value is between -limit and limit.
    """
    stdtrit = import_library("scipy.special").stdtrit

    total, seed = standard_deviation(resamples), standard_deviation(seeds)
    if total is None:
        return ConfidentSimilarity(value, -limit, limit, None, None)
    known = resamples[np.isfinite(resamples)]
    center, deviation = value, total
    if is_selected:
        center = float(np.mean(known))
        deviation = float(np.hypot(total, center - value))
    half = float(stdtrit(len(known) - 1, (1 + LEVEL) / 2)) * deviation  # the quantile of Student's t
    data = None if seed is None or total <= seed else float(np.sqrt(total**2 - seed**2))
    return ConfidentSimilarity(value, max(center - half, -limit), min(center + half, limit), data, seed)


def standard_deviation(values: NDArray[np.floating]) -> float | None:
    """The standard deviation of the values that are defined; None if there are fewer than two."""
    known = values[np.isfinite(values)]
    return float(np.std(known, ddof=1)) if len(known) > 1 else None


Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class ConfidentDifference:
    """The cosine of a word with a first word less that with a second word; see `ConfidentSimilarity` for the rest.

    first_closer: the share of resamples in which the first word is the nearer one.
    """

    difference: float
    low: float
    high: float
    data_sd: float | None
    seed_sd: float | None
    first_closer: float


@dataclass(frozen=True)
class ConfidentNeighbour:
    """A nearest neighbour, or the answer to an analogy, and how certain it is.

    Arguments:
        neighbour: the word.
        similarity: its cosine, or the score of an answer. The interval allows for the selection of the word by the
            model (see `interval`), so that the cosine of the model may be above it.
        in_top: the share of resamples in which it is among as many nearest neighbours as were requested.
        rank_low, rank_high: the 95 % confidence interval of its median rank over such trainings; 1 is the nearest.
        pair_low, pair_high: the interval of a pair that was chosen before, as of `confident_similarity`.
    """

    neighbour: str
    similarity: ConfidentSimilarity
    in_top: float
    rank_low: int
    rank_high: int
    pair_low: float
    pair_high: float


class ConfidentNeighbours(PlottedTable[ConfidentNeighbour]):
    """Nearest neighbours, or answers to an analogy, with their intervals."""

    columns = argument_texts(ConfidentNeighbour) | argument_texts(ConfidentSimilarity)

    def record(self, row: ConfidentNeighbour) -> dict[str, Any]:
        """The cells of a neighbour, with the cosine, its interval and the standard deviations."""
        cells = asdict(row)
        similarity = cells.pop("similarity")
        spread = {name: similarity.pop(name) for name in ("data_sd", "seed_sd")}
        return {"neighbour": cells.pop("neighbour"), **similarity, **cells, **spread}

    def dots(self) -> list[Dot]:
        """The words at their cosines, with the share of resamples in which each is a neighbour."""
        axis = "cosine in the model (dot), 95 % interval, corrected for the selection of neighbours (bar)"
        return [
            Dot(one.neighbour, axis, near.cosine, near.low, near.high, f"in {100 * one.in_top:.0f} % of resamples")
            for one in self for near in [one.similarity]
        ]  # fmt: skip


def confident_similarity(
    vectors: Vectors | Model, replicates: StabilityRuns, word: str, other: str
) -> ConfidentSimilarity:
    """The cosine of two words with its interval.

    Raises:
        UnknownWordError: a word has no vector.
        SettingError: the replicates are not of these vectors.
    """
    vectors = replicated_vectors(vectors, replicates)
    rows = [vectors.index(word), vectors.index(other)]
    resamples, seeds = measure(replicates, lambda matrix: pair_cosine(matrix, rows))
    return interval(float(vectors.similarity(word, other)), resamples, seeds)


def confident_difference(
    vectors: Vectors | Model, replicates: StabilityRuns, word: str, first: str, second: str
) -> ConfidentDifference:
    """How much nearer the first of two words is to a word than the second, with its interval.

    Raises:
        UnknownWordError: a word has no vector.
        SettingError: the replicates are not of these vectors.
    """
    vectors = replicated_vectors(vectors, replicates)
    row, one, other = (vectors.index(name) for name in (word, first, second))

    def difference(matrix: NDArray[np.float16]) -> float:
        return pair_cosine(matrix, [row, one]) - pair_cosine(matrix, [row, other])

    value = float(vectors.similarity(word, first)) - float(vectors.similarity(word, second))
    resamples, seeds = measure(replicates, difference)
    share = float(np.mean(resamples[np.isfinite(resamples)] > 0)) if np.isfinite(resamples).any() else 0.5
    found = interval(value, resamples, seeds, limit=2.0)
    return ConfidentDifference(found.cosine, found.low, found.high, found.data_sd, found.seed_sd, share)


def confident_neighbours(
    vectors: Vectors | Model, replicates: StabilityRuns, word: str, *, top: int = 10
) -> ConfidentNeighbours:
    """The nearest neighbours of a word with intervals.

    Raises:
        UnknownWordError: the word has no vector.
        SettingError: the replicates are not of these vectors, or `top` is out of range.
    """
    vectors = replicated_vectors(vectors, replicates)
    return confident_answers(vectors, replicates, vectors.most_similar(word, top=top), [(word, 1)], top)


def confident_analogy(
    vectors: Vectors | Model, replicates: StabilityRuns, a: str, b: str, c: str, *, top: int = 10
) -> ConfidentNeighbours:
    """The words that are to c as b is to a, by 3cosadd, with intervals of their scores and ranks.

    Raises:
        UnknownWordError: a word has no vector.
        SettingError: the replicates are not of these vectors, or `top` is out of range.
    """
    vectors = replicated_vectors(vectors, replicates)
    return confident_answers(vectors, replicates, vectors.analogy(a, b, c, top=top), [(b, 1), (c, 1), (a, -1)], top)


def replicated_vectors(vectors: Vectors | Model, replicates: StabilityRuns) -> Vectors:
    """The vectors of words, which may be a model, to which replicates belong."""
    vectors = as_vectors(load_source(vectors))
    replicates.check_vectors(vectors)
    return vectors


def confident_answers(
    vectors: Vectors, replicates: StabilityRuns, nearest: Neighbours, terms: Sequence[tuple[str, int]], top: int
) -> ConfidentNeighbours:
    """The words nearest to a sum of words, each with its weight, with intervals."""
    rows = np.array([vectors.index(word) for word, _ in nearest], np.int64)
    weighted: dict[int, float] = {}
    for word, weight in terms:
        weighted[vectors.index(word)] = weighted.get(vectors.index(word), 0) + weight
    # ranks follow from the cosines of the model: how many words lie above each end of the interval
    background = np.delete(all_cosines(vectors.unit_rows, weighted), list(weighted))
    pairs = [cosines_and_ranks(rows, weighted, matrix) for matrix in replicates.resamples]
    cosines, ranks = (np.stack(values) for values in zip(*pairs, strict=True))
    seeds = np.array([cosines_and_ranks(rows, weighted, one)[0] for one in replicates.seeds]).reshape(-1, len(rows))
    result = ConfidentNeighbours(notes=[replicates.note, SELECTION])
    for i, (neighbour, cosine) in enumerate(nearest):
        found, pair = (interval(cosine, cosines[:, i], seeds[:, i], is_selected=chosen) for chosen in (True, False))
        in_top = float(np.mean(ranks[:, i] <= top))
        low, high = (1 + int(np.count_nonzero(background > end)) for end in (found.high, found.low))
        ranks_and_pair = low, min(high, len(background)), pair.low, pair.high
        result.append(ConfidentNeighbour(neighbour, found, in_top, *ranks_and_pair))
    return result


def all_cosines(unit: Matrix, weighted: dict[int, float]) -> Matrix:
    """The cosine of each row of length 1 with a sum of rows, by the row and the weight of each term."""
    # a single word keeps its length of 1 exactly; normalising it again would move its cosines by rounding
    query = np.array(list(weighted.values()), np.float32) @ unit[list(weighted)]
    return np.asarray(unit @ (query if len(weighted) == 1 else normalize(query).astype(np.float32)))


def cosines_and_ranks(
    rows: NDArray[np.int64], weighted: dict[int, float], matrix: NDArray[np.float16]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The cosines of the words in `rows` with a sum of words, by row and weight, and their ranks among all others.

    NaN for words that do not occur, and for all of them if a word of the sum does not.
    """
    words, unit = list(weighted), matrix.astype(np.float32)
    occurs = np.asarray(unit.any(axis=1))
    cosines = all_cosines(unit, weighted)
    cosines[words] = -np.inf  # they are not neighbours of the sum
    ranks = np.array([1 + np.count_nonzero(cosines > cosines[row]) for row in rows])
    # a word that a resample lacks has no cosine there, which is not the same as a cosine of 0
    is_known = occurs[rows] & occurs[words].all()
    return np.where(is_known, cosines[rows], np.nan), np.where(is_known, ranks, np.nan)


def pair_cosine(matrix: NDArray[np.float16], rows: list[int]) -> float:
    """The cosine of two rows; NaN for a word that does not occur."""
    first, second = matrix[rows].astype(np.float32)
    return float(first @ second) if first.any() and second.any() else np.nan


def measure(
    replicates: StabilityRuns, function: Callable[[NDArray[np.float16]], float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The value of a function of the vectors in each training on a resample, and in each with another seed."""
    resamples, seeds = (np.array([function(one) for one in kind]) for kind in (replicates.resamples, replicates.seeds))
    return resamples, seeds
