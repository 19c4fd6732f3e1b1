"""What is needed to reproduce an evaluation: versions, command, settings, fingerprints."""

import dataclasses
import hashlib
import platform
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from embeddings.eval.machine import installed_version, processor
from embeddings.eval.suite import Suite
from embeddings.vectors.vectors import Vectors

PACKAGES = ("embeddings-toolkit", "numpy", "scipy", "scikit-learn", "faiss-cpu", "pyarrow", "numba")
SETS = ("pairs", "questions", "phrases", "categories", "tagging", "documents")


def run_record(suite: Suite, vectors: Sequence[Vectors], names: Sequence[str], command: str | None) -> dict[str, Any]:
    """The record as JSON values."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "settings": {
            "restrict": list(suite.limits), "method": list(suite.methods), "window": suite.window, "stats": suite.stats,
            "compose": suite.compose,
        },
        "test sets": {f"{kind}: {one.name}": fingerprint(one) for kind in SETS for one in getattr(suite, kind)},
        "vectors": [
            {"name": name, "words": len(one), "dim": one.dim, "fingerprint": fingerprint(one.words, one.matrix)}
            for one, name in zip(vectors, names, strict=True)
        ],
        "packages": {"python": platform.python_version()} | {name: installed_version(name) for name in PACKAGES},
        "machine": {"system": platform.platform(), "processor": processor()},
    }  # fmt: skip


def fingerprint(*values: Any) -> str:
    """The first 16 digits of SHA-256 over texts, numbers and arrays, in order."""
    digest = hashlib.sha256()
    for value in values:
        for part in to_bytes(value):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
    return digest.hexdigest()[:16]


def to_bytes(value: Any) -> Iterator[bytes | memoryview]:
    """A value as parts of bytes."""
    if isinstance(value, np.ndarray):
        yield repr((value.dtype.str, value.shape)).encode()
        yield np.ascontiguousarray(value).data.cast("B") if value.size else b""
    elif isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        yield "".join(f"{len(one)}:{one}" for one in value).encode("utf-8", "surrogatepass")
    elif isinstance(value, list | tuple):
        yield from (part for one in value for part in to_bytes(one))
    elif dataclasses.is_dataclass(value):
        yield from (part for one in dataclasses.fields(value) for part in to_bytes(getattr(value, one.name)))
    else:
        yield repr(value).encode("utf-8", "surrogatepass")
