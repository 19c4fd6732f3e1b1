"""A saved index: a folder of index.json and tensors.safetensors, for the very vectors that it was built from."""

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings import registry
from embeddings.errors import FormatError, OutputError, RegistryError, SettingError
from embeddings.indexes.index import Index
from embeddings.support import tensors
from embeddings.support.files import check_output, replacing
from embeddings.support.versioned_json import check_named, read_versioned

if TYPE_CHECKING:
    from embeddings.vectors.vectors import Vectors

FORMAT_VERSION = 1
RECORD, TENSORS = "index.json", "tensors.safetensors"
NAMED: dict[str, type] = {
    "kind": str, "settings": dict, "rows": int, "dim": int, "build_seconds": float, "vectors": str, "checksum": str,
}  # fmt: skip


def check_target(path: str | os.PathLike[str], *, force: bool) -> Path:
    """The path, if an index can be saved there: nothing there yet, or with `force` another saved index.

    Raises:
        OutputError: as `files.check_output`, and for anything but a saved index.
    """
    target = check_output(path, force=force)
    if target.exists() and not (target / RECORD).is_file():
        raise OutputError(f"{target} is not a saved index, and is not replaced")
    return target


def save(index: Index, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write the folder, all of it or nothing. The vectors are not in it, only their fingerprint.

    Raises:
        OutputError: the path exists (only a saved index is ever replaced, and only with `force`), or cannot be written.
    """
    check_target(path, force=force)
    with replacing(path, force=force, folder=True) as folder:
        tensors.save(index.engine.arrays(), folder / TENSORS)
        content = {
            "format_version": FORMAT_VERSION,
            **index.facts(),
            "vectors": index.vectors.fingerprint,
            "checksum": checksum(folder / TENSORS),
        }
        (folder / RECORD).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def load(path: str | os.PathLike[str], vectors: "Vectors") -> Index:
    """The index of a folder, for the vectors that it was built from.

    Raises:
        SettingError: it was built from other vectors.
        RegistryError: its kind is not installed.
        FormatError: a part is missing, truncated, changed, of an unknown version, or does not fit.
    """
    folder = Path(path)
    record = read_record(folder)
    shape = (record["rows"], record["dim"])
    if shape != vectors.matrix.shape or record["vectors"] != vectors.fingerprint:
        raise SettingError(f"{folder} was built from other vectors, {shape[0]} of {shape[1]} components: build it anew")
    try:
        found = checksum(folder / TENSORS)
    except OSError as error:
        raise FormatError(f"{folder / TENSORS} cannot be read: {error.strerror or error}") from None
    if found != record["checksum"]:
        raise FormatError(f"{folder / TENSORS} is truncated or changed: its checksum is not that of {RECORD}")
    kind = kind_of(folder, record)
    try:
        engine = kind.restore(vectors.units, tensors.load(folder / TENSORS))
    except FormatError as error:
        raise FormatError(f"{folder} is broken: {error}") from error
    return Index(record["kind"], kind, vectors, engine, record["build_seconds"])


def kind_of(folder: Path, record: dict[str, Any]) -> Any:
    """The kind with its settings.

    Raises:
        RegistryError: it is not installed.
        FormatError: it does not take such settings.
    """
    try:
        return registry.configured("index", record["kind"], record["settings"])
    except RegistryError:
        raise
    except SettingError as error:
        raise FormatError(f"{folder / RECORD} is broken: {error}") from None


def read_record(folder: Path) -> dict[str, Any]:
    """What index.json says.

    Raises:
        FormatError: it is missing or broken, or of a version that is not known here.
    """
    path = folder / RECORD
    if not path.is_file():
        raise FormatError(f"{folder} {'is no saved index' if folder.exists() else 'does not exist'}")
    content = read_versioned(path, FORMAT_VERSION)
    check_named(path, content, NAMED)
    return content


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
