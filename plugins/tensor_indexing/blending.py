"""Interpolation of tensor indexing with the additive function.

The squared error is least for the expected vector, which is short in directions that two words predict poorly; but
these directions distinguish phrases, so the true phrase ranks below more common ones. x + y keeps them: a share of it
costs little squared error and greatly improves ranks.
"""

import numpy as np

from embeddings.plugins.tensor_indexing.functions import Parameters, TensorIndexing
from embeddings.plugins.tensor_indexing.gradient_descent import FIXED
from embeddings.plugins.tensor_indexing.linear_solvers import PhraseVectors
from embeddings.plugins.tensor_indexing.ranks import cosine_ranks

SHARES = np.arange(21) / 20


def blend(parameters: Parameters, share: float, scale: float) -> Parameters:
    """The parameters of (1 - share) times tensor indexing plus share times scale (x + y)."""
    blended = {name: array.copy() for name, array in parameters.items()}
    blended["left"] *= 1 - share
    blended["right"][0] *= 1 - share
    blended[FIXED] *= 1 - share
    diagonal = np.arange(blended["left"].shape[1])
    for side in ("left", "right"):
        blended[side][0, diagonal, diagonal] += share * scale
    return blended


def additive_scale(phrases: PhraseVectors) -> float:
    """The a for which a (x + y) is nearest to z."""
    sums = (phrases.x + phrases.y).astype(np.float64)
    return float(np.vdot(sums, phrases.z) / (np.vdot(sums, sums) or 1.0))


def best_share(
    parameters: Parameters, linear: Parameters, scale: float, dev: PhraseVectors, train: PhraseVectors
) -> float:
    """The share among `SHARES` with the best mean reciprocal rank of `dev` among all phrases of both parts.

    Eligible are shares whose squared error on dev is below that of full additive composition (parameters `linear`) by
    the standard error of the difference, so that few phrases allow less (the one-standard-error rule: Breiman,
    Friedman, Olshen and Stone 1984, section 3.4.3). If there is none, the share with the least error is returned.
    """
    function = TensorIndexing()
    fitted, additive = function.predict(parameters, dev.x, dev.y), np.float32(scale) * (dev.x + dev.y)
    blends = [np.float32(1 - share) * fitted + np.float32(share) * additive for share in SHARES]
    errors = np.array([squared_errors(blended, dev.z) for blended in blends])
    losses = errors - squared_errors(function.predict(linear, dev.x, dev.y), dev.z)
    candidates = np.flatnonzero(losses.mean(axis=1) + losses.std(axis=1) / np.sqrt(len(dev.z)) < 0)
    if not len(candidates):
        return float(SHARES[np.argmin(errors.mean(axis=1))])
    phrases = np.concatenate([dev.z, train.z])
    gains = [float((1 / cosine_ranks(blends[place], dev.z, phrases)).mean()) for place in candidates]
    return float(SHARES[candidates[int(np.argmax(gains))]])


def squared_errors(composition: np.ndarray, true: np.ndarray) -> np.ndarray:
    """The squared length of each row's difference, (phrases,) float64."""
    return np.asarray(np.square(composition - true, dtype=np.float64).sum(axis=1))
