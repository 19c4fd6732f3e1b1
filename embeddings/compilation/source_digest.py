"""A digest of the sources of a kernel, which names the folder of its machine code.

numba's own cache checks only the file of the function that is called. A kernel also depends on the helpers, classes
and constants that its code names, in any file or package, and on those that these name in turn. The digest covers the
files of all of them, this folder, and all modules of any other package that they are in, so that machine code is never
older than its source.
"""

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np

from embeddings.compilation.checked_build import IS_CHECKED

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
