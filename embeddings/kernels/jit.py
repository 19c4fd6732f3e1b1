"""How kernels are compiled, and where compiled code is cached.

numba's disk cache checks only the file of the called function, so it misses edits to helpers in other files. Here the
name of the cache folder is a digest of every source file a kernel can be made of: this folder and the kernel's own.
Compiled code is never older than its source.

Code that allocates nothing is compiled without numba's reference counting (`_nrt=False`), whose atomic instructions
otherwise take a third of the training time.
"""

import hashlib
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numba.extending
from numba import njit

from embeddings.support.cache_folder import cache_folder

# All of fastmath except "no NaN, no inf": sums may be reordered, but NaN stays NaN.
FASTMATH = {"reassoc", "contract", "nsz", "arcp", "afn"}
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": FASTMATH, "error_model": "numpy"}
MAX_GENERATIONS = 64  # of compiled code kept in the cache: each folder with kernels has one, and each edit adds one

Function = TypeVar("Function", bound=Callable[..., Any])


def inline(function: Function) -> Function:
    """Compile a helper that allocates nothing; LLVM inlines it into every kernel that calls it."""
    return njit(forceinline=True, _nrt=False, **OPTIONS)(function)  # type: ignore[no-any-return]


def noinline(function: Function) -> Function:
    """Compile a rarely called helper that allocates nothing; kernels call it, which keeps their own code small."""
    return njit(_nrt=False, **OPTIONS)(function)  # type: ignore[no-any-return]


def intrinsic(function: Callable[..., Any]) -> Any:
    """Define a function that emits LLVM code: `numba.extending.intrinsic`."""
    return numba.extending.intrinsic(function)


def entry_point(function: Function) -> Function:
    """Compile a kernel that Python calls and that allocates nothing; its machine code is cached on disk."""
    return _cached(function, _nrt=False)


def allocating_entry_point(function: Function) -> Function:
    """Compile a kernel that Python calls and that may allocate arrays; its machine code is cached on disk."""
    return _cached(function)


def _cached(function: Function, **options: bool) -> Function:
    home = cache_dir(Path(function.__code__.co_filename).resolve().parent)
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(home or "")
    try:
        compiled = njit(cache=home is not None, **OPTIONS, **options)(function)
    finally:
        numba.config.CACHE_DIR = before
    if home is not None:
        ignore_save_errors(compiled._cache)
    return compiled  # type: ignore[no-any-return]


def ignore_save_errors(compiled_cache: Any) -> None:
    """Let a kernel run although its machine code cannot be saved, such as on a full disk."""
    save = compiled_cache.save_overload

    def try_save(*args: Any) -> None:
        with suppress(OSError):
            save(*args)

    compiled_cache.save_overload = try_save


@cache
def cache_dir(source_dir: Path) -> Path | None:
    """The cache folder for kernels of `source_dir`, None if there is no cache; removes old generations."""
    home = cache_folder("kernels", source_digest([Path(__file__).resolve().parent, source_dir]))
    if home is not None:
        remove_old_generations(home)
    return home


def source_digest(source_dirs: list[Path]) -> str:
    """A digest of the Python files in these folders and the numba version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted({path for source_dir in source_dirs for path in source_dir.glob("*.py")}):
        digest.update(str(path).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def remove_old_generations(home: Path) -> None:
    """Remove all but the latest generations next to `home`."""
    with suppress(OSError):  # another process may be removing them too
        home.touch()
        others = [path for path in home.parent.iterdir() if path != home]
        for old in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[MAX_GENERATIONS - 1 :]:
            shutil.rmtree(old, ignore_errors=True)
