"""Items of iterables: the first one that tells their kind, and those that are refused."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from embeddings.corpora.reading.text_rows import describe, is_null
from embeddings.errors import CorpusError


def first_items(items: Iterator[Any]) -> list[Any]:
    """The items up to the first one that is not null."""
    first = []
    for item in items:
        first.append(item)
        if not is_null(item):
            break
    return first


def refuse_path(item: str) -> None:
    """Refuse an iterable of file names instead of texts."""
    try:
        is_file = len(item) < 4096 and Path(item).is_file()
    except (OSError, ValueError):
        is_file = False
    if is_file:
        raise CorpusError(f"an iterable must contain texts, but its first item, {item!r}, is a file: Corpus(*paths)")


def check_tokens(number: int, item: Any) -> list[str]:
    """Return the item as a list of tokens."""
    if isinstance(item, str) and number > 1:
        raise CorpusError(f"item {number} is a string, but the first item is a list of tokens")
    if isinstance(item, str | bytes | Mapping | set | frozenset) or not isinstance(item, Iterable):
        raise CorpusError(f"item {number} is {describe(item)}; items must be strings or lists of strings")
    tokens = list(item)
    for token in tokens:
        if not isinstance(token, str):
            raise CorpusError(f"item {number} contains a token {describe(token)}; tokens must be strings")
    return tokens
