"""Composition functions of two word vectors, by name.

Rows are words: x, y and the result are (phrases, dim).
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from embeddings.errors import SettingError
from embeddings.support.cosine import row_blocks

Parameters = dict[str, np.ndarray]
Predict = Callable[[Mapping[str, np.ndarray], np.ndarray, np.ndarray], np.ndarray]
WITHOUT_PARAMETERS = ("additive", "multiplicative")
OWN = "own"  # the trained vector of the phrase itself

PENALTIES = np.logspace(-5, 2, 29)  # tried on held-out phrases, in units of the vectors' mean square


def tensor_indexing(parameters: Mapping[str, np.ndarray], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """z_i = x'W_i y + (Mx)_i + (Ny)_i, each W_i of rank r plus the identity (Zhao, Liu and Sun 2015).

    `left` (1 + r, dim, dim) holds M, then the rows U_1 ... U_r of every i: left[k, i] is the k-th row of U_i. `right`
    holds N and the V in the same way. So x'U_i'V_i y is a sum over k of component-wise products of two matrix products.
    `identity` (2,) weighs two readings of the identity: e_i e_i', which adds x_i y_i, and the literal one, which adds
    x'y to every component. With r = 0 and no identity this is full additive composition.
    """
    a, b = transform(parameters["left"], x), transform(parameters["right"], y)
    return np.asarray(combine(a, b) + identity_term(parameters["identity"], x, y))


def tensor_indexing_gradient(
    parameters: Mapping[str, np.ndarray], x: np.ndarray, y: np.ndarray, z: np.ndarray
) -> tuple[np.ndarray, Parameters]:
    """The errors e = prediction - z, (phrases, dim), and the gradient of half their mean squared length.

    dM = e x', dN = e y', dU_i = e_i (V_i y) x', dV_i = e_i (U_i x) y', all means over phrases.
    """
    a, b = transform(parameters["left"], x), transform(parameters["right"], y)
    error = combine(a, b) + identity_term(parameters["identity"], x, y) - z
    # a and b become the errors of both factors of each product, in place: the factor of a matrix of its own is 1.
    a[0] = b[0] = 1
    a *= error
    b *= error
    return error, {"left": backpropagate(b, x), "right": backpropagate(a, y)}


def transform(matrices: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Every row times every matrix, (matrices, phrases, dim)."""
    return np.asarray(rows @ matrices.transpose(0, 2, 1))


def combine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a_0 + b_0 + sum over k > 0 of a_k * b_k; a and b are (matrices, phrases, dim)."""
    total = a[0] + b[0]
    for k in range(1, len(a)):
        total += a[k] * b[k]
    return np.asarray(total)


def backpropagate(errors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return e'x / n, the mean gradient of matrices, given errors (matrices, n, dim) of products with rows (n, dim)."""
    return np.asarray(errors.transpose(0, 2, 1) @ rows / len(rows))


def identity_term(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """weights[0] * (x * y) + weights[1] * x'y: the terms of both readings of the identity."""
    products = x * y
    return np.asarray(weights[0] * products + weights[1] * products.sum(axis=1, keepdims=True))


FUNCTIONS: dict[str, Predict] = {  # the first three by Mitchell and Lapata (2010)
    "additive": lambda parameters, x, y: x + y,
    "weighted-additive": lambda parameters, x, y: parameters["weights"][0] * x + parameters["weights"][1] * y,
    "multiplicative": lambda parameters, x, y: x * y,
    "full-additive": tensor_indexing,
    "tensor-indexing": tensor_indexing,
    "tensor-additive": tensor_indexing,
}


def compose_rows(name: str, parameters: Mapping[str, np.ndarray], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The result of a named function for rows of words, (phrases, dim) float32, in bounded memory."""
    composition = np.empty(x.shape, np.float32)
    width = 2 * x.shape[1] * len(parameters.get("left", [0]))
    with np.errstate(over="ignore", invalid="ignore"):
        for part in row_blocks(len(x), width):
            composition[part] = FUNCTIONS[name](parameters, x[part], y[part])
    if not np.isfinite(composition).all():
        raise SettingError(f"a vector composed by {name} overflows: the word vectors are too large for this function")
    return composition


class PhraseVectors(NamedTuple):
    """Vectors of first words x, second words y, and phrases z, each (phrases, dim)."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray


def solve_weights(phrases: PhraseVectors) -> np.ndarray:
    """The weights a and b, (2,) float64, for which a x + b y is nearest to z."""
    x, y, z = (rows.astype(np.float64).ravel() for rows in phrases)
    gram = np.array([[x @ x, x @ y], [x @ y, y @ y]])
    return np.asarray(np.linalg.lstsq(gram, np.array([x @ z, y @ z]), rcond=None)[0])


def solve_matrices(
    train: PhraseVectors, dev: PhraseVectors, centre: Parameters | None = None
) -> tuple[Parameters, float]:
    """Fit M and N, as `left` and `right` (1, dim, dim), so that Mx + Ny is nearest to z; returns also the penalty.

    Ridge regression minimises the mean squared error of `train` plus the penalty times the squared distance of M and N
    from the matrices of `centre`, by default the a I and b I of the weighted additive function. The penalty has the
    least error on `dev` among `PENALTIES`.
    """
    dim = train.x.shape[1]
    if centre is None:
        first = np.hstack([weight * np.eye(dim) for weight in solve_weights(train)])
    else:
        first = np.hstack([centre["left"][0], centre["right"][0]]).astype(np.float64)
    words, dev_words = (np.hstack(part[:2]).astype(np.float64) for part in (train, dev))
    residual, dev_residual = train.z - words @ first.T, dev.z - dev_words @ first.T
    values, axes = np.linalg.eigh(words.T @ words / len(words))
    # In the basis of eigenvectors every penalty is a division, so that one decomposition serves them all.
    projection, dev_projected = axes.T @ (words.T @ residual) / len(words), dev_words @ axes
    mean_square = max(float(np.mean(values)), np.finfo(np.float64).tiny)
    values = np.maximum(values, 0)
    changes = [projection / (values + penalty * mean_square)[:, None] for penalty in PENALTIES]
    best = int(np.argmin([((dev_projected @ change - dev_residual) ** 2).sum() for change in changes]))
    solution = (axes @ changes[best]).T + first
    return {"left": solution[None, :, :dim], "right": solution[None, :, dim:]}, float(PENALTIES[best])
