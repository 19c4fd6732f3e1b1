"""The rank of each phrase's own vector among all phrases, by cosine with or distance from the composed vector."""

import numpy as np

from embeddings.support.cosine import normalize, row_blocks


def cosine_ranks(composition: np.ndarray, true: np.ndarray, phrases: np.ndarray) -> np.ndarray:
    """The rank (n,) of each true vector among all phrases by cosine with the composed vector, 1 for the nearest."""
    return product_ranks(normalize(composition), normalize(true), normalize(phrases))


def distance_ranks(composition: np.ndarray, true: np.ndarray, phrases: np.ndarray) -> np.ndarray:
    """The same by distance from the composed vector."""
    composition, true, phrases = (rows.astype(np.float64) for rows in (composition, true, phrases))
    norm = float(np.sqrt(np.square(phrases).sum(axis=1).max(initial=0))) or 1.0
    composition, true, phrases = composition / norm, true / norm, phrases / norm  # rounding below the tolerance
    halves = [-np.square(rows).sum(axis=1, keepdims=True) / 2 for rows in (true, phrases)]
    ones = np.ones((len(composition), 1))
    return product_ranks(np.hstack([composition, ones]), np.hstack([true, halves[0]]), np.hstack([phrases, halves[1]]))


def product_ranks(composition: np.ndarray, true: np.ndarray, phrases: np.ndarray) -> np.ndarray:
    """1 + how many rows of `phrases` have a larger product with each composed row than its true row, (n,)."""
    ranks = np.empty(len(composition))
    for part in row_blocks(len(composition), len(phrases), itemsize=16):
        own = (composition[part] * true[part]).sum(axis=1)
        ranks[part] = 1 + (composition[part] @ phrases.T > own[:, None] + 1e-12).sum(axis=1)
    return ranks
