"""`embeddings cache`: list or remove cached corpora."""

import time
from pathlib import Path
from typing import Any

from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import JSON, option
from embeddings.cli.output import note, print_rows
from embeddings.corpora import corpus_cache
from embeddings.corpora.corpus_cache import Entry
from embeddings.errors import SettingError
from embeddings.support.cache_folder import cache_folder, foreign_access

MAX_SOURCES = 3  # shown in the table
SIZES: dict[str, float] = {"GB": 1e9, "MB": 1e6, "kB": 1e3, "B": 1}
TIMES: dict[str, float] = {"d": 86400, "h": 3600, "min": 60, "s": 1}


@command_by_example(
    "cache --limit 2GB",
    params=[
        option("--remove", "Remove the corpus whose name starts with NAME, or all.", "NAME"),
        option("--limit", "Remove least recently used corpora until at most SIZE, such as 2GB, is left.", "SIZE"),
        JSON,
    ],
)
def command(remove: str | None, limit: str | None, as_json: bool) -> None:
    """List cached corpora, least recently used first, or remove some.

    The cache holds at most 20 GB or a tenth of the disk, whichever is less; set EMBEDDINGS_CACHE_LIMIT to change
    this. Corpora in use are never removed. A damaged corpus is encoded again when it is used.
    """
    folder = cache_folder("corpora")
    if folder is None:
        note("there is no cache: its folder is not writable; set EMBEDDINGS_CACHE to another folder")
        print_rows([], as_json)
        return
    if access := foreign_access(folder):
        note(f"this cache is not used: {access}")
    if limit is None and remove is None:
        print_rows([row(entry, exact=as_json) for entry in corpus_cache.list_entries(folder)], as_json)
        return
    size = None if limit is None else corpus_cache.parse_size(limit)  # both options are checked before any removal
    removals = [] if remove is None else remove_named(folder, remove)
    removals += [] if size is None else corpus_cache.shrink(corpus_cache.list_entries(folder), size)
    for entry in removals:
        note(f"removed {entry.name}, {with_unit(entry.size, SIZES)}")
    if as_json:
        print_rows([{"name": entry.name, "size": entry.size} for entry in removals], as_json)


def remove_named(folder: Path, name: str) -> list[Entry]:
    """Remove the entry whose name starts with `name`, or all entries; returns the removed entries."""
    entries = corpus_cache.list_entries(folder)
    matches = entries if name == "all" else [entry for entry in entries if name and entry.name.startswith(name)]
    if name != "all" and len(matches) != 1:
        raise SettingError(f"--remove must match the name of one cached corpus; {name!r} matches {len(matches)}")
    removals = [entry for entry in matches if corpus_cache.remove(entry.folder)]
    for entry in matches:
        if entry not in removals:
            note(f"kept {entry.name}, which is in use")
    return removals


def row(entry: Entry, exact: bool) -> dict[str, Any]:
    """An entry as a row, with sizes and times as numbers if `exact`."""
    meta, age = entry.meta, max(0.0, time.time() - entry.last_used)
    sources: Any = meta.get("sources", None if exact else ["(damaged or of another version)"])
    if not exact:
        more = f" and {len(sources) - MAX_SOURCES} more" if len(sources) > MAX_SOURCES else ""
        sources = ", ".join(sources[:MAX_SOURCES]) + more
    return {
        "name": entry.name,
        "size": entry.size if exact else with_unit(entry.size, SIZES),
        "age": round(age) if exact else with_unit(age, TIMES),
        "tokens": meta.get("tokens"),
        "types": meta.get("types"),
        "sources": sources,
    }


def with_unit(value: float, units: dict[str, float]) -> str:
    """A value in the largest unit that it reaches."""
    unit = next((unit for unit, scale in units.items() if value >= scale), list(units)[-1])
    return f"{value / units[unit]:.{1 if unit.endswith('B') and unit != 'B' else 0}f} {unit}"
