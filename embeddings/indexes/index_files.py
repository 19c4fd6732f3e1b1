"""The folder of a saved index: index.json and tensors.safetensors."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.errors import FormatError
from embeddings.support import tensors
from embeddings.support.files import atomic_write, check_own_folder
from embeddings.support.foreign_files import check_no_stream
from embeddings.support.versioned_json import check_fields, read_versioned

FORMAT_VERSION = 1
RECORD, TENSORS = "index.json", "tensors.safetensors"
FIELDS: dict[str, type] = {
    "kind": str, "settings": dict, "rows": int, "dim": int, "build_seconds": float, "vectors": str, "checksum": str,
}  # fmt: skip


def check_target(path: str | os.PathLike[str], *, force: bool) -> Path:
    """The path, if an index can be saved there: nothing exists, or with `force` another saved index."""
    return check_own_folder(path, RECORD, {RECORD, TENSORS}, "index", force=force)


def write(
    path: str | os.PathLike[str], description: Mapping[str, Any], arrays: Mapping[str, np.ndarray], *, force: bool
) -> None:
    """Write the folder atomically."""
    check_target(path, force=force)
    with atomic_write(path, force=force, folder=True) as folder:
        tensors.save(arrays, folder / TENSORS)
        content = {"format_version": FORMAT_VERSION, **description, "checksum": checksum(folder / TENSORS)}
        (folder / RECORD).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_record(folder: Path) -> dict[str, Any]:
    """The content of index.json."""
    path = folder / RECORD
    if not path.is_file():
        raise FormatError(f"{folder} {'is not a saved index' if folder.exists() else 'does not exist'}")
    content = read_versioned(path, FORMAT_VERSION)
    check_fields(path, content, FIELDS)
    return content


def read_arrays(folder: Path, expected_checksum: str) -> dict[str, np.ndarray]:
    """The arrays of an index, memory-mapped; FormatError if the file is missing or its checksum differs."""
    path = folder / TENSORS
    check_no_stream(path)
    try:
        actual = checksum(path)
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror or error}") from None
    if actual != expected_checksum:
        raise FormatError(f"{path} is truncated or changed: its checksum differs from the one in {RECORD}")
    return tensors.load(path)


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
