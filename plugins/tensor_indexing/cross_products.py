"""Ridge regression on all products of a component of x and one of y: where the tensors start.

With as many phrases as make a type, dim x dim products for each component can only be regressed in terms of the phrases
themselves: W_i = sum over phrases n of c_ni x_n y_n', and x'W_i y = sum over n of c_ni (x_n'x)(y_n'y), so that a matrix
(phrases, phrases) is solved for, whatever dim is (Saunders, Gammerman and Vovk 1998, equation 8).
"""

from typing import NamedTuple

import numpy as np

from embeddings.plugins.tensor_indexing.linear_solvers import Part

PENALTIES = np.logspace(1, -2.5, 8)  # tried on held-out phrases while they gain, in units of the mean of (x'x)(y'y)
MOST = 8000  # phrases: their matrix then has 256 MB, and is solved in seconds


class Products(NamedTuple):
    """The tensor by phrases: first and second words (phrases, dim), and the weight c of each for every component."""

    x: np.ndarray
    y: np.ndarray
    weights: np.ndarray

    def matrix(self, i: int) -> np.ndarray:
        """W_i, (dim, dim) float64."""
        made: np.ndarray = (self.x * self.weights[:, i : i + 1]).T.astype(np.float64) @ self.y
        return made


def ridge(train: Part, dev: Part, rng: np.random.Generator) -> tuple[Products, float]:
    """The tensor for which x'W_i y is nearest to z_i, and the penalty on its squares that was taken.

    Penalties are tried from the largest down until `dev` is met less well. Of more phrases than `MOST` a random part
    is used.
    """
    if len(train.x) > MOST:
        some = rng.permutation(len(train.x))[:MOST]
        train = Part(*(rows[some] for rows in train))
    lengths = [float(np.sqrt(np.mean(np.square(rows, dtype=np.float64)))) or 1.0 for rows in train[:2]]
    x, y = (unscaled(rows, length) for rows, length in zip(train[:2], lengths, strict=True))
    held = kernel(unscaled(dev.x, lengths[0]), unscaled(dev.y, lengths[1]), x, y)
    between = kernel(x, y, x, y)
    best, least, taken = np.zeros(train.z.shape, np.float32), np.inf, float(PENALTIES[0])
    for penalty in PENALTIES:
        weights = solved(between, penalty, train.z)
        error = float(np.square(held @ weights - dev.z, dtype=np.float64).sum())
        if not error < least:
            break
        best, least, taken = weights, error, float(penalty)
    first, second = (rows / np.float32(length) for rows, length in zip((x, y), lengths, strict=True))
    return Products(first, second, best), taken


def low_rank(products: Products, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """The nearest tensor of that rank for each i, as the U and V of tensor indexing, (rank, dim, dim) float64 each.

    These are the largest singular values of W_i, whose roots both have (Eckart and Young 1936).
    """
    dim = products.x.shape[1]
    left, right = np.empty((2, rank, dim, dim))
    for i in range(dim):
        u, values, v = np.linalg.svd(products.matrix(i))
        roots = np.sqrt(values[:rank, None])
        left[:, i], right[:, i] = roots * u.T[:rank], roots * v[:rank]
    return left, right


def whole(products: Products) -> np.ndarray:
    """Every W_i, (dim, dim * dim)."""
    return np.stack([products.matrix(i).ravel() for i in range(products.x.shape[1])])


def unscaled(rows: np.ndarray, length: float) -> np.ndarray:
    """Rows divided by a length, in float32."""
    return np.asarray(rows / length, np.float32)


def kernel(x: np.ndarray, y: np.ndarray, others_x: np.ndarray, others_y: np.ndarray) -> np.ndarray:
    """The sum of products of all products of two phrases, (phrases, others)."""
    made: np.ndarray = x @ others_x.T
    made *= y @ others_y.T
    return made


def solved(between: np.ndarray, penalty: float, wanted: np.ndarray) -> np.ndarray:
    """The weights of phrases (phrases, dim); zeros where rounding leaves nothing to solve."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    raised = between.copy()
    raised[np.diag_indices(len(raised))] += np.float32(penalty) * (np.diag(between).mean() or np.float32(1))
    try:
        factor = cho_factor(raised, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return np.zeros(wanted.shape, np.float32)
    return np.asarray(cho_solve(factor, wanted, check_finite=False), np.float32)
