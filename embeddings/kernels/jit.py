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
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar

import numba
import numba.extending
from numba import njit

from embeddings.kernels import compile_monitor
from embeddings.kernels.checked_build import CHECKED_OPTIONS, check_calls
from embeddings.kernels.linked_functions import ENTRY_POINT_OPTIONS, HELPER_OPTIONS, helper
from embeddings.kernels.source_digest import kernel_digest
from embeddings.support.cache_folder import cache_folder, existing_folder, foreign_access

# All of fastmath except "no NaN, no inf": sums may be reordered, but NaN stays NaN.
FASTMATH = {"reassoc", "contract", "nsz", "arcp", "afn"}
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": FASTMATH, "error_model": "numpy", **CHECKED_OPTIONS}
IMPLEMENTATIONS: dict[type, Callable[..., Any]] = {}  # of `dispatched` functions, by type of the first argument
PACKAGE = __name__.partition(".")[0]
ENTRY_POINTS: list[Any] = []  # all entry points of this process
MAX_GENERATIONS = 32  # versions of a kernel kept in the cache; each edit and each checkout can add one
MAX_UNUSED_DAYS = 14  # of a version of a kernel in the cache

Function = TypeVar("Function", bound=Callable[..., Any])


INLINE_OPTIONS: dict[str, Any] = {"forceinline": True, "_nrt": False, **OPTIONS}


def inline(function: Function) -> Function:
    """Compile a helper that allocates nothing; LLVM inlines it into every kernel that calls it."""
    return helper(function, **INLINE_OPTIONS)  # type: ignore[no-any-return]


def implements(operand: type) -> Callable[[Function], Function]:
    """Register an inline helper as the implementation that `dispatched` functions select for a type of NamedTuple."""

    def register(function: Function) -> Function:
        IMPLEMENTATIONS[operand] = function
        return function

    return register


def dispatched(function: Function) -> Function:
    """Define a helper whose implementation, compiled into its callers, depends on the type of its first argument."""

    @wraps(function)
    def call(operand: Any, *args: Any) -> Any:
        return IMPLEMENTATIONS[type(operand)](operand, *args)

    def select(operand: Any, *args: Any) -> Callable[..., Any] | None:
        implementation = IMPLEMENTATIONS.get(getattr(operand, "instance_class", type(None)))
        return getattr(implementation, "py_func", None)

    numba.extending.overload(call, jit_options=INLINE_OPTIONS | HELPER_OPTIONS, strict=False)(select)
    return call  # type: ignore[return-value]


def wrapper(function: Function) -> Function:
    """Define a helper that only calls others: numba inserts its source, so that it is not compiled by itself."""
    return helper(function, inline="always", **INLINE_OPTIONS)  # type: ignore[no-any-return]


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
    check_calls(compiled)
    if compiled is not function:  # with NUMBA_DISABLE_JIT it is the function itself
        ENTRY_POINTS.append(compiled)
    if home is not None and compiled is not function:
        ignore_save_errors(compiled._cache)
        check_implementations(compiled._cache)
        make_portable(compiled._cache, str(home))
        separate_foreign_types(compiled._cache, str(home))
    return compiled  # type: ignore[no-any-return]


def make_portable(compiled_cache: Any, home: str) -> None:
    """Let machine code be found wherever the sources are installed: the name of `home` contains their digest.

    numba stores it by the path of the source file, and checks the time and size of that file.
    """
    file: Any = getattr(compiled_cache, "_cache_file", None)
    locator: Any = getattr(getattr(compiled_cache, "_impl", None), "locator", None)
    if not (hasattr(file, "_index_name") and hasattr(locator, "_cache_path")):  # in another version of numba
        return
    file._source_stamp = None
    use_folder(compiled_cache, home)


def use_folder(compiled_cache: Any, folder: str) -> None:
    """Read and write machine code in this folder."""
    file = compiled_cache._cache_file
    file._index_path = os.path.join(folder, file._index_name)
    file._cache_path = compiled_cache._impl.locator._cache_path = compiled_cache._cache_path = folder


