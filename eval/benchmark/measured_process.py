"""Runs a command in a process of its own and measures its CPU and wall time and its memory."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import IO

INTERVAL = 0.02  # seconds between samples of the memory
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes
MEMORY = re.compile(r"^(VmHWM|RssAnon):\s+(\d+) kB$", re.MULTILINE)  # in /proc/PID/status


@dataclass(frozen=True)
class Usage:
    """What a process used, its exit code, and its output.

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
        with running(command, env, output, errors) as process:
            with maximum_memory(process.pid) as memory:
                _, status, used = os.wait4(process.pid, 0)
            wall = perf_counter() - start_time
            process.returncode = os.waitstatus_to_exitcode(status)
        return Usage(
            cpu=used.ru_utime + used.ru_stime,
            wall=wall,
            # ru_maxrss of a child includes what its parent held when it was started
            peak=memory.get("VmHWM") or used.ru_maxrss * MAXRSS_UNIT,
            private=memory.get("RssAnon"),
            code=process.returncode,
            output=read_all(output),
            errors=read_all(errors),
        )


@contextmanager
def running(
    command: Sequence[str], env: Mapping[str, str], output: IO[bytes], errors: IO[bytes]
) -> Iterator["subprocess.Popen[bytes]"]:
    """A process in a session of its own, so that Ctrl-C does not reach it; killed with its children on exit."""
    process = subprocess.Popen(
        command, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


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
            for name, size in MEMORY.findall(status):
                memory[name] = max(memory.get(name, 0), int(size) * 1024)

    thread = Thread(target=sample, name="memory", daemon=True)
    thread.start()
    try:
        yield memory
    finally:
        stopped.set()
        thread.join()


def read_all(stream: IO[bytes]) -> str:
    """The whole content of a temporary file."""
    stream.seek(0)
    return stream.read().decode(errors="replace")
