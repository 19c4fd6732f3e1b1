"""How kernels are compiled, and where compiled code is cached.

numba's disk cache checks only the file of the called function, so it misses edits to helpers in other files. Here the
name of the cache folder contains a digest of every source file that a kernel depends on, so compiled code is never
older than its source.

Code that allocates nothing is compiled without numba's reference counting (`_nrt=False`), whose atomic instructions
otherwise take a third of the training time.
"""

import atexit
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numba.extending
from numba import njit

from embeddings.kernels import compile_monitor as compile_monitor
from embeddings.kernels.linked_functions import ENTRY_POINT_OPTIONS, helper
from embeddings.kernels.source_digest import kernel_digest
from embeddings.support.cache_folder import cache_folder, existing_folder

# All of fastmath except "no NaN, no inf": sums may be reordered, but NaN stays NaN.
FASTMATH = {"reassoc", "contract", "nsz", "arcp", "afn"}
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": FASTMATH, "error_model": "numpy"}
MAX_GENERATIONS = 4  # versions of a kernel kept in the cache; each edit adds one

Function = TypeVar("Function", bound=Callable[..., Any])


def inline(function: Function) -> Function:
    """Compile a helper that allocates nothing; LLVM inlines it into every kernel that calls it."""
    return helper(function, forceinline=True, _nrt=False, **OPTIONS)  # type: ignore[no-any-return]


def noinline(function: Function) -> Function:
    """Compile a rarely called helper that allocates nothing; kernels call it, which keeps their own code small."""
    return helper(function, _nrt=False, **OPTIONS)  # type: ignore[no-any-return]


def intrinsic(function: Callable[..., Any]) -> Any:
    """Define a function that emits LLVM code: `numba.extending.intrinsic`."""
    return numba.extending.intrinsic(function)


def entry_point(function: Function) -> Function:
    """Compile a kernel that Python calls and that allocates nothing; its machine code is cached on disk."""
    return _cached(function, _nrt=False, **ENTRY_POINT_OPTIONS)


def allocating_entry_point(function: Function) -> Function:
    """Compile a kernel that Python calls and that may allocate arrays; its machine code is cached on disk."""
    return _cached(function)


def as_helper(entry: Function) -> Function:
    """The function of an entry point, compiled as a helper of other kernels."""
    return noinline(getattr(entry, "py_func", entry))


def _cached(function: Function, **options: Any) -> Function:
    home = cache_dir(function)
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(home or "")
    try:
        compiled = njit(cache=home is not None, no_cfunc_wrapper=True, **OPTIONS, **options)(function)
    finally:
        numba.config.CACHE_DIR = before
    if home is not None and compiled is not function:  # with NUMBA_DISABLE_JIT it is the function itself
        ignore_save_errors(compiled._cache)
    return compiled  # type: ignore[no-any-return]


def ignore_save_errors(compiled_cache: Any) -> None:
    """Let a kernel run even if its machine code cannot be saved, such as on a full disk."""
    save = compiled_cache.save_overload

    def try_save(*args: Any) -> None:
        with suppress(OSError):
            save(*args)

    compiled_cache.save_overload = try_save


def cache_dir(function: Callable[..., Any]) -> Path | None:
    """The cache folder for the machine code of a kernel, None if there is no cache; removes old generations."""
    owner = re.sub(r"[^\w.]", "_", f"{function.__module__}.{function.__qualname__}")
    return generation(owner, kernel_digest(function))


@cache
def generation(owner: str, digest: str) -> Path | None:
    """The cache folder of a kernel for one version of its sources."""
    home = cache_folder("kernels", owner, digest)
    if home is not None:
        remove_old_generations(home)
        return home
    prepared = existing_folder("kernels", owner, digest)
    return None if prepared is None else private_copy(prepared)


def private_copy(prepared: Path) -> Path | None:
    """A temporary copy of a read-only cache folder, as in a container; removed at exit."""
    try:
        folder = tempfile.mkdtemp(prefix="embeddings-kernels-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        shutil.copytree(prepared, folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
        for parent, _, _ in os.walk(folder):
            os.chmod(parent, 0o700)  # copytree copies the mode of folders, which may be read-only
    except OSError:
        return None
    return Path(folder)


def remove_old_generations(home: Path) -> None:
    """Remove all but the latest generations of a kernel next to `home`."""
    with suppress(OSError):  # another process may be removing them too
        home.touch()
        others = [path for path in home.parent.iterdir() if path != home]
        for old in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[MAX_GENERATIONS - 1 :]:
            shutil.rmtree(old, ignore_errors=True)
