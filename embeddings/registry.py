"""Plugins that installed packages provide as entry points; those of this package are found the same way."""

import dataclasses
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import lru_cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any

from embeddings.errors import RegistryError, check_names
from embeddings.setting_names import THEIR_TRAINERS

GROUPS = {
    "trainer": "embeddings.trainers",
    "classifier": "embeddings.classifiers",
    "tokenizer": "embeddings.tokenizers",
    "format": "embeddings.formats",
    "index": "embeddings.indexes",
    "device": "embeddings.devices",
}


def find_all(kind: str) -> dict[str, list[EntryPoint]]:
    """The entry points of all plugins of a kind, by name, sorted; nothing is imported."""
    plugins: dict[str, list[EntryPoint]] = {}
    for entry in sorted(group_entries(GROUPS[kind], path_state()), key=lambda entry: entry.name):
        same_name = plugins.setdefault(entry.name, [])
        # distribution names are slow to read, so they are compared only for duplicate names
        if not any(
            entry.value == other.value and distribution_name(entry) == distribution_name(other) for other in same_name
        ):
            same_name.append(entry)
    return plugins


@lru_cache(maxsize=len(GROUPS))
def group_entries(group: str, state: tuple[Any, ...]) -> EntryPoints:
    """The entry points of a group, read from the metadata of all packages, slowly: once for each `state`."""
    return entry_points(group=group)


def path_state() -> tuple[Any, ...]:
    """The folders of `sys.path` with inodes and times, which change when a package is installed or removed."""
    state: list[Any] = []
    for path in sys.path:
        state.append(path)
        with suppress(OSError, ValueError):  # a missing folder, or a null character
            status = os.stat(path or ".")
            state += status.st_ino, status.st_mtime_ns
    return tuple(state)


def distribution_name(entry: EntryPoint) -> str:
    """The name of the package that provides an entry point."""
    return entry.dist.name if entry.dist else "an unnamed package"


def package_of(kind: str, name: str) -> dict[str, str]:
    """The version of the package that provides a plugin, by its name; empty if it is not installed."""
    packages = [entry.dist for entry in find_all(kind).get(name, []) if entry.dist]
    return {packages[0].name: packages[0].version} if packages else {}


def load(kind: str, name: str) -> Any:
    """Import a plugin."""
    plugins = find_all(kind)
    if not isinstance(name, str) or name not in plugins:
        advice = "" if plugins else "; to use a checkout, install it first: pip install -e ."
        similar = THEIR_TRAINERS.get(str(name).lower()) or "".join(get_close_matches(str(name), plugins, 1))
        similar = f"; use {similar}" if similar else ""
        raise RegistryError(f"no {kind} is called {name!r}{similar}; installed: {', '.join(plugins) or 'none'}{advice}")
    return import_plugin(kind, name, plugins[name])


def load_all(kind: str) -> Iterator[tuple[str, Any]]:
    """All plugins of a kind that can be imported, by name; `load` explains why another cannot."""
    for name, entries in find_all(kind).items():
        try:
            yield name, import_plugin(kind, name, entries)
        except RegistryError:
            continue


def import_plugin(kind: str, name: str, entries: list[EntryPoint]) -> Any:
    """Import the plugin of a name, which only one package may provide."""
    if len(entries) > 1:
        packages = " and ".join(sorted(map(distribution_name, entries)))
        raise RegistryError(f"{kind} {name!r} is provided by {packages}; uninstall one of them")
    try:
        return entries[0].load()
    except Exception as error:  # the import of another package may raise anything
        raise RegistryError(f"cannot load {kind} {name!r} from {distribution_name(entries[0])}: {error}") from error


def create(kind: str, name: str, settings: Mapping[str, Any]) -> Any:
    """Create a plugin, a dataclass whose fields are its settings."""
    plugin = load(kind, name)
    check_names(name, sorted(field.name for field in dataclasses.fields(plugin)), settings)
    return plugin(**settings)
