"""Runs a command in a process of its own and measures CPU and wall seconds, and memory."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import IO

INTERVAL = 0.02  # seconds between samples of the memory
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes


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
        lines = [line.strip() for line in self.errors.splitlines() if line.strip()]
        return " ".join(lines[-1].split()) if lines else f"exit code {self.code}"


@dataclass
class MemoryMonitor:
    """The maximum memory of a running process, in bytes; None where /proc does not report it."""

    pid: int
    peak: int | None = None
    private: int | None = None
    stopped: Event = field(default_factory=Event)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Sample in a thread while the block runs."""
        thread = Thread(target=self.watch, name="memory", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.stopped.set()
            thread.join()

    def watch(self) -> None:
        """Sample until stopped."""
        while not self.stopped.wait(INTERVAL):
            try:
                text = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii", errors="replace")
            except OSError:
                return
            self.peak = maximum(self.peak, text, "VmHWM")
            self.private = maximum(self.private, text, "RssAnon")


def maximum(before: int | None, status: str, name: str) -> int | None:
    """The larger of a previous size and the one in the text of /proc/PID/status."""
    size = re.search(rf"^{name}:\s+(\d+) kB$", status, re.MULTILINE)
    return max(before or 0, int(size[1]) * 1024) if size else before


def run(command: Sequence[str], env: Mapping[str, str]) -> Usage:
    """Run a command to its end; if this process is interrupted, the command is killed with its children.

    The peak is the process's own high-water mark where /proc reports it: `ru_maxrss` of a child includes what its
    parent held when it was started.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start_time = perf_counter()
        with running(command, env, output, errors) as process:
            memory = MemoryMonitor(process.pid)
            with memory.watching():
                _, status, used = os.wait4(process.pid, 0)
            wall = perf_counter() - start_time
            process.returncode = os.waitstatus_to_exitcode(status)
        return Usage(
            cpu=used.ru_utime + used.ru_stime,
            wall=wall,
            peak=memory.peak or used.ru_maxrss * MAXRSS_UNIT,
            private=memory.private,
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


def read_all(stream: IO[bytes]) -> str:
    """The whole content of a temporary file."""
    stream.seek(0)
    return stream.read().decode(errors="replace")
