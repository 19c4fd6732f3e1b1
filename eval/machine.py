"""The machine and the versions of packages with which a measurement was made."""

import os
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from embeddings.support.system import available_threads, total_memory


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


def describe(record: dict[str, Any], versions: dict[str, str]) -> str:
    """The record of a machine, with the versions of packages, in one line."""
    return (
        f"{record['processor']}, {record['cores_available']} of {record['cores']} cores; {record['system']}; "
        f"{', '.join(f'{name} {number}'.strip() for name, number in versions.items())}; {record['date']}."
    )
