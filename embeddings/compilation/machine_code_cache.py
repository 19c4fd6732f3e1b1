"""The cache of machine code: a folder for each kernel and digest of its sources.

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
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

from embeddings.compilation import compile_monitor
from embeddings.compilation.checked_build import IS_CHECKED
from embeddings.support.cache_folder import cache_folder, existing_folder, foreign_access

CONSTANTS = (int, float, complex, str, bytes, bool, tuple, frozenset, type(None))
PACKAGE = __name__.partition(".")[0]


def kernel_digest(function: Callable[..., Any]) -> str:
    """A digest of all sources that a kernel can be compiled from, of the numba version, and of the build."""
    modules, constants = reachable_sources(function)
    files = {file for name in (__name__, *(module.__name__ for module in modules)) for file in source_files(name)}
    build = [numba.__version__, "checked" if IS_CHECKED else "normal"]
    parts = [*build, *sorted(map(file_digest, files)), *sorted(constants)]  # the same wherever packages are
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@cache
def file_digest(file: Path) -> str:
    """A digest of a file's content."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


@cache
def source_files(name: str) -> list[Path]:
    """The file of an imported module; all files of this folder, or of the whole package if it is another one."""
    file = Path(str(sys.modules[name].__file__)).resolve()
    top = name.partition(".")[0]
    if name == __name__:
        return list(file.parent.glob("*.py"))
    if top == PACKAGE or (package := getattr(sys.modules.get(top), "__path__", None)) is None:
        return [file]
    return [file, *(path for folder in package for path in Path(folder).resolve().rglob("*.py"))]


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


class Index(IndexDataCacheFile):  # type: ignore[misc]
    """The index of machine code in a folder; one that refers to classes which no longer exist is empty."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except (ImportError, AttributeError):
            return {}


class MachineCode(CompileResultCacheImpl):  # type: ignore[misc]
    """Converts machine code to bytes and back as numba does, without its search for a folder."""

    def __init__(self, function: FunctionType) -> None:
        self._locator = SimpleNamespace(_py_file=function.__code__.co_filename)  # for warnings
        self._lineno = function.__code__.co_firstlineno


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Keeps the machine code of a kernel in the folder `home`, whose name contains the digest of its sources.

    numba's own cache goes by the path, time and size of the source file, so that code is not found where the same
    sources are installed in another place.

    Arguments:
        implementations: of `dispatched` functions, by type of the first argument; their digests are part of the key.
    """

    def __init__(self, function: FunctionType, home: Path, implementations: Mapping[type, Callable[..., Any]]) -> None:
        self._py_func, self._impl = function, MachineCode(function)
        self.home, self.implementations = home, implementations

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(self.home)

    def index(self, signature: Iterable[Any] = ()) -> Index:
        """The index for types of arguments, in a folder of its own if other packages define some of them.

        An index refers to the classes of all types in it, so a process without one of their modules cannot read it.
        """
        modules = sorted({one.__module__ for one in tuple_classes(signature)})
        foreign = "-".join(module for module in modules if module.partition(".")[0] != PACKAGE)
        name = "{}.py{}{}{}".format(self._py_func.__name__, *sys.version_info[:2], getattr(sys, "abiflags", ""))
        return Index(str(self.home / re.sub(r"[^\w.-]", "_", foreign)[:100]), name, None)

    def _index_key(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
        known = self.implementations
        digests = [kernel_digest(known[one]) for one in tuple_classes(signature) if one in known]
        return (*super()._index_key(signature, codegen), *digests)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel for types of arguments, or None."""
        target_context.refresh()
        with self._guard_against_spurious_io_errors():
            data = self.index(sig).load(self._index_key(sig, target_context.codegen()))
            return None if data is None else self._impl.rebuild(target_context, data)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled kernel, if numba can and the disk is not full."""
        if self._impl.check_cachable(data):
            with suppress(OSError):
                index = self.index(sig)
                os.makedirs(index._cache_path, exist_ok=True)
                index.save(self._index_key(sig, data.codegen), self._impl.reduce(data))


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
