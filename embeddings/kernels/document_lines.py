"""Which documents of a corpus have a word that is known."""

import numpy as np

from embeddings.kernels.jit import hot


@hot
def mark_known(ids: np.ndarray, lines: np.ndarray, rows: np.ndarray, vocabulary: int, known: np.ndarray) -> None:
    """Set `known[rows[i]]` where line i, `ids[lines[i]:lines[i + 1]]`, has an id below `vocabulary`."""
    for i in range(rows.shape[0]):
        for at in range(lines[i], lines[i + 1]):
            if np.uint32(ids[at]) < vocabulary:
                known[rows[i]] = True
                break
