"""Foreign text for terminals, tables and logs: unprintable characters escaped, everything else unchanged."""

from collections.abc import Callable, Sequence
from unicodedata import category

ESCAPED = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # control, format, half of a surrogate pair, line and paragraph separator
JOINERS = "\u200c\u200d"  # part of the spelling in Persian, in Indic scripts and of emoji


def printable(text: str) -> str:
    r"""Escape characters that control a terminal, break a table, or are invisible, such as a tab as \t.

    Escaped are the Unicode categories of control and format characters, bidirectional ones included, surrogates, and
    line separators. Joiners between two letters or symbols beyond ASCII are part of a word and stay. Backslashes stay
    too, so the escapes cannot be reversed.
    """
    return replace_unprintable(text, lambda character: character.encode("unicode_escape").decode())


def replace_unprintable(text: str, escape: Callable[[str], str]) -> str:
    """Replace each unprintable character by what `escape` returns for it."""
    if text.isprintable():
        return text
    characters = enumerate(text)
    return "".join(escape(char) if is_unprintable(text, position) else char for position, char in characters)


def is_unprintable(text: str, position: int) -> bool:
    """Whether the character at this position must be escaped."""
    character = text[position]
    if character in JOINERS:
        neighbours = text[position - 1 : position], text[position + 1 : position + 2]
        return not all(one > "\x7f" and category(one)[0] in "LMS" for one in neighbours)  # beyond ASCII
    return category(character) in ESCAPED


def format_names(names: Sequence[str], limit: int = 20) -> str:
    """Format names for a message."""
    text = ", ".join(repr(name)[1:-1] for name in names[:limit])
    return f"{text} and {len(names) - limit} more" if len(names) > limit else text or "none"


def describe(value: object) -> str:
    """Format a value and its type for a message, cut to a line."""
    text = repr(value)
    return f"of type {type(value).__name__} ({text if len(text) <= 40 else text[:37] + '...'})"
