"""Operations on the token ids and the lines of an encoded corpus."""

import numpy as np

from embeddings.compilation.jit import entry_point, inline
from embeddings.kernels.integers import larger, smaller


@entry_point
def fill_entries(table: np.ndarray, ids: np.ndarray, out: np.ndarray) -> None:
    """Write `table[id]` for each id to `out`, which may be `ids`; all are int32."""
    for i in range(ids.shape[0]):
        out[i] = table[ids[i]]


def look_up_ids(table: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Replace ids in place by their entries in a table, both int32, and return them."""
    fill_entries(table, ids, ids)
    return ids


@inline
def line_end(lines: np.ndarray, line: int, end: int) -> int:
    """The position where a line starts and the one before it ends, at most `end`; `end` if there is no such line."""
    return smaller(lines[line], end) if 0 <= line < lines.shape[0] else end


@entry_point
def gather_lines(ids: np.ndarray, starts: np.ndarray, stops: np.ndarray, output: np.ndarray, lines: np.ndarray) -> None:
    """Copy `ids[starts[i]:stops[i]]` one after another into `output`; `lines` (sentences + 1,) gets their bounds.

    What is not in `ids`, or does not fit `output`, is omitted.
    """
    at = 0
    lines[0] = 0
    for i in range(starts.shape[0]):
        start = larger(starts[i], 0)
        # Bounds come from a file: ids outside the array or beyond the output are left out, never read.
        for k in range(start, smaller(smaller(stops[i], ids.shape[0]), start + output.shape[0] - at)):
            output[at] = ids[k]
            at += 1
        lines[i + 1] = at


@entry_point
def mark_documents_with_words(
    ids: np.ndarray, lines: np.ndarray, rows: np.ndarray, vocabulary: int, has_words: np.ndarray
) -> None:
    """Set `has_words[rows[i]]` where line i, `ids[lines[i]:lines[i + 1]]`, has an id below `vocabulary`."""
    for i in range(rows.shape[0]):
        for at in range(larger(lines[i], 0), smaller(lines[i + 1], ids.shape[0])):
            if np.uint32(ids[at]) < vocabulary:
                has_words[rows[i]] = True
                break
