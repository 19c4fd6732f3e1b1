"""Compiling kernels in a second process, which puts them into the cache of compiled code, while this one does the rest.

The process is a fork, so it has already imported everything. It ends with this process at the latest, prints nothing
and writes only to the cache. What it does not compile is compiled later as usual. Only the command line uses it: a fork
can copy locks that other threads of a program hold.
"""

import ctypes
import mmap
import os
import select
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import NoReturn, Self

from embeddings.compilation.compile_monitor import monitor
from embeddings.compilation.compile_time import compile_time
from embeddings.support.cache_folder import cache_folder
from embeddings.support.logs import displays, log
from embeddings.support.system import available_threads

PATIENCE = 120.0  # seconds to wait for a process that may hang
PR_SET_PDEATHSIG = 1  # of prctl: the signal that this process gets when its parent ends
STAGE = b"."  # sent when the first stage is complete

Work = Callable[["CompileProcess | None"], object]


class CompileProcess:
    """A fork of this process that compiles kernels in two stages; before `start`, `wait` and `stop` do nothing.

    As a context manager it ends the fork.
    """

    pid = 0  # of the fork; 0 if there is none

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, work: Work | None) -> None:
        """Fork this process to call `work`, with this object; None starts nothing."""
        if work is None:
            return
        self.is_awaited = mmap.mmap(-1, 1)  # shared: nonzero once the first process waits for the first stage
        self.parent = os.getpid()
        self.reader, self.writer = os.pipe()
        with warnings.catch_warnings():  # a fork of threads; the only others are of BLAS, which handles forks
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            self.run(work)
        os.close(self.writer)

    def run(self, work: Work) -> NoReturn:
        """Call `work` and end the new process."""
        try:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == self.parent:  # otherwise the parent ended before prctl was called
                silence()
                work(self)
        finally:
            os._exit(0)

    def end_stage(self) -> None:
        """Report from the new process that the first stage is complete."""
        os.write(self.writer, STAGE)

    def wait_for_stage(self) -> None:
        """Wait until the first stage is complete, or the fork has ended."""
        if self.pid and not self.is_awaited[0]:
            self.is_awaited[0] = 1
            self.read()

    def wait(self) -> None:
        """Wait until the process has ended."""
        self.wait_for_stage()
        while self.pid and self.read():
            pass
        self.stop()

    def read(self) -> bytes:
        """Wait for a message, and return it; empty if the process has ended, or sent nothing for PATIENCE seconds."""
        start = perf_counter()
        ready, _, _ = select.select([self.reader], [], [], PATIENCE)
        message = os.read(self.reader, 1) if ready else b""
        compile_time.seconds += perf_counter() - start
        return message

    def stop(self) -> None:
        """End the process."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.reader)
            self.pid = 0


def silence() -> None:
    """Print and log nothing from now on."""
    log.disabled = True
    displays.clear()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)


def can_compile_in_fork() -> bool:
    """Whether a second process can compile for this one, and saves time."""
    return (
        sys.platform == "linux"
        and hasattr(os, "fork")
        and threading.active_count() == 1
        and available_threads() > 1
        and cache_folder("kernels") is not None
        and monitor.cache_problem is None
    )
