"""The logistic function, its loss, and the gradient step from a score matrix."""

import numpy as np

from embeddings.kernels.jit import inline, noinline
from embeddings.kernels.logistic_step import scores_to_tile_steps
from embeddings.kernels.row_operations import row_stride


@inline
def sigmoid(x: np.float64) -> np.float64:
    """1 / (1 + exp(-x)) of a float64."""
    return 1 / (1 + np.exp(-x))  # type: ignore[no-any-return]


@inline
def rational_sigmoid(x: np.float32) -> np.float32:
    """1 / (1 + exp(-x)) of a float32, by a rational function that vectorises.

    It is half of 1 + tanh(x / 2), with tanh as the seventh convergent of Lambert's continued fraction. The error is at
    most 7.6e-6 for |x| <= 8. Beyond, x is clipped to -8 or 8, with an error of at most 3.4e-4.
    """
    v = np.float32(8) if x > np.float32(8) else x
    v = (np.float32(-8) if v < np.float32(-8) else v) * np.float32(0.5)
    u = v * v
    top = v * (np.float32(135135) + u * (np.float32(17325) + u * (np.float32(378) + u)))
    bottom = np.float32(135135) + u * (np.float32(62370) + u * (np.float32(3150) + u * np.float32(28)))
    return np.float32(0.5) + np.float32(0.5) * (top / bottom)


@inline
def scores_to_steps(scores: np.ndarray, m: int, p: int, n: int, weights: np.ndarray, rate: float) -> None:
    """Replace S by G = rate W (Y - sigmoid(S)), where the first p of n targets are positive."""
    stride = row_stride(n)
    scores_to_tile_steps(scores, rate, m, p, stride)
    for j in range(n):
        if weights[j] != 1:
            for i in range(m):
                scores[i * stride + j] *= weights[j]


@noinline
def logistic_loss(scores: np.ndarray, m: int, p: int, n: int, weights: np.ndarray) -> float:
    """The sum of -W log sigmoid(s) over positives and of -W log sigmoid(-s) over negatives."""
    stride, total = row_stride(n), 0.0
    for i in range(m):
        for j in range(n):
            s = np.float64(scores[i * stride + j])
            if j < p:
                s = -s
            total += weights[j] * ((0.0 if s < 0.0 else s) + np.log1p(np.exp(-abs(s))))
    return total
