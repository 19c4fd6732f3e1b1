"""Indexes named in a line: `lsh`, `lsh:bits=512,rerank=100`, `faiss:factory=IVF256,Flat,nprobe=8`, or a path.

A path may be followed by settings of the search, which need no building: `vectors.lsh:rerank=500`.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings import registry
from embeddings.errors import SettingError
from embeddings.indexes.index import Index, build
from embeddings.indexes.index_files import RECORD, load, read_record
from embeddings.settings import kinds, without_none

if TYPE_CHECKING:
    from embeddings.vectors.vectors import Vectors

SWITCH = {"true": True, "false": False}


def index_of(what: "Index | str | os.PathLike[str] | None", vectors: "Vectors") -> Index:
    """The index itself, one loaded from a path, or one built now from `KIND` or `KIND:name=value,name=value`.

    A path that exists wins over a kind, and may be followed by settings of the search. None is exact search.

    Raises:
        SettingError: it was built from other vectors, or a setting is wrong, or needs building.
        RegistryError: it is no path, and no kind is called so.
        FormatError: what is saved there is broken, or no index.
    """
    if what is None:
        from embeddings.indexes.exact import Exact

        kind = Exact()
        return Index("exact", kind, vectors, kind.build(vectors.units), 0.0)
    if isinstance(what, Index):
        what.check(vectors)
        return what
    path, rest = saved_part(what)
    if path is None:
        name, settings = parsed(str(what))
        return build(name, vectors, settings)
    index = load(path, vectors)
    if not rest:
        return index
    name, settings = parsed(f"{index.name}:{rest}", shown=str(what))
    found = index.with_search(name, {**index.settings, **settings})
    if found is None:
        raise SettingError(f"{what}: {', '.join(settings)} would need a new index; {searching(index)}")
    return found


def saved_part(what: "str | os.PathLike[str]") -> tuple[Path | None, str]:
    """The path that a line begins with, if there is an index or anything of that whole name, and what follows it."""
    if isinstance(what, os.PathLike) or (what and Path(what).exists()):
        return Path(what), ""
    path, colon, rest = what.rpartition(":")
    return (Path(path), rest) if colon and (Path(path) / RECORD).is_file() else (None, what)


def searching(index: Index) -> str:
    """What may be set of an index that there is."""
    names = sorted(getattr(index.kind, "SEARCH", ()))
    return f"of what is built only {', '.join(names)} can be set" if names else "of what is built nothing can be set"


def check_line(text: str) -> None:
    """Refuse what names no index, before there is work on any.

    Raises:
        SettingError, RegistryError, FormatError: as `index_of`, as far as can be told without the vectors.
    """
    path, rest = saved_part(text)
    if path is None:
        registry.configured("index", *parsed(text))
    else:
        record = read_record(path)
        name, settings = parsed(f"{record['kind']}:{rest}" if rest else record["kind"], shown=text)
        registry.configured("index", name, record["settings"] | settings)


def parsed(text: str, shown: str | None = None, group: str = "index") -> tuple[str, dict[str, Any]]:
    """The kind and settings of a line; what follows a comma without a name of its own belongs to the value before.

    Arguments:
        shown: what errors call the line, if not by itself.
        group: the kind is a plugin of that group.

    Raises:
        RegistryError: no such kind.
        SettingError: the line is not of that form.
    """
    name, _, rest = text.partition(":")
    shown = shown or text
    types = kinds(registry.load(group, name))
    settings: dict[str, str] = {}
    for part in rest.split(",") if rest else []:
        key, equals, value = part.partition("=")
        if equals and key in settings:
            raise SettingError(f"{shown!r} sets {key} twice")
        if equals:
            settings[key] = value
        elif settings:
            settings[next(reversed(settings))] += f",{part}"
        else:
            raise SettingError(f"{shown!r} must be {shown.partition(':')[0]}:name=value,name=value")
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
