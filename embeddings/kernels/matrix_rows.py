"""Rows of a dense matrix or of one compressed by product quantisation (Jégou et al. 2011), as fastText stores them."""

from typing import NamedTuple

import numpy as np

CENTROIDS = 256  # of each part of a row, so that a code is one byte


class DenseRows(NamedTuple):
    """Rows as they are: `table`, float32 (rows, dim)."""

    table: np.ndarray


class QuantisedRows(NamedTuple):
    """Rows cut into parts of `part_size` components, the last part possibly shorter; a code selects each part.

    table: uint8 (rows, parts), the codes.
    centroids: float32 (256 * dim,), the 256 centroids of the first part, then those of the second, and so on.
    norm_codes, norms: uint8 (rows,) and float32 (256,), by which rows are multiplied; `norm_codes` is empty without.
    """

    table: np.ndarray
    centroids: np.ndarray
    part_size: int
    dim: int
    norm_codes: np.ndarray
    norms: np.ndarray


Rows = DenseRows | QuantisedRows
