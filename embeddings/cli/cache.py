"""`embeddings cache`: list cached corpora, or remove some."""

import time
from typing import Any

from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import JSON, option
from embeddings.cli.output import note, print_rows
from embeddings.corpora import corpus_cache
from embeddings.corpora.corpus_cache import Entry
from embeddings.support.cache_folder import cache_folder, evict, foreign_access

MAX_SOURCES = 3  # shown in the table


@command_by_example(
    "cache --limit 2GB",
    params=[
        option(
            "--limit",
            "Remove least recently used corpora until at most SIZE, such as 2GB, is left; 0 removes all.",
            "SIZE",
        ),
        JSON,
    ],
)
def command(limit: str | None, as_json: bool) -> None:
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
    entries = corpus_cache.list_entries(folder)
    if limit is None:
        print_rows([entry_row(entry, as_json) for entry in entries], as_json)
        return
    removed_entries = evict(entries, corpus_cache.parse_size(limit), corpus_cache.remove)
    for entry in removed_entries:
        note(f"removed {entry.name}, {entry.size / 1e6:,.1f} MB")
    if as_json:
        print_rows([{"name": entry.name, "size": entry.size} for entry in removed_entries], as_json)


def entry_row(entry: Entry, as_json: bool) -> dict[str, Any]:
    """A cached corpus as a row of the table, or with all sources and exact numbers of bytes and seconds for JSON."""
    meta, age = entry.meta, max(0.0, time.time() - entry.last_used)
    counts = {name: meta.get(name) for name in ("tokens", "types")}
    if as_json:
        return {"name": entry.name, "size": entry.size, "age": round(age), **counts, "sources": meta.get("sources")}
    sources = meta.get("sources", ["(damaged or of another version)"])
    more = f" and {len(sources) - MAX_SOURCES} more" if len(sources) > MAX_SOURCES else ""
    shown = {"name": entry.name, "size": f"{entry.size / 1e6:,.1f} MB", "age": f"{age / 3600:,.1f} h"}
    return {**shown, **counts, "sources": ", ".join(sources[:MAX_SOURCES]) + more}
