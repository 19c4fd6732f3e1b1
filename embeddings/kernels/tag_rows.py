"""The rows of documents that have several tags, each with a row of its own."""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.block import NO_ROWS, Block
from embeddings.kernels.jit import inline
from embeddings.kernels.row_operations import address


class TagRows(NamedTuple):
    """The rows of the tags of documents.

    starts: (documents + 1,) document i of a block has the rows `rows[starts[i]:starts[i + 1]]`; empty if each document
        has one row, whose number blocks hold.
    rows: (tags of all documents,).
    """

    starts: np.ndarray
    rows: np.ndarray


SINGLE_ROWS = TagRows(NO_ROWS, NO_ROWS)


@inline
def gather_tags(block: Block, documents: np.ndarray, tags: TagRows, rows: np.ndarray, i: int, first: int) -> int:
    """Write the addresses of the rows of centre i's document into `rows`, from `first` on; returns how many."""
    document = block.documents[i]
    if tags.starts.shape[0] == 0:
        rows[first] = address(documents, document)
        return 1
    begin, count = tags.starts[document], tags.starts[document + 1] - tags.starts[document]
    for k in range(count):
        rows[first + k] = address(documents, tags.rows[begin + k])
    return int(count)
