"""Conversion of values to JSON types."""

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from math import isfinite
from typing import Any

import numpy as np


def to_jsonable(value: Any) -> Any:
    """Convert a value to JSON types: numpy to Python numbers, NaN and infinity to None, anything else to text."""
    if is_dataclass(value) and not isinstance(value, type):
        return to_jsonable(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): to_jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_jsonable(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return to_jsonable(value.tolist())
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)
