"""Pools rows of a table for many texts: sums, maxima and minima. Compiled.

Text t consists of the rows `ids[starts[t]:starts[t + 1]]`, int64. Results go to `output`, float32 (texts, width),
of which the caller has set the start; the columns of the table beyond the width are not read.
"""

import numpy as np

from embeddings.compilation.jit import entry_point
from embeddings.kernels.row_operations import add_table_rows, add_weighted_table_rows


@entry_point
def sum_texts(table: np.ndarray, ids: np.ndarray, starts: np.ndarray, weights: np.ndarray, output: np.ndarray) -> None:
    """Add the rows of each text, by the weight of each row of the table; by 1 if `weights` is empty."""
    stride, width = table.strides[0], output.shape[1]
    for text in range(output.shape[0]):
        if weights.shape[0] > 0:
            add_weighted_table_rows(table, output[text], ids, starts[text], starts[text + 1], stride, width, weights)
        else:
            add_table_rows(table, output[text], ids, starts[text], starts[text + 1], stride, width)


@entry_point
def maximize_texts(
    table: np.ndarray, ids: np.ndarray, starts: np.ndarray, sign: np.float32, output: np.ndarray
) -> None:
    """Raise the components of a text to the largest of its rows by `sign`: 1, or -1 for minus the minimum."""
    for text in range(output.shape[0]):
        for token in range(starts[text], starts[text + 1]):
            row = ids[token]
            for column in range(output.shape[1]):
                value = sign * table[row, column]
                if value > output[text, column]:
                    output[text, column] = value


@entry_point
def select_rows(raw: np.ndarray, starts: np.ndarray, rows: np.ndarray, ids: np.ndarray, new_starts: np.ndarray) -> None:
    """Write the row of each token to `ids`, leaving out tokens without a row (-1), and where texts start in `ids`.

    raw: int32, the number of each token, which is an index of `rows`, int64. Texts start at `starts`, int64.
    """
    count = np.int64(0)
    for text in range(starts.shape[0] - 1):
        new_starts[text] = count
        for token in range(starts[text], starts[text + 1]):
            row = rows[raw[token]]
            if row >= 0:
                ids[count] = row
                count += 1
    new_starts[starts.shape[0] - 1] = count
