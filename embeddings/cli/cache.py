"""`embeddings cache`: the encoded corpora that are kept for the next run."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from embeddings.cli import common
from embeddings.errors import SettingError

if TYPE_CHECKING:
    from embeddings.corpora.corpus_cache.eviction import Entry

SHOWN_SOURCES = 3


@click.command("cache")
@click.option("--remove", metavar="NAME", help="Remove the corpus whose name starts so, or all.")
@click.option(
    "--limit", metavar="SIZE", help="Remove the least recently used until no more than this, such as 2GB, is left."
)
@common.as_json
def command(remove: str | None, limit: str | None, as_json: bool) -> None:
    """List the encoded corpora that are kept, the least recently used first, or remove some.

    Together they hold no more than 20 GB, or a tenth of the disk if that is less; EMBEDDINGS_CACHE_LIMIT moves that.
    A corpus that a program is using now is never removed.
    """
    from embeddings.corpora.corpus_cache import eviction
    from embeddings.support.cache_folder import folder

    home = folder("corpora")
    if home is None:
        click.echo("there is no cache: its folder cannot be written; EMBEDDINGS_CACHE moves it", err=True)
        return
    if limit is not None:
        for entry in eviction.shrink(home, eviction.parse_size(limit)):
            click.echo(f"removed {entry.name}, {size_of(entry.size)}", err=True)
    if remove is not None:
        remove_named(home, remove)
    if limit is None and remove is None:
        common.print_rows((row(entry, as_json) for entry in eviction.entries(home)), as_json)


def remove_named(home: Path, name: str) -> None:
    """Remove the entry whose name starts so, or all.

    Raises:
        SettingError: there is none, or more than one; or it is in use.
    """
    from embeddings.corpora.corpus_cache import eviction

    found = [entry for entry in eviction.entries(home) if name == "all" or entry.name.startswith(name)]
    if name != "all" and len(found) != 1:
        raise SettingError(f"{len(found) or 'no'} cached corpora have a name that starts with {name!r}")
    for entry in found:
        if eviction.remove(entry.folder):
            click.echo(f"removed {entry.name}, {size_of(entry.size)}", err=True)
        elif name != "all":
            raise SettingError(f"{entry.name} is in use")
        else:
            click.echo(f"{entry.name} is in use and stays", err=True)


def row(entry: "Entry", exact: bool) -> dict[str, Any]:
    """What is printed of an entry; in figures for programs if `exact`."""
    meta, age = entry.meta, max(0.0, time.time() - entry.used)
    sources = meta.get("sources", ["(broken, or of another version)"])
    more = f" and {len(sources) - SHOWN_SOURCES} more" if len(sources) > SHOWN_SOURCES else ""
    return {
        "name": entry.name,
        "size": entry.size if exact else size_of(entry.size),
        "age": round(age) if exact else age_of(age),
        "tokens": meta.get("tokens"),
        "types": meta.get("types"),
        "sources": sources if exact else ", ".join(sources[:SHOWN_SOURCES]) + more,
    }


def size_of(size: int) -> str:
    """Bytes as people read them."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size} B"


def age_of(seconds: float) -> str:
    """Seconds since the last use, as people read them."""
    for unit, scale in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= scale:
            return f"{seconds / scale:.0f} {unit}"
    return f"{seconds:.0f} s"
