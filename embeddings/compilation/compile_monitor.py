"""Logs and times the compilation of kernels, and suspends garbage collection meanwhile.

Compilation creates many small objects that live until its end; searching them for garbage takes a sixth of its time.
"""

import gc
from time import perf_counter
from typing import Any

from numba.core import event

from embeddings.compilation.compile_time import compile_time
from embeddings.support.cache_folder import VARIABLE, cache_folder
from embeddings.support.logs import log, notice


class CompileMonitor(event.Listener):  # type: ignore[misc]
    """Listens to numba's compilations; nested compilations count once."""

    def __init__(self) -> None:
        self.depth = 0
        self.start = 0.0
        self.collects = False
        self.logged: set[str] = set()
        self.cache_problem: str | None = None  # why the cache folder of a kernel is not used, and what to do

    def on_start(self, event: Any) -> None:
        """Log what is compiled, once, and stop garbage collection; numba calls `on_end` even if this raises."""
        self.depth += 1
        if self.depth == 1:
            self.start, self.collects = perf_counter(), gc.isenabled()
            gc.disable()
            self.announce(event.data["dispatcher"].py_func.__module__)

    def announce(self, module: str) -> None:
        """Log, once, that kernels of a module are compiled."""
        name = kernel_owner(module)
        if not self.logged and (problem := self.cache_problem or missing_cache()):
            log.warning("cannot cache compiled code, so every run recompiles it: %s", problem)
        if name not in self.logged:
            self.logged.add(name)
            notice(f"compiling {name} (once on this machine) ...")

    def on_end(self, event: Any) -> None:
        """Count the seconds and resume garbage collection."""
        self.depth -= 1
        if self.depth == 0:
            compile_time.seconds += perf_counter() - self.start
            if self.collects:
                gc.enable()


def missing_cache() -> str | None:
    """What to do if there is no cache folder."""
    return f"set {VARIABLE} to a writable folder" if cache_folder("kernels") is None else None


def kernel_owner(module: str) -> str:
    """A name for the owner of a kernel's module in messages: a plugin, or a part of this package."""
    room, _, rest = module.removeprefix("embeddings.").partition(".")
    if module.startswith("embeddings.plugins."):
        return rest.split(".")[0].replace("_", "-")
    shared = {"corpora": "the text reader", "kernels": "training kernels", "indexes": "nearest-neighbour search"}
    shared |= {"classifier": "the classifier", "models": "vectors of words and texts"}
    return shared.get(room, f"kernels of {module}")


monitor = CompileMonitor()
event.register("numba:compile", monitor)
