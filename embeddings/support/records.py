"""JSON files: records with a format version, and folders of a record and tensors."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.errors import FormatError
from embeddings.support import tensors
from embeddings.support.files import atomic_write, check_own_folder
from embeddings.support.foreign_files import check_no_stream, format_errors


def to_jsonable(value: Any) -> Any:
    """Convert a value to JSON types: numpy to Python numbers, NaN and infinity to None, anything else to text."""
    if is_dataclass(value) and not isinstance(value, type):
        return to_jsonable(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): to_jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_jsonable(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, np.ndarray | np.generic):
        return to_jsonable(value.tolist())
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def read_json(path: Path, errors: str = "strict") -> Any:
    """Read a JSON file; `errors` handles bytes that are not UTF-8."""
    check_no_stream(path)
    with format_errors(path):
        return json.loads(path.read_bytes().decode("utf-8", errors))


def write_json(path: Path, value: Any) -> None:
    """Write a small JSON file."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_versioned(path: Path, version: int) -> dict[str, Any]:
    """Read a record of the given version."""
    record = read_json(path)
    own = record.get("format_version") if isinstance(record, dict) else None
    if own != version:
        raise FormatError(f"{path} has format version {own!r:.80}; this package reads {version}")
    return dict(record)


def check_fields(path: Path, record: Mapping[str, Any], types: Mapping[str, type]) -> None:
    """Check that a record has the fields of `types` with their types."""
    for name, kind in types.items():
        if not isinstance(record.get(name), kind):
            raise FormatError(f"{path} is broken: {name!r} is missing or not a {kind.__name__}")


@dataclass(frozen=True)
class RecordFolder:
    """A kind of saved folder: a JSON record with a version and typed fields, and a file of tensors.

    Arguments:
        contents: what the folder holds, such as "index", for messages.
        record, tensors: the names of both files.
        fields: the fields of the record and their types.
        version: the version that is written, and the only one that is read.
    """

    contents: str
    record: str
    tensors: str
    fields: Mapping[str, type]
    version: int = 1

    def check_target(self, path: str | os.PathLike[str], *, force: bool) -> Path:
        """The path, if such a folder can be saved there: nothing exists, or with `force` another one."""
        return check_own_folder(path, self.record, {self.record, self.tensors}, self.contents, force=force)

    def write(
        self, path: str | os.PathLike[str], content: Mapping[str, Any], arrays: Mapping[str, np.ndarray], *, force: bool
    ) -> None:
        """Write both files atomically; the record includes the checksum of the tensors."""
        self.check_target(path, force=force)
        with atomic_write(path, force=force, folder=True) as folder:
            tensors.save(arrays, folder / self.tensors)
            checked = {"format_version": self.version, **content, "checksum": checksum(folder / self.tensors)}
            write_json(folder / self.record, checked)

    def read(self, folder: Path) -> dict[str, Any]:
        """The record; its fields have the declared types."""
        path = folder / self.record
        if not path.is_file():
            state = f"is not a saved {self.contents}" if folder.exists() else "does not exist"
            raise FormatError(f"{folder} {state}")
        content = read_versioned(path, self.version)
        check_fields(path, content, self.fields)
        return content

    def read_tensors(self, folder: Path, content: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """The arrays, memory-mapped; refuses a file whose checksum differs from that in the record, if it has one."""
        path = folder / self.tensors
        if "checksum" in content:
            check_checksum(path, content["checksum"], self.record)
        return tensors.load(path)


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_checksum(path: Path, expected: object, record: str, digest: Callable[[Path], str] = checksum) -> None:
    """Refuse a file that cannot be read, or whose checksum differs from the one in a record."""
    check_no_stream(path)
    with format_errors(path):
        if digest(path) != expected:
            raise FormatError(f"{path} is truncated or changed: its checksum differs from the one in {record}")
