"""What a benchmark ran on: the machine, the versions, the corpus."""

import os
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings.eval.benchmark.tools import Tool
from embeddings.support.system import available_threads, total_memory

if TYPE_CHECKING:
    from embeddings.corpora import EncodedCorpus

LIBRARIES = ("numpy", "numba", "llvmlite", "scipy", "pyarrow")


def machine_record(tools: Sequence[Tool], encoded: "EncodedCorpus") -> dict[str, Any]:
    """Machine, versions, date, and statistics of the corpus."""
    return {
        **environment(LIBRARIES),
        "tools": {tool.name: tool.version for tool in tools},
        "corpus": {
            "sources": [Path(name).name for name in encoded.meta["sources"]],
            "words": len(encoded.ids),
            "types": len(encoded.vocabulary),
            "lines": len(encoded.sentences) - 1,
            "fingerprint": encoded.fingerprint,
        },
    }


def environment(packages: Sequence[str]) -> dict[str, Any]:
    """Processor, cores, memory (bytes), system, date, and the versions of installed packages."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "cores_available": available_threads(),
        "memory": total_memory(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: number for name in packages if (number := installed_version(name))},
    }


def processor() -> str:
    """The processor's name."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    name = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return name[1].strip() if name else platform.processor() or platform.machine()


def installed_version(package: str) -> str | None:
    """The version of a package; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
