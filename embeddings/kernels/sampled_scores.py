"""The scores of sampled words, forward and backward, without a copy of the output vectors for each hidden row."""

import numpy as np

from embeddings.compilation.jit import entry_point


@entry_point
def score_samples(hidden: np.ndarray, rows: np.ndarray, places: np.ndarray, scores: np.ndarray) -> None:
    """The scores of sampled words, s = h · o.

    Arguments:
        hidden: float32 (n, dim), h.
        rows: float32 (words, dim), o of each word.
        places: int64 (n, k), the words of each hidden row.
        scores: float32 (n, k), which are written.
    """
    for i in range(places.shape[0]):
        own = hidden[i]
        for k in range(places.shape[1]):
            row, score = rows[places[i, k]], np.float32(0)
            for j in range(own.shape[0]):
                score += own[j] * row[j]
            scores[i, k] = score


@entry_point
def score_samples_back(
    hidden: np.ndarray, rows: np.ndarray, places: np.ndarray, gradient: np.ndarray, to_hidden: np.ndarray,
    to_rows: np.ndarray,
) -> None:  # fmt: skip
    """Add the gradients of `score_samples`, to_h += g o and to_o += g h, given the gradient g of the scores."""
    for i in range(places.shape[0]):
        own, to_own = hidden[i], to_hidden[i]
        for k in range(places.shape[1]):
            row, to_row, g = rows[places[i, k]], to_rows[places[i, k]], gradient[i, k]
            for j in range(own.shape[0]):
                to_own[j] += g * row[j]
                to_row[j] += g * own[j]
