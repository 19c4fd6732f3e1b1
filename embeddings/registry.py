"""Find what installed packages offer under an entry-point group; ours come through the same door."""

import dataclasses
import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from embeddings.errors import RegistryError, SettingError

KINDS = {
    "trainer": "embeddings.trainers",
    "tokenizer": "embeddings.tokenizers",
    "format": "embeddings.formats",
    "index": "embeddings.indexes",
}


def available(kind: str) -> dict[str, list[EntryPoint]]:
    """Every advertised plugin of a kind by name, sorted. Nothing is imported."""
    found: dict[str, list[EntryPoint]] = {}
    for entry in sorted(entry_points(group=KINDS[kind]), key=lambda entry: entry.name):
        offers = found.setdefault(entry.name, [])
        if not any(entry.value == other.value and package(entry) == package(other) for other in offers):
            offers.append(entry)  # to ask for the package reads all its metadata: only where a name stands twice
    return found


def package(entry: EntryPoint) -> str:
    """The name of the distribution that offers it."""
    return entry.dist.name if entry.dist else "an unnamed package"


def load(kind: str, name: str) -> Any:
    """Import one plugin.

    Raises:
        RegistryError: nobody offers the name, several packages do, or its import fails.
    """
    found = available(kind)
    offers = found.get(name, [])
    if not offers:
        hint = "" if found else "; from a checkout, install first: pip install -e ."
        raise RegistryError(f"no {kind} called {name!r}; installed: {', '.join(found) or 'none'}{hint}")
    return only(kind, name, offers)


def loaded(kind: str) -> Iterator[tuple[str, Any]]:
    """Every plugin of a kind that loads, by name; one that does not is told of when it is asked for."""
    for name, offers in available(kind).items():
        try:
            yield name, only(kind, name, offers)
        except RegistryError:
            continue


def only(kind: str, name: str, offers: list[EntryPoint]) -> Any:
    """Import the one offer of a name.

    Raises:
        RegistryError: there are several, or its import fails.
    """
    if len(offers) > 1:
        packages = " and ".join(sorted(package(offer) for offer in offers))
        raise RegistryError(f"{kind} {name!r} is offered by {packages}; uninstall one")
    try:
        return offers[0].load()
    except Exception as error:  # whatever a stranger's import raises is told in one line
        raise RegistryError(f"{kind} {name!r} from {package(offers[0])} does not load: {error}") from error


def configured(kind: str, name: str, settings: Mapping[str, Any]) -> Any:
    """A plugin whose fields are its settings, with these ones.

    Raises:
        RegistryError: as `load`.
        SettingError: it has no such setting, or a value is out of range.
    """
    plugin = load(kind, name)
    check_settings(name, [field.name for field in dataclasses.fields(plugin)], settings)
    return plugin(**settings)


def check_settings(name: str, known: Sequence[str], settings: Iterable[str]) -> None:
    """Refuse settings that a plugin of this name does not have.

    Raises:
        SettingError: naming the first, with the nearest spelling and those there are.
    """
    for setting in settings:
        if setting not in known:
            close = difflib.get_close_matches(setting, known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise SettingError(f"{name} has no setting {setting!r}{hint}; it has: {', '.join(sorted(known)) or 'none'}")
