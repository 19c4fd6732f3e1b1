"""JSON records with a format version, as in saved models and indexes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from embeddings.errors import FormatError
from embeddings.support.foreign_files import check_no_stream


def read_versioned(path: Path, *versions: int) -> dict[str, Any]:
    """Read a record of one of these versions."""
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
    """Check that a record has these fields with these types."""
    for name, kind in types.items():
        if not isinstance(record.get(name), kind):
            raise FormatError(f"{path} is broken: {name!r} is missing or not a {kind.__name__}")
