"""Tensor indexing mixed with the additive function.

The least squared error is that of the expected vector, which is short where two words say little; the directions that
tell one phrase from another are such, and the true phrase then ranks below more common ones. x + y keeps them. A share
of it costs little squared error and gains much rank.
"""

import numpy as np

from embeddings.plugins.tensor_indexing.functions import Parameters, TensorIndexing
from embeddings.plugins.tensor_indexing.gradient_descent import FIXED
from embeddings.plugins.tensor_indexing.linear_solvers import Part
from embeddings.plugins.tensor_indexing.ranks import ranks_of

SHARES = np.arange(21) / 20


def blended(parameters: Parameters, share: float, scale: float) -> Parameters:
    """The parameters of (1 - share) times tensor indexing and share times scale (x + y)."""
    made = {name: array.copy() for name, array in parameters.items()}
    made["left"] *= 1 - share
    made["right"][0] *= 1 - share
    made[FIXED] *= 1 - share
    diagonal = np.arange(made["left"].shape[1])
    for side in ("left", "right"):
        made[side][0, diagonal, diagonal] += share * scale
    return made


def scale_of(part: Part) -> float:
    """The a for which a (x + y) is nearest to z."""
    both = (part.x + part.y).astype(np.float64)
    return float(np.vdot(both, part.z) / (np.vdot(both, both) or 1.0))


def best_share(parameters: Parameters, linear: Parameters, scale: float, dev: Part, train: Part) -> float:
    """Of `SHARES` the one with the best mean reciprocal rank of `dev` among all phrases of both parts.

    Only those count whose squared error on dev is below that of full additive composition, whose parameters `linear`
    are, by the standard error of the difference, so that with few phrases less is dared (the rule of one standard
    error: Breiman, Friedman, Olshen and Stone 1984, section 3.4.3); if none is, the one with the least counts.
    """
    function = TensorIndexing()
    made, both = function.predict(parameters, dev.x, dev.y), np.float32(scale) * (dev.x + dev.y)
    mixtures = [np.float32(1 - share) * made + np.float32(share) * both for share in SHARES]
    errors = np.array([squared(mixture, dev.z) for mixture in mixtures])
    losses = errors - squared(function.predict(linear, dev.x, dev.y), dev.z)
    allowed = np.flatnonzero(losses.mean(axis=1) + losses.std(axis=1) / np.sqrt(len(dev.z)) < 0)
    if not len(allowed):
        return float(SHARES[np.argmin(errors.mean(axis=1))])
    phrases = np.concatenate([dev.z, train.z])
    gains = [float((1 / ranks_of(mixtures[place], dev.z, phrases)).mean()) for place in allowed]
    return float(SHARES[allowed[int(np.argmax(gains))]])


def squared(made: np.ndarray, true: np.ndarray) -> np.ndarray:
    """The squared length of each row's difference, (phrases,) float64."""
    return np.asarray(np.square(made - true, dtype=np.float64).sum(axis=1))
