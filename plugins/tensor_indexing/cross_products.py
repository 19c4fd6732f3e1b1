"""Ridge regression on all products of a component of x and one of y: the starting point of the tensors.

A type has too few phrases to regress on dim x dim products directly. In terms of the phrases themselves
W_i = sum over phrases n of c_ni x_n y_n', and x'W_i y = sum over n of c_ni (x_n'x)(y_n'y), so a (phrases, phrases)
system is solved, whatever dim is (Saunders, Gammerman and Vovk 1998, equation 8).
"""

from typing import NamedTuple

import numpy as np

from embeddings.plugins.tensor_indexing.linear_solvers import PhraseVectors

PENALTIES = np.logspace(1, -2.5, 8)  # tried on held-out phrases while they gain, in units of the mean of (x'x)(y'y)
MAX_PHRASES = 8000  # their matrix has 256 MB, and is solved in seconds


class Products(NamedTuple):
    """The tensor by phrases: first and second words (phrases, dim), and the weight c of each for every component."""

    x: np.ndarray
    y: np.ndarray
    weights: np.ndarray

    def matrix(self, i: int) -> np.ndarray:
        """W_i, (dim, dim) float64."""
        return np.asarray((self.x * self.weights[:, i : i + 1]).T.astype(np.float64) @ self.y)

    def tensor(self) -> np.ndarray:
        """Every W_i, (dim, dim * dim)."""
        return np.stack([self.matrix(i).ravel() for i in range(self.x.shape[1])])


def solve_products(train: PhraseVectors, dev: PhraseVectors, rng: np.random.Generator) -> tuple[Products, float]:
    """The tensor for which x'W_i y is nearest to z_i, and the penalty on its squares with the least error on `dev`."""
    if len(train.x) > MAX_PHRASES:
        sample = rng.permutation(len(train.x))[:MAX_PHRASES]
        train = PhraseVectors(*(rows[sample] for rows in train))
    scales = [float(np.sqrt(np.mean(np.square(rows, dtype=np.float64)))) or 1.0 for rows in train[:2]]
    (x, y), (dev_x, dev_y) = (
        [np.asarray(rows / scale, np.float32) for rows, scale in zip(part[:2], scales, strict=True)]
        for part in (train, dev)
    )
    dev_gram = product_gram(dev_x, dev_y, x, y)
    gram = product_gram(x, y, x, y)
    best, least, best_penalty = np.zeros(train.z.shape, np.float32), np.inf, float(PENALTIES[0])
    for penalty in PENALTIES:
        weights = solve_ridge(gram, penalty, train.z)
        error = float(np.square(dev_gram @ weights - dev.z, dtype=np.float64).sum())
        if not error < least:
            break
        best, least, best_penalty = weights, error, float(penalty)
    first, second = (rows / np.float32(scale) for rows, scale in zip((x, y), scales, strict=True))
    return Products(first, second, best), best_penalty


def low_rank(products: Products, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """The U and V of tensor indexing (rank, dim, dim) whose U'V is nearest to W_i (Eckart and Young 1936)."""
    dim = products.x.shape[1]
    left, right = np.empty((2, rank, dim, dim))
    for i in range(dim):
        u, values, v = np.linalg.svd(products.matrix(i))
        roots = np.sqrt(values[:rank, None])
        left[:, i], right[:, i] = roots * u.T[:rank], roots * v[:rank]
    return left, right


def product_gram(x: np.ndarray, y: np.ndarray, others_x: np.ndarray, others_y: np.ndarray) -> np.ndarray:
    """The inner products of the outer products of phrases, (phrases, others)."""
    gram: np.ndarray = x @ others_x.T
    gram *= y @ others_y.T
    return gram


def solve_ridge(gram: np.ndarray, penalty: float, targets: np.ndarray) -> np.ndarray:
    """The weights of phrases (phrases, dim); zeros where the system is numerically singular."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    penalised_gram = gram.copy()
    np.fill_diagonal(penalised_gram, np.diag(gram) + np.float32(penalty) * (np.diag(gram).mean() or np.float32(1)))
    try:
        factor = cho_factor(penalised_gram, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return np.zeros(targets.shape, np.float32)
    return np.asarray(cho_solve(factor, targets, check_finite=False), np.float32)
