"""Logs and times the compilation of kernels, and suspends garbage collection meanwhile.

Compilation creates many small objects that live until its end; searching them for garbage takes a sixth of its time.
"""

import gc
from time import perf_counter
from typing import Any

from numba.core import event

from embeddings.support.cache_folder import cache_folder
from embeddings.support.logs import log, notice


class CompileMonitor(event.Listener):  # type: ignore[misc]
    """Listens to numba's compilations; nested compilations count once."""

    def __init__(self) -> None:
        self.seconds = 0.0  # wall time of all compilations of this process so far
        self.depth = 0
        self.start = 0.0
        self.collects = False
        self.logged: set[str] = set()

    def on_start(self, event: Any) -> None:
        """Log what is compiled, once, and stop garbage collection."""
        self.depth += 1
        if self.depth > 1:
            return
        self.start, self.collects = perf_counter(), gc.isenabled()
        gc.disable()
        name = kernel_owner(event.data["dispatcher"].py_func.__module__)
        if not self.logged and cache_folder("kernels") is None:
            log.warning(
                "cannot cache compiled code, so every run recompiles it: set EMBEDDINGS_CACHE to a writable folder"
            )
        if name not in self.logged:
            self.logged.add(name)
            notice(f"compiling {name} (once on this machine) ...")

    def on_end(self, event: Any) -> None:
        """Count the seconds and resume garbage collection."""
        self.depth -= 1
        if self.depth == 0:
            self.seconds += perf_counter() - self.start
            if self.collects:
                gc.enable()


def kernel_owner(module: str) -> str:
    """A name for the owner of a kernel's module in messages: a plugin, or a part of this package."""
    room, _, rest = module.removeprefix("embeddings.").partition(".")
    if module.startswith("embeddings.plugins."):
        return rest.split(".")[0].replace("_", "-")
    shared = {"corpora": "the text reader", "kernels": "training kernels", "indexes": "nearest-neighbour search"}
    return shared.get(room, f"kernels of {module}")


monitor = CompileMonitor()
event.register("numba:compile", monitor)
