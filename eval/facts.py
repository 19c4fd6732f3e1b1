"""Plain facts of vectors: lengths, how evenly they fill their space, and hubs among neighbours.

They are of all words (hubs: of the most frequent), not of a sample of items, so that no interval goes with them.
"""

from collections.abc import Iterator

import numpy as np

from embeddings.eval.outcomes import Counted, Outcome
from embeddings.eval.results import Key
from embeddings.neighbours import row_blocks
from embeddings.vectors import Vectors

SET = "facts"
NEIGHBOURS = 10
HUB_WORDS = 10_000
PROTOCOLS = {
    "mean length": "of the vectors as they are",
    "spread of lengths": "standard deviation over mean",
    "zero vectors": "the share of words whose vector is zero",
    "mean cosine": "over all pairs of words; 0 where directions are even",
    "isotropy": "least over largest partition function, sum of exp(v a), over principal axes a and their opposites, of "
    "vectors with mean length 1; 1 where even (Mu and Viswanath, 2018, equation 6)",
    "effective dimensions": "(sum of eigenvalues)^2 / sum of their squares, of the covariance",
    "hubness": f"skewness of how often a word is among the {NEIGHBOURS} nearest of others by cosine, among the first "
    f"{HUB_WORDS:,} words; near 0 without hubs (Radovanović et al., 2010)",
    "words that are no neighbours": f"the share of words that are among the {NEIGHBOURS} nearest of none, of the same",
    "neighbour most often": "how often the commonest neighbour is, of the same",
}


def facts(vectors: Vectors, *, name: str) -> list[Outcome]:
    """Every fact, in the order of `PROTOCOLS`; without two words with vectors other than zero there are fewer.

    Raises:
        SettingError: a vector holds NaN or infinity.
    """
    units = vectors.units
    found = {**of_lengths(vectors), **of_directions(vectors, units)}
    if len(vectors) > NEIGHBOURS:
        found |= of_hubs(units[:HUB_WORDS])
    return [
        Counted(
            vectors=name,
            key=Key(SET, measure, restrict=HUB_WORDS if measure in list(PROTOCOLS)[-3:] else None),
            value=value,
            covered=min(HUB_WORDS, len(vectors)) if measure in list(PROTOCOLS)[-3:] else len(vectors),
            total=len(vectors),
            protocol=PROTOCOLS[measure],
        )
        for measure, value in found.items()
        if np.isfinite(value)
    ]


def lengths_of(matrix: np.ndarray) -> np.ndarray:
    """The length of each row (words,) float64."""
    found = np.empty(len(matrix))
    for part in row_blocks(*matrix.shape, itemsize=8):
        found[part] = np.linalg.norm(matrix[part].astype(np.float64), axis=1)
    return found


def of_lengths(vectors: Vectors) -> dict[str, float]:
    """What the lengths of vectors say."""
    lengths = lengths_of(vectors.matrix)
    mean = float(lengths.mean()) if len(lengths) else 0.0
    spread = float(lengths.std() / mean) if mean else 0.0
    zero = float((lengths == 0).mean()) if len(lengths) else 0.0
    return {"mean length": mean, "spread of lengths": spread, "zero vectors": zero}


def of_directions(vectors: Vectors, units: np.ndarray) -> dict[str, float]:
    """What their directions say."""
    count = int(units.any(axis=1).sum())
    if count < 2:
        return {}
    total = sum(units[part].sum(axis=0, dtype=np.float64) for part in row_blocks(*units.shape))
    cosine = float((total @ total - count) / (count * (count - 1)))
    moment = second_moment(vectors.matrix)
    mean = vectors.matrix.mean(axis=0, dtype=np.float64)
    scale = lengths_of(vectors.matrix).mean()
    eigenvalues = np.clip(np.linalg.eigvalsh(moment / scale**2 - np.outer(mean, mean) / scale**2), 0, None)
    squares = float((eigenvalues**2).sum())
    axes = np.linalg.eigh(moment / scale**2)[1]
    dimensions = float(eigenvalues.sum() ** 2 / squares) if squares else np.nan
    return {
        "mean cosine": cosine,
        "isotropy": isotropy(vectors.matrix, axes, scale),
        "effective dimensions": dimensions,
    }


def second_moment(matrix: np.ndarray) -> np.ndarray:
    """The mean of the outer products of rows, (dim, dim) float64."""
    found = np.zeros((matrix.shape[1], matrix.shape[1]))
    for wide in blocks(matrix):
        found += wide.T @ wide
    return found / len(matrix)


def blocks(matrix: np.ndarray) -> Iterator[np.ndarray]:
    """The rows in float64, some at a time."""
    for part in row_blocks(*matrix.shape, itemsize=8):
        yield matrix[part].astype(np.float64)


def isotropy(matrix: np.ndarray, axes: np.ndarray, scale: float) -> float:
    """The least over the largest of the partition functions of axes and their opposites."""
    sums = np.zeros((2, axes.shape[1]))
    highest = max(float(np.abs(wide @ axes).max()) for wide in blocks(matrix)) / scale
    for wide in blocks(matrix):
        along = wide @ axes / scale
        sums[0] += np.exp(along - highest).sum(axis=0)
        sums[1] += np.exp(-along - highest).sum(axis=0)
    return float(sums.min() / sums.max())


def occurrences_of(units: np.ndarray) -> np.ndarray:
    """How often each word is among the nearest of another, (words,)."""
    import faiss

    units = np.ascontiguousarray(units)
    _, nearest = faiss.knn(units, units, NEIGHBOURS + 1, metric=faiss.METRIC_INNER_PRODUCT)
    itself = nearest == np.arange(len(units))[:, None]
    itself[:, -1] |= ~itself.any(axis=1)  # it may fall out where many are equal
    return np.bincount(nearest[~itself], minlength=len(units))


def of_hubs(units: np.ndarray) -> dict[str, float]:
    """How evenly words are neighbours of others."""
    from scipy.stats import skew

    occurrences = occurrences_of(units)
    even = occurrences.std() == 0
    return {
        "hubness": 0.0 if even else float(skew(occurrences)),
        "words that are no neighbours": float((occurrences == 0).mean()),
        "neighbour most often": float(occurrences.max()),
    }
