"""The cache of machine code: a folder for each kernel and digest of its sources, which numba reads and writes."""

import atexit
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import types

from embeddings.compilation import compile_monitor
from embeddings.compilation.source_digest import PACKAGE, kernel_digest
from embeddings.support.cache_folder import cache_folder, existing_folder, foreign_access

MAX_GENERATIONS = 32  # versions of a kernel kept in the cache; each edit and each checkout can add one
MAX_UNUSED_DAYS = 14  # of a version of a kernel in the cache


def adapt_cache(compiled_cache: Any, home: str, implementations: Mapping[type, Callable[..., Any]]) -> None:
    """Let numba keep the machine code of a kernel in the folder `home`, checked by the digests of its sources.

    Arguments:
        implementations: of `dispatched` functions, by type of the first argument.
    """
    ignore_save_errors(compiled_cache)
    add_implementations_to_key(compiled_cache, implementations)
    make_portable(compiled_cache, home)
    separate_foreign_types(compiled_cache, home)


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


def cached_versions(compiled: Any) -> dict[Any, Path]:
    """The files of machine code in the cache that an entry point can use on this machine, by signature."""
    index_file, folder = (getattr(compiled._cache, name, None) for name in ("_cache_file", "cache_path"))
    if index_file is None or folder is None:  # in another version of numba
        return {}
    codegen, index_key = compiled.targetctx.codegen(), compiled._cache._index_key
    index = index_file._load_index()
    return {key[0]: Path(folder, file) for key, file in index.items() if key == index_key(key[0], codegen)}


def ignore_save_errors(compiled_cache: Any) -> None:
    """Let a kernel run even if its machine code cannot be saved, such as on a full disk."""
    save = compiled_cache.save_overload

    def try_save(*args: Any) -> None:
        with suppress(OSError):
            save(*args)

    compiled_cache.save_overload = try_save


def add_implementations_to_key(compiled_cache: Any, implementations: Mapping[type, Callable[..., Any]]) -> None:
    """Let machine code be found only if the implementations for the types of its arguments are unchanged."""
    index_key = compiled_cache._index_key

    def extended_key(signature: Any, codegen: Any) -> tuple[Any, ...]:
        digests = [kernel_digest(implementations[one]) for one in tuple_classes(signature) if one in implementations]
        return (*index_key(signature, codegen), *digests)

    compiled_cache._index_key = extended_key


def tuple_classes(kinds: Iterable[Any]) -> Iterator[type]:
    """The classes of all NamedTuple types among numba types, nested ones included."""
    for kind in kinds:
        if isinstance(kind, types.BaseNamedTuple):
            yield kind.instance_class
            yield from tuple_classes(kind.types if isinstance(kind, types.NamedTuple) else [kind.dtype])


def cache_dir(function: Callable[..., Any]) -> Path | None:
    """The cache folder for the machine code of a kernel, None without a cache; a new one replaces outdated ones."""
    owner = re.sub(r"[^\w.]", "_", f"{function.__module__}.{function.__qualname__}")
    return prepare_cache_folder(owner, kernel_digest(function))


@cache
def prepare_cache_folder(owner: str, digest: str) -> Path | None:
    """The cache folder of a kernel for one version of its sources; a temporary one if others can write to it."""
    parts = ("kernels", owner, digest)
    is_new = existing_folder(*parts) is None
    home, prepared = cache_folder(*parts), existing_folder(*parts)
    if prepared is None:
        return None
    if access := foreign_access(prepared):  # numba's files are pickles, which can contain any code
        compile_monitor.monitor.cache_problem = access
        return None if (root := private_root()) is None else root / owner
    if home is None:
        return private_copy(prepared, owner)
    with suppress(OSError):
        home.touch()  # the time of the last use
    if is_new:
        remove_old_generations(home)
    return home


def private_copy(prepared: Path, owner: str) -> Path | None:
    """A temporary copy of a read-only cache folder, as in a container."""
    root = private_root()
    if root is None:
        return None
    folder = root / owner
    try:
        shutil.copytree(prepared, folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
        for parent, _, _ in os.walk(folder):
            os.chmod(parent, 0o700)  # copytree copies the mode of folders, which may be read-only
    except OSError:
        return None
    return folder


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
