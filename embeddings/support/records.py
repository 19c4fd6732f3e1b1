"""JSON records with a format version, and the conversion of values to JSON types."""

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.errors import FormatError
from embeddings.support.foreign_files import check_no_stream


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


def read_versioned(path: Path, *versions: int) -> dict[str, Any]:
    """Read a record of one of the given versions."""
    check_no_stream(path)
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(f"{path} is broken: {error}") from None
    if not isinstance(record, dict) or "format_version" not in record:
        raise FormatError(f"{path} is broken: it has no format_version")
    if record["format_version"] not in versions:
        known = " and ".join(map(str, versions))
        raise FormatError(f"{path} has format version {record['format_version']!r}; this package reads {known}")
    return record


def check_fields(path: Path, record: Mapping[str, Any], types: Mapping[str, type]) -> None:
    """Check that a record has the fields of `types` with their types."""
    for name, kind in types.items():
        if not isinstance(record.get(name), kind):
            raise FormatError(f"{path} is broken: {name!r} is missing or not a {kind.__name__}")
