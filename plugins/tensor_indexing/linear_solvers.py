"""Functions of two vectors that least squares give at once: weighted and full additive composition."""

from typing import NamedTuple

import numpy as np

from embeddings.plugins.tensor_indexing.functions import Parameters

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


def matrices(train: Part, dev: Part, around: Parameters | None = None) -> tuple[Parameters, float]:
    """The M and N, (1, dim, dim) each as `left` and `right`, for which Mx + Ny is nearest to z; and the penalty taken.

    Ridge regression: least are the mean squared error of `train` and the penalty times the squared distance of M and N
    from those of `around`; if not given, from the a I and b I of the weighted additive function. Of `PENALTIES`, that
    with which `dev` is met best is taken.
    """
    dim = train.x.shape[1]
    if around is None:
        first = np.hstack([weight * np.eye(dim) for weight in weights(train)])
    else:
        first = np.hstack([around["left"][0], around["right"][0]]).astype(np.float64)
    known, held = (np.hstack(part[:2]).astype(np.float64) for part in (train, dev))
    rest, wanted = train.z - known @ first.T, dev.z - held @ first.T
    values, axes = np.linalg.eigh(known.T @ known / len(known))
    along, held = axes.T @ (known.T @ rest) / len(known), held @ axes
    size = max(float(np.mean(values)), np.finfo(np.float64).tiny)
    values = np.maximum(values, 0)
    tried = [along / (values + penalty * size)[:, None] for penalty in PENALTIES]
    best = int(np.argmin([((held @ change - wanted) ** 2).sum() for change in tried]))
    both = (axes @ tried[best]).T + first
    return {"left": both[None, :, :dim], "right": both[None, :, dim:]}, float(PENALTIES[best])
