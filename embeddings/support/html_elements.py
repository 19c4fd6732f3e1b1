"""HTML elements built from parts, in which all text is escaped."""

import html
import re

from embeddings.printable import replace_unprintable

NONE = "\u2013"  # en dash for a missing value
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
    """Build an element; attributes that are None are omitted, `class_` is class and `view_box` is viewBox."""
    names = {key: "viewBox" if key == "view_box" else key.rstrip("_").replace("_", "-") for key in attributes}
    markup = "".join(f' {names[key]}="{text(value)}"' for key, value in attributes.items() if value is not None)
    return Html(f"<{name}{markup}>{''.join(map(text, inside))}</{name}>")


def word(value: str) -> Html:
    """Isolate a word, so that its writing direction does not affect its surroundings; cut a long one."""
    short = value if len(value) <= MAX_WORD else value[: MAX_WORD - 1] + "…"
    return tag("bdi", short, title=None if short == value else value[: 10 * MAX_WORD])


def table(header: "list[object]", rows: "list[list[object]]") -> Html:
    """Build a table that scrolls sideways; existing td or th elements are kept."""
    head = tag("tr", *(cell(value, "th") for value in header))
    body = (tag("tr", *(cell(value, "td") for value in row)) for row in rows)
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="scroll")


def cell(value: object, name: str) -> Html:
    """Build a table cell; numbers are right-aligned by their class."""
    if isinstance(value, Html) and re.match(r"<t[dh]\b", value):
        return value
    return tag(name, value, class_="number" if isinstance(value, int | float) else None)


def number_cell(value: float | None, digits: int = 4) -> Html:
    """Build a cell with a number."""
    return tag("td", NONE if value is None else f"{value:.{digits}g}", class_="number")
