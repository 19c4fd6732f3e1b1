"""The logistic function, its loss, and the step that follows from a matrix of scores."""

import numpy as np

from embeddings.kernels.jit import aside, kernel, piece
from embeddings.kernels.row_operations import pitch


@piece
def sigmoid(x: np.float64) -> np.float64:
    """1 / (1 + exp(-x)) of a float64."""
    return 1 / (1 + np.exp(-x))  # type: ignore[no-any-return]


@piece
def rational_sigmoid(x: np.float32) -> np.float32:
    """1 / (1 + exp(-x)) of a float32 by a rational function that vectorises.

    Half of 1 + tanh(x / 2), tanh as the seventh convergent of Lambert's continued fraction: off by at most 7.6e-6
    where |x| <= 8. Beyond, the value at 8 is taken, which is off by at most 3.4e-4.
    """
    v = max(min(x, np.float32(8)), np.float32(-8)) * np.float32(0.5)
    u = v * v
    top = v * (np.float32(135135) + u * (np.float32(17325) + u * (np.float32(378) + u)))
    bottom = np.float32(135135) + u * (np.float32(62370) + u * (np.float32(3150) + u * np.float32(28)))
    return np.float32(0.5) + np.float32(0.5) * (top / bottom)


@piece
def to_steps(scores: np.ndarray, m: int, p: int, n: int, weights: np.ndarray, rate: float) -> None:
    """G = rate W (Y - sigmoid(S)) in the place of S; the first p of n targets are positive."""
    gap = pitch(n)
    rate = scores.dtype.type(rate)  # a float64 would widen the whole step
    if scores.itemsize == 4:
        for q in range(m * gap):
            scores[q] = -rate * rational_sigmoid(scores[q])
    else:
        for q in range(m * gap):
            scores[q] = -rate * sigmoid(scores[q])
    for i in range(m):
        for j in range(p):
            scores[i * gap + j] += rate
    for j in range(n):
        if weights[j] != 1:
            for i in range(m):
                scores[i * gap + j] *= weights[j]


@aside
def loss(scores: np.ndarray, m: int, p: int, n: int, weights: np.ndarray) -> float:
    """The sum of -W log sigmoid(s) over positives and of -W log sigmoid(-s) over the others."""
    gap, total = pitch(n), 0.0
    for i in range(m):
        for j in range(n):
            s = np.float64(scores[i * gap + j])
            if j < p:
                s = -s
            total += weights[j] * (max(s, 0.0) + np.log1p(np.exp(-abs(s))))
    return total


@kernel
def rational_sigmoids(x: np.ndarray) -> np.ndarray:
    """`rational_sigmoid` of each number, float32."""
    y = np.empty_like(x)
    for i in range(x.shape[0]):
        y[i] = rational_sigmoid(x[i])
    return y
