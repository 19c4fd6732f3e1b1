"""HTML elements built from parts, in which all text is escaped."""

import html

from embeddings.printable import replace_unprintable

MAX_WORD = 60  # characters shown of a word


class Html(str):
    """A string that is already HTML."""

    def __html__(self) -> str:
        return self


def text(value: object) -> Html:
    """Escape a value, unless it is `Html`; unprintable characters become U+FFFD."""
    if isinstance(value, Html):
        return value
    return Html(html.escape(replace_unprintable(str(value), lambda mark: mark if mark in "\n\t" else "\ufffd")))


def tag(name: str, *inside: object, **attributes: object) -> Html:
    """Build an element; attributes that are None are omitted, and `class_` is class."""
    given = {name.rstrip("_"): value for name, value in attributes.items() if value is not None}
    markup = "".join(f' {name}="{text(value)}"' for name, value in given.items())
    return Html(f"<{name}{markup}>{''.join(map(text, inside))}</{name}>")


def word(value: str) -> Html:
    """Isolate a word, so that its writing direction does not affect its surroundings; cut a long one."""
    short = value if len(value) <= MAX_WORD else value[: MAX_WORD - 1] + "…"
    return tag("bdi", short, title=None if short == value else value[: 10 * MAX_WORD])
