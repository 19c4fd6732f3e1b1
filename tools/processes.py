"""Processes whose time and memory are measured, and the machine on which that is done (Linux or macOS)."""

import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
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
    path = Path("/proc/cpuinfo")
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    name = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return name[1].strip() if name else platform.processor() or platform.machine()


def installed_version(package: str) -> str:
    """The version of a package; empty if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def describe(record: Mapping[str, Any], versions: Mapping[str, str]) -> str:
    """The record of a machine, with the versions of packages, in one line."""
    return (
        f"{record['processor']}, {record['cores_available']} of {record['cores']} cores; {record['system']}; "
        f"{', '.join(f'{name} {number}'.strip() for name, number in versions.items())}; {record['date']}."
    )


INTERVAL = 0.02  # seconds between samples of the memory
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes
STATUS_MEMORY = re.compile(r"^(VmHWM|RssAnon):\s+(\d+) kB$", re.MULTILINE)  # in /proc/PID/status


@dataclass(frozen=True)
class Usage:
    """CPU time, wall time and memory of a process, its exit code, and its output.

    `cpu` is user and system seconds with child processes; `peak` and `private` are the maximum memory in bytes, with
    and without mapped files (None where the system does not report it); `code` is negative after a signal.
    """

    cpu: float
    wall: float
    peak: int
    private: int | None
    code: int
    output: str
    errors: str

    @property
    def error(self) -> str:
        """Why it failed, in one line; empty if it succeeded."""
        if self.code == 0:
            return ""
        if self.code < 0:
            return f"killed by {signal.Signals(-self.code).name}"
        lines = self.errors.strip().splitlines()
        return " ".join(lines[-1].split()) if lines else f"exit code {self.code}"


def run(command: Sequence[str], env: Mapping[str, str]) -> Usage:
    """Run a command to its end; if this process is interrupted, the command is killed with its children."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start_time = perf_counter()
        process = subprocess.Popen(  # in a session of its own, so that Ctrl-C does not reach it
            command, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True
        )
        try:
            with maximum_memory(process.pid) as memory:
                _, status, used = os.wait4(process.pid, 0)
            wall = perf_counter() - start_time
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        output.seek(0)
        errors.seek(0)
        return Usage(
            cpu=used.ru_utime + used.ru_stime,
            wall=wall,
            # ru_maxrss of a child includes what its parent held when it was started
            peak=memory.get("VmHWM") or used.ru_maxrss * MAXRSS_UNIT,
            private=memory.get("RssAnon"),
            code=process.returncode,
            output=output.read().decode(errors="replace"),
            errors=errors.read().decode(errors="replace"),
        )


@contextmanager
def maximum_memory(pid: int) -> Iterator[dict[str, int]]:
    """The maximum memory of a process in bytes by name, sampled in a thread; empty where /proc does not report it."""
    memory: dict[str, int] = {}
    stopped = Event()

    def sample() -> None:
        while not stopped.wait(INTERVAL):
            try:
                status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
            except OSError:
                return
            for name, size in STATUS_MEMORY.findall(status):
                memory[name] = max(memory.get(name, 0), int(size) * 1024)

    thread = Thread(target=sample, name="memory", daemon=True)
    thread.start()
    try:
        yield memory
    finally:
        stopped.set()
        thread.join()


def write_text(text: str, path: Path) -> None:
    """Write a text file with the line ends of Unix."""
    path.write_text(text, encoding="utf-8", newline="\n")
