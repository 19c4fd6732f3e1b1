"""Statistics of vectors: norms, how evenly directions fill the space, and hubs among nearest neighbours.

Statistics have no confidence intervals: they cover all words (hubs: the most frequent words), not a sample. The matrix
is read twice, in blocks that fit the processor's cache.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from embeddings.eval.statistics.results import ItemScores, Key, Measurement
from embeddings.eval.tasks.evaluation_kind import Kind, Subject
from embeddings.support.cosine import normalize
from embeddings.support.imports import import_library

SET = "statistics"
NEIGHBOURS = 10
HUB_WORDS = 10_000
CACHE_BYTES = 1 << 20  # of a block in float64
MIN_SHARE = 1e-12  # share of the second moment below which a covariance is rounding
HUB_MEASURES = ("hubness", "anti-hubs", "largest hub")
AMONG_FREQUENT = f"among the {HUB_WORDS:,} most frequent words, without zero vectors"
PROTOCOLS = {
    "mean norm": "of the vectors before normalisation",
    "relative standard deviation of norms": "standard deviation over mean",
    "zero vectors": "share of words whose vector is zero",
    "mean cosine": "over all pairs of words with non-zero vectors; 0 for evenly distributed directions",
    "isotropy": "minimum over maximum of the partition function, the sum of exp(v a), over principal axes a and their "
    "opposites, for vectors of mean norm 1; 1 if isotropic (Mu and Viswanath, 2018, equation 6)",
    "effective dimensions": "(sum of eigenvalues)^2 / sum of squared eigenvalues, of the covariance",
    "hubness": f"skewness of how often a word is among the {NEIGHBOURS} nearest neighbours of others by cosine, ties "
    f"to the more frequent word, {AMONG_FREQUENT}; near 0 without hubs (Radovanović et al., 2010)",
    "anti-hubs": f"share of words that are among the {NEIGHBOURS} nearest neighbours of no word, {AMONG_FREQUENT}",
    "largest hub": f"how many words the most frequent neighbour is a neighbour of, {AMONG_FREQUENT}",
}


def score_statistics(subject: Subject, test: None) -> list[ItemScores]:
    """Every statistic, in the order of `PROTOCOLS`; fewer without two words with non-zero vectors."""
    vectors = subject.vectors
    norms, *sums = sum_moments(vectors.matrix)
    if not np.isfinite(norms).all():
        vectors.check_finite()
    hub_rows = np.flatnonzero(norms[:HUB_WORDS])
    mean = float(norms.mean()) if len(vectors) else 0.0
    values = {
        "mean norm": mean,
        "relative standard deviation of norms": float(norms.std() / mean) if mean else 0.0,
        "zero vectors": float((norms == 0).mean()) if len(vectors) else 0.0,
        **direction_statistics(vectors.matrix, norms, *sums),
    }
    if len(hub_rows) > NEIGHBOURS:
        occurrences = neighbour_counts(normalize(vectors.matrix[hub_rows]))
        values |= {
            "hubness": float(import_library("scipy.stats").skew(occurrences)) if np.ptp(occurrences) else 0.0,
            "anti-hubs": float((occurrences == 0).mean()),
            "largest hub": float(occurrences.max()),
        }
    measurement = partial(Measurement, vectors=subject.name, total=len(vectors))
    scores: list[ItemScores] = []
    for measure, value in values.items():
        restrict, covered = (HUB_WORDS, len(hub_rows)) if measure in HUB_MEASURES else (None, len(vectors))
        key = Key(SET, measure, restrict=restrict)
        if np.isfinite(value):
            scores.append(measurement(key=key, value=value, covered=covered, protocol=PROTOCOLS[measure]))
    return scores


def sum_moments(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The norms of rows (words,), and the sums of rows and of unit rows (dim,) and of outer products (dim, dim)."""
    dim = matrix.shape[1]
    norms, rows, units, products = np.zeros(len(matrix)), np.zeros(dim), np.zeros(dim), np.zeros((dim, dim))
    with np.errstate(invalid="ignore"):  # non-finite rows show in the norms
        for part, wide in wide_blocks(matrix):
            norms[part] = own = np.sqrt(np.einsum("ij,ij->i", wide, wide))
            rows += wide.sum(axis=0)
            units += np.divide(1, own, out=np.zeros_like(own), where=own > 0) @ wide
            products += wide.T @ wide
    return norms, rows, units, products


def wide_blocks(matrix: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks of rows in float64, in a buffer that the next block overwrites."""
    step = max(1, CACHE_BYTES // (8 * matrix.shape[1]))
    buffer = np.empty((min(step, len(matrix)), matrix.shape[1]))
    for start in range(0, len(matrix), step):
        rows = matrix[start : start + step]
        buffer[: len(rows)] = rows
        yield slice(start, start + len(rows)), buffer[: len(rows)]


def direction_statistics(
    matrix: np.ndarray, norms: np.ndarray, rows: np.ndarray, units: np.ndarray, products: np.ndarray
) -> dict[str, float]:
    """The statistics of directions, from the sums of `sum_moments`."""
    count = int((norms > 0).sum())
    if count < 2:
        return {}
    scale, mean = float(norms.mean()), rows / len(matrix)
    products = products / len(matrix) / scale**2
    covariance = products - np.outer(mean, mean) / scale**2
    has_variance = np.trace(covariance) > MIN_SHARE * np.trace(products)
    axes = np.linalg.eigh(products)[1]
    logsumexp = import_library("scipy.special").logsumexp
    # sums of exponentials overflow for vectors of large norm, their logarithms do not
    sums = np.full((2, axes.shape[1]), -np.inf)  # the logarithms of the sums of exp(v a) and exp(-v a) over rows v
    for _, wide in wide_blocks(matrix):
        projections = wide @ (axes / scale)
        sums = np.logaddexp(sums, [logsumexp(projections, axis=0), logsumexp(-projections, axis=0)])
    return {
        "mean cosine": float((units @ units - count) / (count * (count - 1))),
        "isotropy": float(np.exp(sums.min() - sums.max())),
        "effective dimensions": float(np.trace(covariance) ** 2 / (covariance**2).sum()) if has_variance else np.nan,
    }


def neighbour_counts(units: np.ndarray) -> np.ndarray:
    """How often each word is among the nearest neighbours of another, (words,)."""
    from embeddings.indexes.exact import ExactSearch  # imports numba

    nearest = ExactSearch(units.astype(np.float32)).search(units, NEIGHBOURS + 1, None).ids
    is_itself = nearest == np.arange(len(units))[:, None]
    is_itself[:, -1] |= ~is_itself.any(axis=1)  # among many equal vectors: the last neighbour is dropped instead
    return np.bincount(nearest[~is_itself], minlength=len(units))


KIND = Kind(
    name="stats",
    metavar=None,
    read=lambda test, settings: None,
    score=score_statistics,
    as_list=lambda is_requested: [None] * bool(is_requested),
)
