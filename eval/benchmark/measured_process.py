"""A command in a process of its own, and what it used: CPU and wall seconds, and memory."""

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

INTERVAL = 0.02  # seconds between looks at the memory
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes


@dataclass(frozen=True)
class Usage:
    """What a process used, how it ended, and what it said.

    cpu: user and system seconds, with its children. peak, private: bytes of memory at the most, all and without
    mapped files; `private` is None where the system does not tell. code: below zero if a signal ended it.
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
        """Why it failed, in a line; empty if it did not."""
        if self.code == 0:
            return ""
        if self.code < 0:
            return f"killed by {signal.Signals(-self.code).name}"
        said = [line.strip() for line in self.errors.splitlines() if line.strip()]
        return " ".join(said[-1].split()) if said else f"exit code {self.code}"


@dataclass
class Memory:
    """The most memory seen in use by a process that runs, in bytes; None where /proc does not tell."""

    pid: int
    peak: int | None = None
    private: int | None = None
    over: Event = field(default_factory=Event)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Look now and then while the block runs."""
        thread = Thread(target=self.watch, name="memory", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.over.set()
            thread.join()

    def watch(self) -> None:
        """Look until it is over."""
        while not self.over.wait(INTERVAL):
            try:
                text = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii", errors="replace")
            except OSError:
                return
            self.peak = most(self.peak, text, "VmHWM")
            self.private = most(self.private, text, "RssAnon")


def most(before: int | None, status: str, name: str) -> int | None:
    """The larger of a size seen before and the one in the text of /proc/PID/status."""
    found = re.search(rf"^{name}:\s+(\d+) kB$", status, re.MULTILINE)
    return max(before or 0, int(found[1]) * 1024) if found else before


def run(command: Sequence[str], env: Mapping[str, str]) -> Usage:
    """Run a command to its end; when this process is interrupted meanwhile, it is killed with its children.

    The peak is the process's own high-water mark where /proc tells it: `ru_maxrss` of a child also counts what
    its parent held when it was started.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = perf_counter()
        with running(command, env, output, errors) as process:
            memory = Memory(process.pid)
            with memory.watched():
                _, status, used = os.wait4(process.pid, 0)
            wall = perf_counter() - started
            process.returncode = os.waitstatus_to_exitcode(status)
        return Usage(
            cpu=used.ru_utime + used.ru_stime,
            wall=wall,
            peak=memory.peak or used.ru_maxrss * MAXRSS_UNIT,
            private=memory.private,
            code=process.returncode,
            output=said(output),
            errors=said(errors),
        )


@contextmanager
def running(
    command: Sequence[str], env: Mapping[str, str], output: IO[bytes], errors: IO[bytes]
) -> Iterator["subprocess.Popen[bytes]"]:
    """A process in a session of its own, so that Ctrl-C reaches it through us alone; none of it is left over."""
    process = subprocess.Popen(
        command, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def said(stream: IO[bytes]) -> str:
    """All that was written to a temporary file."""
    stream.seek(0)
    return stream.read().decode(errors="replace")
