"""Word counts as integers, and their sums, without overflow."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import SettingError

MAX_SUM = int(np.iinfo(np.int64).max)


def as_counts(counts: Any) -> NDArray[np.int64]:
    """Return counts (n,) as an array; raises SettingError if one of them or their sum does not fit an int64."""
    try:
        array = np.asarray(counts, np.int64)
    except OverflowError:
        raise SettingError(f"counts must be at most {MAX_SUM}, got {max(counts)}") from None
    sum_counts(array)
    return array


def sum_counts(counts: NDArray[np.int64]) -> int:
    """Return the sum of counts (n,); raises SettingError if it does not fit an int64."""
    total = (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())  # neither half overflows
    if total > MAX_SUM:
        raise SettingError(f"the sum of the counts must be at most {MAX_SUM}, got {total}")
    return total
