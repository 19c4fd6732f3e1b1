"""How certain neighbours and similarities are, from replicates of a model."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embeddings.analysis.replicates import Replicates
from embeddings.models.embed import load_source
from embeddings.models.model import Model
from embeddings.vectors.as_vectors import as_vectors
from embeddings.vectors.vectors import Vectors

LEVEL = 0.95


@dataclass(frozen=True)
class ConfidentSimilarity:
    """A cosine and how far it varies.

    low, high: a 95 % confidence interval: the cosine of the model plus and minus a quantile of Student's t times the
    standard deviation over resamples.
    data_sd, seed_sd: the standard deviations by the text and by the seed; None without trainings with other seeds.
    """

    cosine: float
    low: float
    high: float
    data_sd: float | None
    seed_sd: float | None


@dataclass(frozen=True)
class ConfidentNeighbour:
    """A nearest neighbour and how certain it is.

    in_top: the share of resamples in which it is among as many nearest neighbours as were requested.
    rank_low, rank_high: its 2.5 % and 97.5 % percentiles of ranks over resamples; 1 is the nearest.
    """

    neighbour: str
    similarity: ConfidentSimilarity
    in_top: float
    rank_low: int
    rank_high: int


def confident_similarity(
    vectors: Vectors | Model, replicates: Replicates, word: str, other: str
) -> ConfidentSimilarity:
    """The cosine of two words with its interval.

    Raises:
        UnknownWordError: a word has no vector.
        SettingError: the replicates are not of these vectors.
    """
    vectors = word_vectors(vectors)
    replicates.check_vectors(vectors)
    rows = [vectors.index(word), vectors.index(other)]
    cosines = [np.array([pair_cosine(rows, one) for one in kind]) for kind in (replicates.resamples, replicates.seeds)]
    return interval(float(vectors.similarity(word, other)), *cosines)


def confident_neighbours(
    vectors: Vectors | Model, replicates: Replicates, word: str, *, top: int = 10
) -> list[ConfidentNeighbour]:
    """The nearest neighbours of a word with intervals.

    Raises:
        UnknownWordError: the word has no vector.
        SettingError: the replicates are not of these vectors, or `top` is out of range.
    """
    vectors = word_vectors(vectors)
    replicates.check_vectors(vectors)
    nearest, row = vectors.most_similar(word, top=top), vectors.index(word)
    rows = np.array([vectors.index(neighbour) for neighbour, _ in nearest], np.int64)
    resampled = [cosines_and_ranks(rows, row, one) for one in replicates.resamples]
    cosines, ranks = (np.stack(values) for values in zip(*resampled, strict=True))
    seeds = np.array([cosines_and_ranks(rows, row, one)[0] for one in replicates.seeds]).reshape(-1, len(rows))
    low, high = np.percentile(ranks, [2.5, 97.5], axis=0, method="nearest").astype(int)
    return [
        ConfidentNeighbour(
            neighbour, interval(cosine, cosines[:, i], seeds[:, i]), float(np.mean(ranks[:, i] <= top)),
            int(low[i]), int(high[i]),
        )
        for i, (neighbour, cosine) in enumerate(nearest)
    ]  # fmt: skip


def word_vectors(vectors: Vectors | Model) -> Vectors:
    """The vectors of words, of a model too."""
    return as_vectors(load_source(vectors))


def cosines_and_ranks(
    rows: NDArray[np.int64], row: int, matrix: NDArray[np.float16]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The cosines of the words in `rows` with the word in `row`, and their ranks among its neighbours."""
    cosines = matrix.astype(np.float32) @ matrix[row].astype(np.float32)
    cosines[row] = -np.inf  # a word is not its own neighbour
    return cosines[rows], np.array([1 + np.count_nonzero(cosines > cosines[one]) for one in rows])


def pair_cosine(rows: list[int], matrix: NDArray[np.float16]) -> float:
    """The cosine of two rows."""
    first, second = matrix[rows].astype(np.float32)
    return float(first @ second)


def interval(cosine: float, resamples: NDArray[np.float32], seeds: NDArray[np.float32]) -> ConfidentSimilarity:
    """The interval around a cosine, from those of the replicates."""
    from scipy.stats import t

    total = float(np.std(resamples, ddof=1))
    half = float(t.ppf((1 + LEVEL) / 2, len(resamples) - 1)) * total
    seed = float(np.std(seeds, ddof=1)) if len(seeds) else None
    data = None if seed is None else float(np.sqrt(max(total**2 - seed**2, 0)))
    return ConfidentSimilarity(cosine, max(cosine - half, -1.0), min(cosine + half, 1.0), data, seed)
