"""Indexes named in a line: `lsh`, `lsh:bits=512,rerank=100`, `faiss:factory=IVF256,Flat,nprobe=8`, or a path."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings import registry
from embeddings.errors import SettingError
from embeddings.indexes.exact import Exact
from embeddings.indexes.index import Index, build
from embeddings.indexes.saved import load
from embeddings.settings import kinds, without_none

if TYPE_CHECKING:
    from embeddings.vectors import Vectors

SWITCH = {"true": True, "false": False}


def index_of(what: "Index | str | os.PathLike[str] | None", vectors: "Vectors") -> Index:
    """The index itself, one loaded from a path, or one built now from `KIND` or `KIND:name=value,name=value`.

    A path that exists wins over a kind. None is exact search.

    Raises:
        SettingError: it was built from other vectors, or a setting is wrong.
        RegistryError: it is no path, and no kind is called so.
        FormatError: what is saved there is broken, or no index.
    """
    if what is None:
        kind = Exact()
        return Index("exact", kind, vectors, kind.build(vectors.units), 0.0)
    if isinstance(what, Index):
        what.check(vectors)
        return what
    if isinstance(what, os.PathLike) or (what and Path(what).exists()):
        return load(what, vectors)
    name, settings = parsed(what)
    return build(name, vectors, settings)


def parsed(text: str, group: str = "index") -> tuple[str, dict[str, Any]]:
    """The kind and settings of a line; what follows a comma without a name of its own belongs to the value before.

    The kind is a plugin of that group.

    Raises:
        RegistryError: no such kind.
        SettingError: the line is not of that form.
    """
    name, _, rest = text.partition(":")
    types = kinds(registry.load(group, name))
    settings: dict[str, str] = {}
    for part in rest.split(",") if rest else []:
        key, equals, value = part.partition("=")
        if equals and key in settings:
            raise SettingError(f"{text!r} sets {key} twice")
        if equals:
            settings[key] = value
        elif settings:
            settings[next(reversed(settings))] += f",{part}"
        else:
            raise SettingError(f"{text!r} must be {name}:name=value,name=value")
    return name, {key: typed(value, types.get(key)) for key, value in settings.items()}


def typed(text: str, hint: Any) -> Any:
    """A text as a value of a field's type, where it is one; else as it is, and the field refuses it."""
    kind, optional = without_none(hint)
    if optional and text == "none":
        return None
    if kind is bool:
        return SWITCH.get(text, text)
    if kind not in (int, float):
        return text
    try:
        return kind(text)
    except ValueError:
        return text
