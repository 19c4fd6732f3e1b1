"""The rank of each phrase's own vector among all phrases, by cosine or by distance from the composed one."""

import numpy as np

from embeddings.support.cosine import row_blocks, unit


def ranks_of(made: np.ndarray, true: np.ndarray, phrases: np.ndarray) -> np.ndarray:
    """The rank (n,) of each true vector among all phrases by their cosine with the composed one, 1 for the nearest."""
    return nearer(unit(made), unit(true), unit(phrases))


def distance_ranks(made: np.ndarray, true: np.ndarray, phrases: np.ndarray) -> np.ndarray:
    """The same by the distance from the composed vector."""
    made, true, phrases = (rows.astype(np.float64) for rows in (made, true, phrases))
    size = float(np.sqrt(np.square(phrases).sum(axis=1).max(initial=0))) or 1.0
    made, true, phrases = made / size, true / size, phrases / size  # so that rounding is below what `nearer` allows
    halves = [-np.square(rows).sum(axis=1, keepdims=True) / 2 for rows in (true, phrases)]
    ones = np.ones((len(made), 1))
    return nearer(np.hstack([made, ones]), np.hstack([true, halves[0]]), np.hstack([phrases, halves[1]]))


def nearer(made: np.ndarray, true: np.ndarray, phrases: np.ndarray) -> np.ndarray:
    """1 + how many rows of `phrases` have a larger product with each composed row than its true one has, (n,)."""
    ranks = np.empty(len(made))
    for part in row_blocks(len(made), len(phrases), itemsize=16):
        own = (made[part] * true[part]).sum(axis=1)
        ranks[part] = 1 + (made[part] @ phrases.T > own[:, None] + 1e-12).sum(axis=1)
    return ranks
