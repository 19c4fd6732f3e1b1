"""Plain facts of vectors: lengths, how evenly they fill their space, and hubs among neighbours.

They are of all words (hubs: of the most frequent), not of a sample of items, so that no interval goes with them.
Vectors are read twice, in blocks that the processor's cache holds.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from embeddings.eval.item_scores import Counted, Outcome
from embeddings.eval.results import Key
from embeddings.support.cosine import unit
from embeddings.vectors.vectors import Vectors

SET = "facts"
NEIGHBOURS = 10
HUB_WORDS = 10_000
CACHED = 1 << 20  # bytes of a block in float64
LARGEST = 600.0  # exponent of which a sum of as many as there may be words does not overflow
LEAST = 1e-12  # share of the second moment below which a covariance is rounding
HUBS = ("hubness", "words that are no neighbours", "neighbour most often")
OF_HUBS = f"among the first {HUB_WORDS:,} words, those with zero vectors left out"
PROTOCOLS = {
    "mean length": "of the vectors as they are",
    "spread of lengths": "standard deviation over mean",
    "zero vectors": "the share of words whose vector is zero",
    "mean cosine": "over all pairs of words whose vectors are not zero; 0 where directions are even",
    "isotropy": "least over largest partition function, sum of exp(v a), over principal axes a and their opposites, of "
    "vectors with mean length 1; 1 where even (Mu and Viswanath, 2018, equation 6)",
    "effective dimensions": "(sum of eigenvalues)^2 / sum of their squares, of the covariance",
    "hubness": f"skewness of how often a word is among the {NEIGHBOURS} nearest of others by cosine, a tie to the more "
    f"frequent word, {OF_HUBS}; near 0 without hubs (Radovanović et al., 2010)",
    "words that are no neighbours": f"the share of words that are among the {NEIGHBOURS} nearest of none, {OF_HUBS}",
    "neighbour most often": f"how often the commonest neighbour is one, {OF_HUBS}",
}


def facts(vectors: Vectors, *, name: str) -> list[Outcome]:
    """Every fact, in the order of `PROTOCOLS`; without two words with vectors other than zero there are fewer.

    Raises:
        SettingError: a vector holds NaN or infinity.
    """
    moments = Moments.of(vectors.matrix)
    if not np.isfinite(moments.lengths).all():
        vectors.check_finite()
    chosen = np.flatnonzero(moments.lengths[:HUB_WORDS])
    found = {**of_lengths(moments.lengths), **of_directions(vectors.matrix, moments)}
    if len(chosen) > NEIGHBOURS:
        found |= of_hubs(unit(vectors.matrix[chosen]))
    return [
        Counted(
            vectors=name,
            key=Key(SET, measure, restrict=HUB_WORDS if measure in HUBS else None),
            value=value,
            covered=len(chosen) if measure in HUBS else len(vectors),
            total=len(vectors),
            protocol=PROTOCOLS[measure],
        )
        for measure, value in found.items()
        if np.isfinite(value)
    ]


@dataclass(frozen=True)
class Moments:
    """Lengths of rows (words,), the sums of rows and of unit rows (dim,), and that of outer products (dim, dim)."""

    lengths: np.ndarray
    rows: np.ndarray
    units: np.ndarray
    products: np.ndarray

    @classmethod
    def of(cls, matrix: np.ndarray) -> "Moments":
        """Those of all rows."""
        dim = matrix.shape[1]
        found = cls(np.zeros(len(matrix)), np.zeros(dim), np.zeros(dim), np.zeros((dim, dim)))
        with np.errstate(invalid="ignore"):  # what is not finite shows in the lengths
            for part, wide in blocks(matrix):
                lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
                found.lengths[part] = lengths
                found.rows[:] += wide.sum(axis=0)
                found.units[:] += np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0) @ wide
                found.products[:] += wide.T @ wide
        return found


def blocks(matrix: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """The rows in float64, some at a time, in an array that the next ones will stand in."""
    step = max(1, CACHED // (8 * matrix.shape[1]))
    room = np.empty((min(step, len(matrix)), matrix.shape[1]))
    for start in range(0, len(matrix), step):
        part = slice(start, min(start + step, len(matrix)))
        wide = room[: part.stop - part.start]
        wide[:] = matrix[part]
        yield part, wide


def of_lengths(lengths: np.ndarray) -> dict[str, float]:
    """What the lengths of vectors say."""
    mean = float(lengths.mean()) if len(lengths) else 0.0
    spread = float(lengths.std() / mean) if mean else 0.0
    zero = float((lengths == 0).mean()) if len(lengths) else 0.0
    return {"mean length": mean, "spread of lengths": spread, "zero vectors": zero}


def of_directions(matrix: np.ndarray, moments: Moments) -> dict[str, float]:
    """What their directions say."""
    count = int((moments.lengths > 0).sum())
    if count < 2:
        return {}
    scale, mean = float(moments.lengths.mean()), moments.rows / len(matrix)
    products = moments.products / len(matrix) / scale**2
    covariance = products - np.outer(mean, mean) / scale**2
    varied = np.trace(covariance) > LEAST * np.trace(products)
    axes = np.linalg.eigh(products)[1]
    sums = log_sums(matrix, axes / scale, float(moments.lengths.max()) / scale)
    return {
        "mean cosine": float((moments.units @ moments.units - count) / (count * (count - 1))),
        "isotropy": float(np.exp(sums.min() - sums.max())),
        "effective dimensions": float(np.trace(covariance) ** 2 / (covariance**2).sum()) if varied else np.nan,
    }


def log_sums(matrix: np.ndarray, axes: np.ndarray, highest: float) -> np.ndarray:
    """The logarithm of the sum of exp(v a) over rows v, and of exp(-v a), for each axis a, a column; (2, axes).

    No product is above `highest`.
    """
    tops = np.full((2, axes.shape[1]), 0.0 if highest <= LARGEST else -np.inf)
    sums, room = np.zeros(tops.shape), np.empty((0, 0))
    for _, wide in blocks(matrix):
        room = room if len(room) == len(wide) else np.empty((len(wide), axes.shape[1]))
        along = np.matmul(wide, axes, out=room)
        if highest <= LARGEST:
            np.exp(along, out=along)
            sums[0] += along.sum(axis=0)
            sums[1] += np.reciprocal(along, out=along).sum(axis=0)
            continue
        for side, signed in enumerate((along, -along)):
            top = np.maximum(tops[side], signed.max(axis=0))
            sums[side] *= np.exp(tops[side] - top)
            sums[side] += np.exp(signed - top).sum(axis=0)
            tops[side] = top
    return tops + np.log(sums)


def occurrences_of(units: np.ndarray) -> np.ndarray:
    """How often each word is among the nearest of another, (words,)."""
    from embeddings.indexes.exact import ExactSearch  # it loads the compiler

    nearest = ExactSearch(units.astype(np.float32)).search(units, NEIGHBOURS + 1, None).ids
    itself = nearest == np.arange(len(units))[:, None]
    itself[:, -1] |= ~itself.any(axis=1)  # it may fall out where many are equal
    return np.bincount(nearest[~itself], minlength=len(units))


def of_hubs(units: np.ndarray) -> dict[str, float]:
    """How evenly words are neighbours of others."""
    occurrences = occurrences_of(units)
    apart = occurrences - occurrences.mean()
    spread = float((apart**2).mean())
    return {
        "hubness": float((apart**3).mean() / spread**1.5) if spread else 0.0,
        "words that are no neighbours": float((occurrences == 0).mean()),
        "neighbour most often": float(occurrences.max()),
    }
