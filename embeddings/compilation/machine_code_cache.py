"""The cache of machine code: a folder for each kernel and digest of its sources, which numba reads and writes.

numba's own cache checks only the file of the function that is called. A kernel also depends on the helpers, classes
and constants that its code names, in any file or package, and on those that these name in turn. The digest covers the
files of all of them, this folder, and all modules of any other package that they are in, so that machine code is never
older than its source.
"""

import atexit
import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba import types

from embeddings.compilation import compile_monitor
from embeddings.compilation.checked_build import IS_CHECKED
from embeddings.support.cache_folder import cache_folder, existing_folder, foreign_access

CONSTANTS = (int, float, complex, str, bytes, bool, tuple, frozenset, type(None))
PACKAGE = __name__.partition(".")[0]


def kernel_digest(function: Callable[..., Any]) -> str:
    """A digest of all sources that a kernel can be compiled from, of the numba version, and of the build."""
    modules, constants = reachable_sources(function)
    files = {Path(str(module.__file__)).resolve(): module.__name__.partition(".")[0] for module in modules}
    folders = {folder for file, package in files.items() if package != PACKAGE and (folder := package_folder(file))}
    digests = [*map(package_digest, {Path(__file__).parent, *folders}), *map(file_digest, files)]
    build = [numba.__version__, "checked" if IS_CHECKED else "normal"]
    parts = [*build, *sorted(digests), *sorted(constants)]  # independent of where packages are installed
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@cache
def file_digest(file: Path) -> str:
    """A digest of a file's content."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


@cache
def package_digest(folder: Path) -> str:
    """A digest of the names and contents of all Python files below a folder, links followed."""
    digest = hashlib.sha256()
    for parent, folders, files in os.walk(folder, followlinks=True):
        folders.sort()
        for name in sorted(file for file in files if file.endswith(".py")):
            path = Path(parent, name)
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def package_folder(file: Path) -> Path | None:
    """The folder of the top-level package that a file belongs to; None for a single module."""
    folder = file.parent
    if not (folder / "__init__.py").exists():
        return None
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


def reachable_sources(function: Callable[..., Any]) -> tuple[set[ModuleType], set[str]]:
    """The modules of all functions and classes that a function's code names, directly or not, and the constants."""
    modules: set[ModuleType] = set()
    constants: set[str] = set()
    seen: set[int] = set()
    stack: list[Any] = [function]
    while stack:
        item = stack.pop()
        item = getattr(item, "py_func", None) or getattr(item, "_defn", None) or item  # of a jitted one, an intrinsic
        if id(item) in seen:
            continue
        seen.add(id(item))
        module = sys.modules.get(getattr(item, "__module__", None) or "")
        if module is not None and getattr(module, "__file__", None):
            modules.add(module)
        if isinstance(item, type):
            methods = (value for value in vars(item).values() if isinstance(value, FunctionType))
            stack.extend(method for method in methods if not is_library(method))  # as those of a NamedTuple
        elif isinstance(item, FunctionType):
            for name, value in named_values(item):
                if isinstance(value, np.generic | np.ndarray):  # some are instances of Python's types too
                    content = hashlib.sha256(value.tobytes()).hexdigest()
                    constants.add(f"{name}={value.dtype} {value.shape} {content}")
                elif isinstance(value, CONSTANTS):
                    constants.add(f"{name}={value!r}")
                elif not is_library(value):
                    stack.append(value)
    return modules, constants


def is_library(value: Any) -> bool:
    """Whether a value comes from Python itself, numpy or numba, whose versions are checked elsewhere."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) or ""
    top = name.partition(".")[0]
    return top in sys.stdlib_module_names or top in {"numpy", "numba", "llvmlite"}


def named_values(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The globals, closure variables and attributes of modules that a function's code names, by name."""
    names = set(code_names(function.__code__))
    scope = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            scope[name] = cell.cell_contents
        except ValueError:  # an empty cell
            continue
    for name, value in scope.items():
        if isinstance(value, ModuleType):
            yield from ((other, vars(value)[other]) for other in names & vars(value).keys())
        else:
            yield name, value


def code_names(code: CodeType) -> Iterator[str]:
    """All names that code and the functions inside it use."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from code_names(constant)


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
