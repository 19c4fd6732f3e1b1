"""Records in JSON that name the version of their format, as saved models and indexes have them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from embeddings.errors import FormatError


def read_versioned(path: Path, version: int) -> dict[str, Any]:
    """What a record of this version says.

    Raises:
        FormatError: it is broken, or of a version that is not known here.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(f"{path} is broken: {error}") from None
    if not isinstance(content, dict) or "format_version" not in content:
        raise FormatError(f"{path} is broken: it names no format_version")
    if content["format_version"] != version:
        found = content["format_version"]
        raise FormatError(f"{path} is of format version {found!r}; this package reads {version}")
    return content


def check_named(path: Path, content: Mapping[str, Any], named: Mapping[str, Any]) -> None:
    """Refuse a record without these entries, each of its type.

    Raises:
        FormatError: naming the first that is missing or of another type.
    """
    for key, kind in named.items():
        if not isinstance(content.get(key), kind):
            raise FormatError(f"{path} is broken: {key!r} is missing or not a {kind.__name__}")