def separate_foreign_types(compiled_cache: Any, home: str) -> None:
    """Keep machine code for types that other packages define in folders of their own, named after their modules.

    An index refers to the classes of all types in it, so a process without one of these modules cannot read it. An
    index whose classes no longer exist is treated as empty.
    """
    file: Any = getattr(compiled_cache, "_cache_file", None)
    if getattr(file, "_cache_path", None) != home:  # in another version of numba
        return
    load_index = file._load_index

    def try_load_index() -> Any:
        try:
            return load_index()
        except (ImportError, AttributeError):
            return {}

    def in_folder(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(signature: Any, *args: Any) -> Any:
            modules = sorted({one.__module__ for one in tuple_classes(signature)})
            foreign = "-".join(module for module in modules if module.partition(".")[0] != PACKAGE)
            use_folder(compiled_cache, os.path.join(home, re.sub(r"[^\w.-]", "_", foreign)[:100]) if foreign else home)
            try:
                return method(signature, *args)
            finally:
                use_folder(compiled_cache, home)

        return call

    file._load_index = try_load_index
    compiled_cache.load_overload = in_folder(compiled_cache.load_overload)
    compiled_cache.save_overload = in_folder(compiled_cache.save_overload)


def cached_versions(compiled: Any) -> dict[Any, str]:
    """The machine code in the cache that an entry point can use on this machine: signatures, and names of files."""
    code = getattr(compiled._cache, "_cache_file", None)
    if code is None:
        return {}
    machine = compiled.targetctx.codegen().magic_tuple()
    return {key[0]: file for key, file in code._load_index().items() if key[1] == machine}


def ignore_save_errors(compiled_cache: Any) -> None:
    """Let a kernel run even if its machine code cannot be saved, such as on a full disk."""
    save = compiled_cache.save_overload

    def try_save(*args: Any) -> None:
        with suppress(OSError):
            save(*args)

    compiled_cache.save_overload = try_save


def check_implementations(compiled_cache: Any) -> None:
    """Let machine code be found only if the implementations for the types of its arguments are unchanged."""
    index_key = compiled_cache._index_key

    def extended_key(signature: Any, codegen: Any) -> tuple[Any, ...]:
        digests = [kernel_digest(IMPLEMENTATIONS[one]) for one in tuple_classes(signature) if one in IMPLEMENTATIONS]
        return (*index_key(signature, codegen), *digests)

    compiled_cache._index_key = extended_key


def tuple_classes(kinds: Iterable[Any]) -> Iterator[type]:
    """The NamedTuple classes among numba types, in them included."""
    for kind in kinds:
        if isinstance(kind, numba.types.BaseNamedTuple):
            yield kind.instance_class
            yield from tuple_classes(kind.types if isinstance(kind, numba.types.NamedTuple) else [kind.dtype])


def cache_dir(function: Callable[..., Any]) -> Path | None:
    """The cache folder for the machine code of a kernel, None if there is no cache; a new one replaces old ones."""
    owner = re.sub(r"[^\w.]", "_", f"{function.__module__}.{function.__qualname__}")
    return generation(owner, kernel_digest(function))


@cache
def generation(owner: str, digest: str) -> Path | None:
    """The cache folder of a kernel for one version of its sources; a temporary one if others can write to it."""
    parts = ("kernels", owner, digest)
    is_new = existing_folder(*parts) is None
    home, prepared = cache_folder(*parts), existing_folder(*parts)
    if prepared is None:
        return None
    if access := foreign_access(prepared):  # numba's files are pickles, which can contain any code
        compile_monitor.monitor.cache_problem = access
        return private_folder(owner)
    if home is None:
        return private_copy(prepared, owner)
    with suppress(OSError):
        home.touch()  # the time of the last use
    if is_new:
        remove_old_generations(home)
    return home


def private_copy(prepared: Path, owner: str) -> Path | None:
    """A temporary copy of a read-only cache folder, as in a container."""
    folder = private_folder(owner)
    try:
        if folder is not None:
            shutil.copytree(prepared, folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
            for parent, _, _ in os.walk(folder):
                os.chmod(parent, 0o700)  # copytree copies the mode of folders, which may be read-only
    except OSError:
        return None
    return folder


def private_folder(owner: str) -> Path | None:
    """A temporary cache folder for a kernel, which numba creates; None if that is not possible."""
    parent = private_root()
    return None if parent is None else parent / owner


@cache
def private_root() -> Path | None:
    """The temporary folder of all kernels of this process, which is removed at exit; None if it cannot be created."""
    try:
        folder = tempfile.mkdtemp(prefix="embeddings-kernels-")
    except OSError:
        return None
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def remove_old_generations(home: Path) -> None:
    """Remove the generations of a kernel next to `home` that are unused for long, and the oldest of too many."""
    with suppress(OSError):  # another process may be removing them too
        oldest = time.time() - MAX_UNUSED_DAYS * 86400
        others = sorted(((path.stat().st_mtime, path) for path in home.parent.iterdir() if path != home), reverse=True)
        for number, (last_used, path) in enumerate(others, 2):
            if number > MAX_GENERATIONS or last_used < oldest:
                shutil.rmtree(path, ignore_errors=True)
