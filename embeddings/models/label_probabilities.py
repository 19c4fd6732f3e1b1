"""Probabilities of labels from their scores."""

import numpy as np

TABLE_SIZE, TABLE_LIMIT = 512, 8  # of fastText's table of the logistic function


def softmax(scores: np.ndarray) -> np.ndarray:
    """The probabilities of finite scores, written over them, each row for itself."""
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def sigmoid(scores: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-score))."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-scores))  # type: ignore[no-any-return]


def tabulated_sigmoid(scores: np.ndarray) -> np.ndarray:
    """The same from fastText's table; 0 and 1 beyond its limits."""
    step = 2 * TABLE_LIMIT / TABLE_SIZE
    table = sigmoid(np.arange(TABLE_SIZE + 1, dtype=np.float32) * np.float32(step) - np.float32(TABLE_LIMIT))
    rows = ((np.clip(scores, -TABLE_LIMIT, TABLE_LIMIT) + np.float32(TABLE_LIMIT)) / np.float32(step)).astype(np.int64)
    return np.where(scores > TABLE_LIMIT, 1, np.where(scores < -TABLE_LIMIT, 0, table[rows])).astype(np.float32)
