"""Functions of two vectors that least squares give at once: weighted and full additive composition."""

from typing import NamedTuple

import numpy as np

from embeddings.composition.functions import Parameters

PENALTIES = np.logspace(-5, 2, 29)  # tried on held-out phrases, in units of the vectors' mean square


class Part(NamedTuple):
    """The vectors of some phrases: first words, second words, the phrases' own, each (phrases, dim)."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray


def weights(part: Part) -> np.ndarray:
    """The a and b (2,) float64 for which a x + b y is nearest to z."""
    x, y, z = (rows.astype(np.float64).ravel() for rows in part)
    gram = np.array([[x @ x, x @ y], [x @ y, y @ y]])
    found: np.ndarray = np.linalg.lstsq(gram, np.array([x @ z, y @ z]), rcond=None)[0]
    return found


def matrices(train: Part, dev: Part) -> tuple[Parameters, float]:
    """The M and N, (1, dim, dim) each as `left` and `right`, for which Mx + Ny is nearest to z; and the penalty taken.

    Ridge regression around the weighted additive function: least are the mean squared error of `train` and the
    penalty times the squared distance of M from a I and of N from b I. Of `PENALTIES`, that with which `dev` is met
    best is taken.
    """
    a, b = weights(train)
    known, held = np.hstack(train[:2]).astype(np.float64), np.hstack(dev[:2]).astype(np.float64)
    rest, wanted = train.z - a * train.x - b * train.y, dev.z - a * dev.x - b * dev.y
    values, axes = np.linalg.eigh(known.T @ known / len(known))
    along, held = axes.T @ (known.T @ rest) / len(known), held @ axes
    size = max(float(np.mean(values)), np.finfo(np.float64).tiny)
    values = np.maximum(values, 0)
    tried = [along / (values + penalty * size)[:, None] for penalty in PENALTIES]
    best = int(np.argmin([((held @ change - wanted) ** 2).sum() for change in tried]))
    dim = train.x.shape[1]
    both = (axes @ tried[best]).T + np.hstack([a * np.eye(dim), b * np.eye(dim)])
    return {"left": both[None, :, :dim], "right": both[None, :, dim:]}, float(PENALTIES[best])
