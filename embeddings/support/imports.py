"""Imports on first use, and of libraries that may not be installed."""

import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from opcode import opmap
from types import FrameType
from typing import Any

from embeddings.errors import EmbeddingsError
from embeddings.setting_names import expression_advice


def lazy_getattr(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package (PEP 562); `modules` maps each name to the module that defines it."""

    def getattribute(name: str) -> Any:
        if name in modules:
            return getattr(import_library(modules[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}{expression_advice(name)}")

    return getattribute


def is_import(frame: FrameType) -> bool:
    """Whether a frame runs `from package import name`, which hides the message of an AttributeError."""
    return frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]


def lazy_package(
    package: str, names: Mapping[str, str]
) -> tuple[dict[str, str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return the module of each public name of a package, and its `__getattr__` and `__dir__`.

    Arguments:
        names: the names that each module defines, separated by spaces; modules without the prefix "embeddings.".
    """
    modules = {name: f"embeddings.{module}" for module, listed in names.items() for name in listed.split()}
    return modules, lazy_getattr(package, modules), lambda: sorted(modules)


LIBRARIES = {  # of the standard installation, imported where a feature uses them; the package of each
    "faiss": "faiss-cpu",
    "jinja2": "jinja2",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
    "threadpoolctl": "threadpoolctl",
}


class LazyModule:
    """A module, by its full name, that is imported on the first use of a name, and submodules likewise."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        module = import_library(self._name)
        with suppress(ModuleNotFoundError):
            value = getattr(module, name) if hasattr(module, name) else import_module(f"{self._name}.{name}")
            setattr(self, name, value)
            return value
        raise AttributeError(f"module {self._name!r} has no attribute {name!r}")


pa: Any = LazyModule("pyarrow")  # imported on first use
pc: Any = LazyModule("pyarrow.compute")
INSTALL_GENSIM = "pip install gensim (wheels for Python 3.11 to 3.13 only)"


def import_extra(module: str, extra: str | None, purpose: str, remedy: str | None = None) -> Any:
    """Import a library, without warnings; raises EmbeddingsError if it is not installed.

    The error is about a purpose, such as "the tokenizer jieba", and names the extra that installs it, or `remedy`.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module(module)
    except ModuleNotFoundError:
        library = module.partition(".")[0]
        remedy = remedy or f"pip install 'embeddings-toolkit[{extra}]'"
        raise EmbeddingsError(f"{purpose} requires {library}, which is not installed: {remedy}") from None


def import_library(module: str) -> Any:
    """Import a library, or one of our modules that requires one, which a small installation can do without.

    Raises EmbeddingsError, which says what to install, if a library of `LIBRARIES` is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in LIBRARIES:
            raise
        raise EmbeddingsError(
            f"this feature requires {library}, which is not installed: pip install {LIBRARIES[library]}"
        ) from None
