"""Indexes specified by a string: `lsh`, `lsh:bits=512,rerank=100`, `faiss:factory=IVF256,Flat,nprobe=8`, or a path.

Search settings, which need no rebuild, may follow a path: `vectors.lsh:rerank=500`.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings import registry
from embeddings.errors import SettingError
from embeddings.indexes.index import (
    INDEX_FOLDER,
    RECORD,
    Index,
    build,
    check_consent,
    load_index,
    saved_kind,
    search_settings,
)
from embeddings.settings import field_types, split_optional

if TYPE_CHECKING:
    from embeddings.vectors.vectors import Vectors

BOOLEANS = {"true": True, "false": False}


def as_index(spec: "Index | str | os.PathLike[str] | None", vectors: "Vectors", *, allow_faiss: bool = False) -> Index:
    """The index itself, one loaded from a path, or one built now from `KIND` or `KIND:name=value,name=value`.

    An existing path takes precedence over a kind. None is exact search. `allow_faiss` is that of `load_index`.
    """
    if spec is None:
        from embeddings.indexes.exact import Exact  # imports numba; the registry would take milliseconds

        exact = Exact()
        return Index("exact", exact, vectors, exact.build(vectors.unit_rows), 0.0)
    if isinstance(spec, Index):
        spec.check_vectors(vectors)
        return spec
    path, rest = split_path(spec)
    if path is None:
        kind, settings = parse_spec(str(spec))
        return build(vectors, kind, settings)
    index = load_index(path, vectors, allow_faiss=allow_faiss)
    if not rest:
        return index
    kind, settings = parse_spec(f"{index.name}:{rest}", label=str(spec))
    variant = index.with_search(kind, {**index.settings, **settings})
    if variant is None:
        names = ", ".join(sorted(search_settings(index.kind))) or "none"
        raise SettingError(f"{spec}: changing {', '.join(settings)} requires a new index; search settings: {names}")
    return variant


def split_path(spec: "str | os.PathLike[str]") -> tuple[Path | None, str]:
    """The path that a spec names, None if it names a kind, and the rest of the spec."""
    if isinstance(spec, os.PathLike) or (spec and Path(spec).exists()):
        return Path(spec), ""
    path, colon, rest = spec.rpartition(":")
    return (Path(path), rest) if colon and (Path(path) / RECORD).is_file() else (None, spec)


def check_spec(spec: str, *, allow_faiss: bool = False) -> None:
    """Refuse a spec that cannot name an index, before any vectors are loaded."""
    path, rest = split_path(spec)
    if path is None:
        registry.create("index", *parse_spec(spec))
    else:
        record = INDEX_FOLDER.read(path)
        check_consent(path, record, allow_faiss)
        _, settings = parse_spec(f"{record['kind']}:{rest}" if rest else record["kind"], label=spec)
        saved_kind(path, record, settings)


def parse_spec(text: str, label: str | None = None, group: str = "index") -> tuple[str, dict[str, Any]]:
    """The kind and settings of a spec, which errors quote as `label`.

    Text after a comma without `=` continues the previous value, as in `faiss:factory=IVF256,Flat`.
    """
    name, _, rest = text.partition(":")
    label = label or text
    types = field_types(registry.load(group, name))
    settings: dict[str, str] = {}
    for part in rest.split(",") if rest else []:
        key, equals, value = part.partition("=")
        if equals and key in settings:
            raise SettingError(f"{label!r} sets {key} twice")
        if equals:
            settings[key] = value
        elif settings:
            settings[next(reversed(settings))] += f",{part}"
        else:
            raise SettingError(f"{label!r} must be {label.partition(':')[0]}:name=value,name=value")
    return name, {key: convert_value(value, types.get(key)) for key, value in settings.items()}


def convert_value(text: str, hint: Any) -> Any:
    """Text converted to the type of a field; unchanged if that fails, so that the field refuses it."""
    value_type, is_optional = split_optional(hint)
    if is_optional and text == "none":
        return None
    if value_type is bool:
        return BOOLEANS.get(text, text)
    if value_type not in (int, float):
        return text
    with suppress(ValueError):
        return value_type(text)
    return text
