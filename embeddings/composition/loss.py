"""What learning makes least: the squared error, and how hard the true phrase is to tell from others by cosine."""

from typing import NamedTuple

import numpy as np

from embeddings.neighbours import row_blocks, unit

SHARPNESS = 20.0  # cosines times this are logarithms of odds


class Loss(NamedTuple):
    """|e|^2 / (2 dim) - contrast log p of a composed vector, where e is its difference from the true one z.

    p = exp(s cos(composed, z)) / sum over phrases j of exp(s cos(composed, z_j)), s being `SHARPNESS`: the chance that
    the true phrase is drawn among others by their cosines (van den Oord, Li and Vinyals 2018, equation 4). With a
    `contrast` of 0 it is the squared error alone.
    """

    contrast: float

    def slope(self, made: np.ndarray, true: np.ndarray) -> np.ndarray:
        """dim times the slope of each row's loss by the composed vector, (phrases, dim); the others are the batch's."""
        slope = made - true
        if self.contrast:
            slope += self.contrast * made.shape[1] * told_apart(made, unit(true), np.arange(len(made)))[1]
        return slope

    def of(self, made: np.ndarray, true: np.ndarray, others: np.ndarray, own: np.ndarray) -> float:
        """The sum of the rows' losses; `others` are unit rows of phrases, among which the true ones stand at `own`."""
        error = (made - true).astype(np.float64)
        total = float(np.vdot(error, error)) / (2 * made.shape[1])
        if self.contrast:
            for part in row_blocks(len(made), len(others), itemsize=16):
                total -= self.contrast * float(told_apart(made[part], others, own[part])[0].sum())
        return total


def told_apart(made: np.ndarray, others: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log p of each row (phrases,), and the slope of -log p by the composed vector (phrases, dim).

    With u the composed vector at length one, that slope is s (sum_j p_j v_j - v) made orthogonal to u, over the length.
    """
    rows, units = np.arange(len(made)), unit(made)
    scores = SHARPNESS * units @ others.T
    scores -= scores.max(axis=1, keepdims=True)
    odds = np.exp(scores)
    totals = odds.sum(axis=1, keepdims=True)
    logs = scores[rows, own] - np.log(totals[:, 0])
    odds /= totals
    odds[rows, own] -= 1
    slope = SHARPNESS * odds @ others
    slope -= (slope * units).sum(axis=1, keepdims=True) * units
    lengths = np.linalg.norm(made, axis=1, keepdims=True)
    return logs, slope / np.where(lengths == 0, 1, lengths)
