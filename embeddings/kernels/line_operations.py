"""Operations on the lines of an encoded corpus."""

import numpy as np

from embeddings.kernels.jit import entry_point


@entry_point
def gather_lines(ids: np.ndarray, starts: np.ndarray, stops: np.ndarray, output: np.ndarray, lines: np.ndarray) -> None:
    """Copy `ids[starts[i]:stops[i]]` one after another into `output`; `lines` (sentences + 1,) gets their bounds."""
    at = 0
    lines[0] = 0
    for i in range(starts.shape[0]):
        for k in range(starts[i], stops[i]):
            output[at] = ids[k]
            at += 1
        lines[i + 1] = at


@entry_point
def mark_documents_with_words(
    ids: np.ndarray, lines: np.ndarray, rows: np.ndarray, vocabulary: int, has_words: np.ndarray
) -> None:
    """Set `has_words[rows[i]]` where line i, `ids[lines[i]:lines[i + 1]]`, has an id below `vocabulary`."""
    for i in range(rows.shape[0]):
        for at in range(lines[i], lines[i + 1]):
            if np.uint32(ids[at]) < vocabulary:
                has_words[rows[i]] = True
                break
