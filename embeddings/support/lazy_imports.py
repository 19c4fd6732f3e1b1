"""Package attributes that are imported on first use."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from embeddings.setting_names import THEIR_CLASSES


def lazy_getattr(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package (PEP 562); `modules` maps each name to the module that defines it."""

    def getattribute(name: str) -> Any:
        if name in modules:
            return getattr(import_module(modules[name]), name)
        advice = f": use {THEIR_CLASSES[name]}" if name in THEIR_CLASSES else ""
        raise AttributeError(f"module {package!r} has no attribute {name!r}{advice}")

    return getattribute
