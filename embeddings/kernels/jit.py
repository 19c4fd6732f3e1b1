"""The one place that decides how kernels are compiled and where the compiled code is kept.

numba's disk cache looks only at the file of the function that is called, so a change in a piece that it calls
from another file would go unseen. Here the cache folder is named by a digest of every file a kernel may be made
of: this folder, and the folder of the kernel itself. Compiled code can never be older than its source.

Pieces and hot kernels allocate nothing. That lets numba leave out the counting of references to arrays, whose
atomic instructions otherwise take a third of a trainer's time.
"""

import hashlib
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import njit
from numba.extending import intrinsic

from embeddings.support.cache_folder import folder

# All of fastmath but "no NaN, no inf": sums may be reordered, a NaN stays a NaN.
REORDER = {"reassoc", "contract", "nsz", "arcp", "afn"}
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": REORDER, "error_model": "numpy"}
KEPT = 8  # generations of compiled code left in the cache

Function = TypeVar("Function", bound=Callable[..., Any])


def piece(function: Function) -> Function:
    """Compile a part of a kernel that allocates nothing: LLVM puts it into every kernel that calls it."""
    return njit(forceinline=True, _nrt=False, **OPTIONS)(function)  # type: ignore[no-any-return]


def aside(function: Function) -> Function:
    """Compile a part that is rarely run and allocates nothing: kernels call it, so their own code stays small."""
    return njit(_nrt=False, **OPTIONS)(function)  # type: ignore[no-any-return]


def instruction(function: Callable[..., Any]) -> Any:
    """Make a function that emits its own machine code, as numba's `intrinsic` does."""
    return intrinsic(function)


def kernel(function: Function) -> Function:
    """Compile an entry point from Python; the machine code is kept on disk where a cache folder can be written."""
    return _kept(function)


def hot(function: Function) -> Function:
    """Compile an entry point as `kernel` does, for code that allocates nothing and must lose no time."""
    return _kept(function, _nrt=False)


def _kept(function: Function, **more: bool) -> Function:
    home = generation(Path(function.__code__.co_filename).resolve().parent)
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(home or "")
    try:
        compiled = njit(cache=home is not None, **OPTIONS, **more)(function)
    finally:
        numba.config.CACHE_DIR = before
    if home is not None:
        forgive(compiled._cache)
    return compiled  # type: ignore[no-any-return]


def forgive(kept: Any) -> None:
    """Let a kernel run that cannot be kept: the disk of the cache may be full."""
    save = kept.save_overload

    def tried(*args: Any) -> None:
        with suppress(OSError):
            save(*args)

    kept.save_overload = tried


@cache
def generation(room: Path) -> Path | None:
    """The cache folder for kernels whose file stands in `room`; older generations are swept away."""
    name = digest([Path(__file__).resolve().parent, room])
    home = folder("kernels", name)
    if home is not None:
        sweep(home)
    return home


def digest(rooms: list[Path]) -> str:
    """A name for the sources in these folders and the compiler: any edit gives another."""
    whole = hashlib.sha256(numba.__version__.encode())
    for path in sorted({path for room in rooms for path in room.glob("*.py")}):
        whole.update(str(path).encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()[:16]


def sweep(home: Path) -> None:
    """Remove all but the latest generations beside `home`."""
    with suppress(OSError):  # another process may be sweeping too
        home.touch()
        others = [path for path in home.parent.iterdir() if path != home]
        for old in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT - 1 :]:
            shutil.rmtree(old, ignore_errors=True)
