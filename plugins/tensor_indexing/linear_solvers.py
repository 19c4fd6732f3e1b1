"""Functions with a closed-form least-squares solution: weighted and full additive composition."""

from typing import NamedTuple

import numpy as np

from embeddings.plugins.tensor_indexing.functions import Parameters

PENALTIES = np.logspace(-5, 2, 29)  # tried on held-out phrases, in units of the vectors' mean square


class PhraseVectors(NamedTuple):
    """The vectors of some phrases: first words, second words, the phrases themselves, each (phrases, dim)."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray


def solve_weights(phrases: PhraseVectors) -> np.ndarray:
    """The a and b (2,) float64 for which a x + b y is nearest to z."""
    x, y, z = (rows.astype(np.float64).ravel() for rows in phrases)
    gram = np.array([[x @ x, x @ y], [x @ y, y @ y]])
    return np.asarray(np.linalg.lstsq(gram, np.array([x @ z, y @ z]), rcond=None)[0])


def solve_matrices(
    train: PhraseVectors, dev: PhraseVectors, centre: Parameters | None = None
) -> tuple[Parameters, float]:
    """The M and N, (1, dim, dim) each as `left` and `right`, for which Mx + Ny is nearest to z; and the penalty.

    Ridge regression minimises the mean squared error of `train` plus the penalty times the squared distance of M and N
    from those of `centre`, by default the a I and b I of the weighted additive function. The penalty is the one of
    `PENALTIES` with the least error on `dev`.
    """
    dim = train.x.shape[1]
    if centre is None:
        first = np.hstack([weight * np.eye(dim) for weight in solve_weights(train)])
    else:
        first = np.hstack([centre["left"][0], centre["right"][0]]).astype(np.float64)
    words, dev_words = (np.hstack(part[:2]).astype(np.float64) for part in (train, dev))
    solution, penalty = solve_ridge(words, train.z, dev_words, dev.z, first)
    return {"left": solution[None, :, :dim], "right": solution[None, :, dim:]}, penalty


def solve_features(train: PhraseVectors, dev: PhraseVectors, centre: Parameters) -> tuple[Parameters, float]:
    """The linear function of words and pair features, as in `functions.predict_from_features`, and the penalty.

    Ridge regression towards `centre`, as in `solve_matrices`.
    """
    first = np.hstack([centre["left"][0], centre["right"][0], centre["difference"], centre["product"]])
    features, dev_features = (
        np.hstack([part.x, part.y, np.abs(part.x - part.y), part.x * part.y]).astype(np.float64)
        for part in (train, dev)
    )
    solution, penalty = solve_ridge(features, train.z, dev_features, dev.z, first.astype(np.float64))
    left, right, difference, product = np.split(solution, 4, axis=1)
    return {"left": left[None], "right": right[None], "difference": difference, "product": product}, penalty


def solve_ridge(
    words: np.ndarray, z: np.ndarray, dev_words: np.ndarray, dev_z: np.ndarray, first: np.ndarray
) -> tuple[np.ndarray, float]:
    """The matrix (dim, features) for which its products with the rows `words` are nearest to z; and the penalty."""
    residual, dev_residual = z - words @ first.T, dev_z - dev_words @ first.T
    values, axes = np.linalg.eigh(words.T @ words / len(words))
    projection, dev_projected = axes.T @ (words.T @ residual) / len(words), dev_words @ axes
    mean_square = max(float(np.mean(values)), np.finfo(np.float64).tiny)
    values = np.maximum(values, 0)
    changes = [projection / (values + penalty * mean_square)[:, None] for penalty in PENALTIES]
    best = int(np.argmin([((dev_projected @ change - dev_residual) ** 2).sum() for change in changes]))
    return (axes @ changes[best]).T + first, float(PENALTIES[best])
