"""Sentences put one behind another in another order."""

import numpy as np

from embeddings.kernels.jit import hot


@hot
def gather(ids: np.ndarray, starts: np.ndarray, stops: np.ndarray, goal: np.ndarray, lines: np.ndarray) -> None:
    """Copy `ids[starts[i]:stops[i]]` one after another to `goal`; `lines` (sentences + 1,) are their borders there."""
    at = 0
    lines[0] = 0
    for i in range(starts.shape[0]):
        for k in range(starts[i], stops[i]):
            goal[at] = ids[k]
            at += 1
        lines[i + 1] = at
