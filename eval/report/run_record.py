"""Everything that is needed to do an evaluation again: versions, command, settings, fingerprints."""

import dataclasses
import hashlib
import platform
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from embeddings.eval.benchmark.machine import installed, processor
from embeddings.eval.suite import Suite
from embeddings.vectors.vectors import Vectors

PACKAGES = ("embeddings-toolkit", "numpy", "scipy", "scikit-learn", "faiss-cpu", "pyarrow", "numba")
SETS = ("pairs", "questions", "phrases", "categories", "tagging", "documents")


def record(suite: Suite, vectors: Sequence[Vectors], names: Sequence[str], command: str | None) -> dict[str, Any]:
    """Facts by name, as JSON holds them."""
    return {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "settings": {
            "restrict": list(suite.limits), "method": list(suite.methods), "window": suite.window, "facts": suite.facts,
            "compose": suite.compose,
        },
        "test sets": {f"{kind}: {one.name}": fingerprint(one) for kind in SETS for one in getattr(suite, kind)},
        "vectors": [
            {"name": name, "words": len(one), "dim": one.dim, "fingerprint": fingerprint(one.words, one.matrix)}
            for one, name in zip(vectors, names, strict=True)
        ],
        "packages": {"python": platform.python_version()} | {name: installed(name) for name in PACKAGES},
        "machine": {"system": platform.platform(), "processor": processor()},
    }  # fmt: skip


def fingerprint(*values: Any) -> str:
    """The first 16 digits of SHA-256 over texts, numbers and arrays, in order."""
    found = hashlib.sha256()
    for value in values:
        for part in parts(value):
            found.update(len(part).to_bytes(8, "little"))
            found.update(part)
    return found.hexdigest()[:16]


def parts(value: Any) -> Iterator[bytes | memoryview]:
    """What a value is made of, as bytes."""
    if isinstance(value, np.ndarray):
        yield repr((value.dtype.str, value.shape)).encode()
        yield np.ascontiguousarray(value).data.cast("B") if value.size else b""
    elif isinstance(value, list | tuple):
        texts = all(isinstance(one, str) for one in value)
        yield from [joined(value)] if texts else (part for one in value for part in parts(one))
    elif dataclasses.is_dataclass(value):
        yield from (part for one in dataclasses.fields(value) for part in parts(getattr(value, one.name)))
    else:
        yield repr(value).encode("utf-8", "surrogatepass")


def joined(texts: Sequence[str]) -> bytes:
    """Texts as bytes that tell them apart."""
    return "".join(f"{len(one)}:{one}" for one in texts).encode("utf-8", "surrogatepass")
