"""Processes whose time and memory are measured, and the machine on which that is done (Linux or macOS)."""

import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import distributions
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import Any

from embeddings.errors import EmbeddingsError
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
        "packages": {name: one.version for name in packages for one in islice(distributions(name=name), 1)},
    }


def processor() -> str:
    """The processor's name."""
    path = Path("/proc/cpuinfo")
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    name = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return name[1].strip() if name else platform.processor() or platform.machine()


def describe(record: Mapping[str, Any], versions: Mapping[str, str]) -> str:
    """The record of a machine, with the versions of packages, in one line."""
    return (
        f"{record['processor']}, {record['cores_available']} of {record['cores']} cores; {record['system']}; "
        f"{', '.join(f'{name} {number}'.strip() for name, number in versions.items())}; {record['date']}."
    )


EMBEDDINGS = (sys.executable, "-m", "embeddings")
INTERVAL = 0.02  # seconds between samples of the memory
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes
STATUS_MEMORY = re.compile(r"^(VmHWM|RssAnon):\s+(\d+) kB$", re.MULTILINE)  # in /proc/PID/status


@dataclass(frozen=True)
class Usage:
    """CPU time, wall time, memory and output of a process.

    `cpu` is user and system seconds with child processes; `peak` and `private` are the maximum memory in bytes, with
    and without mapped files (None where the system does not report it).
    """

    cpu: float
    wall: float
    peak: int
    private: int | None
    output: str


class CommandError(EmbeddingsError):
    """A command failed; the message is the last line of its errors."""


def run(command: Sequence[object], folder: Path | None = None, **variables: str) -> Usage:
    """Run a command to its end, in a folder and with variables added to its environment, and measure it.

    If this process is interrupted, the command is killed with its children.

    Raises:
        CommandError: it failed.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start_time = perf_counter()
        process = subprocess.Popen(  # in a session of its own, so that Ctrl-C does not reach it
            [str(part) for part in command], env={**os.environ, **variables}, cwd=folder, stdin=subprocess.DEVNULL,
            stdout=output, stderr=errors, start_new_session=True,
        )  # fmt: skip
        try:
            with maximum_memory(process.pid) as memory:
                _, status, used = os.wait4(process.pid, 0)
            wall = perf_counter() - start_time
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    if process.returncode < 0:
        raise CommandError(f"killed by {signal.Signals(-process.returncode).name}")
    if process.returncode > 0:
        last = texts[1].strip().rpartition("\n")[2]
        raise CommandError(" ".join(last.split()) or f"exit code {process.returncode}")
    return Usage(
        cpu=used.ru_utime + used.ru_stime,
        wall=wall,
        # ru_maxrss of a child includes what its parent held when it was started
        peak=memory.get("VmHWM") or used.ru_maxrss * MAXRSS_UNIT,
        private=memory.get("RssAnon"),
        output=texts[0],
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


def seconds(work: Callable[..., Any], *arguments: Any) -> float:
    """Wall seconds of a call."""
    start = perf_counter()
    work(*arguments)
    return perf_counter() - start


def write_text(text: str, path: Path) -> None:
    """Write a text file with the line ends of Unix."""
    path.write_text(text, encoding="utf-8", newline="\n")


def with_part(page: str, name: str, text: str) -> str:
    """A page with another text between the comments <!-- name --> and <!-- end of name -->."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = page.split(begin)
    return before + begin + text + end + rest.split(end)[1]


def replace_part(path: Path, name: str, text: str) -> None:
    """Replace the text between the comments <!-- name --> and <!-- end of name --> in a file."""
    write_text(with_part(path.read_text(encoding="utf-8"), name, text), path)
