"""HTML from parts: every text is escaped, whoever wrote it."""

import html
import re
from unicodedata import category

NONE = "\u2013"  # a dash where there is no value
LONGEST_NAME = 28
LONGEST = 60  # characters shown of a word
UNSHOWN = ("Cc", "Cs", "Cn", "Co", "Cf")  # controls, lone surrogates and the like


class Html(str):
    """Text that is HTML already."""


def text(value: object) -> Html:
    """Any value as HTML: what is not `Html` is escaped, and characters that cannot be shown become U+FFFD."""
    if isinstance(value, Html):
        return value
    shown = ("\ufffd" if mark != "\n" and category(mark) in UNSHOWN else mark for mark in str(value))
    return Html(html.escape("".join(shown)))


def tag(name: str, *inside: object, **attributes: object) -> Html:
    """An element; attributes that are None are left out, and `class_` is class, `view_box` is viewBox."""
    given = "".join(f' {attribute(key)}="{text(value)}"' for key, value in attributes.items() if value is not None)
    return Html(f"<{name}{given}>{''.join(map(text, inside))}</{name}>")


def attribute(name: str) -> str:
    """An attribute's name from that of an argument."""
    return "viewBox" if name == "view_box" else name.rstrip("_").replace("_", "-")


def word(value: str) -> Html:
    """A word in a frame of its own, so that its direction of writing reaches no further; long ones are cut."""
    short = value if len(value) <= LONGEST else value[: LONGEST - 1] + "…"
    return tag("bdi", short, title=None if short == value else value[: 10 * LONGEST])


def place(name: str) -> Html:
    """The name of vectors, often a path, of which the end is shown if it is long."""
    short = name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]
    return tag("bdi", short, title=None if short == name else name)


def heading(name: str) -> Html:
    """The head of a column of numbers."""
    return tag("th", name, class_="number")


def table(heads: "list[object]", rows: "list[list[object]]", class_: str | None = None) -> Html:
    """A table in a frame that scrolls sideways; a cell that is a `Html` element td or th stays as it is."""
    head = tag("tr", *(cell(one, "th") for one in heads))
    body = (tag("tr", *(cell(one, "td") for one in row)) for row in rows)
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body), class_=class_), class_="scroll")


def cell(value: object, name: str) -> Html:
    """The value as a cell, numbers to the right."""
    if isinstance(value, Html) and re.match(r"<t[dh]\b", value):
        return value
    return tag(name, value, class_="number" if isinstance(value, int | float) else None)


def number(value: float | None, digits: int = 4) -> Html:
    """A number in a cell of its own."""
    return tag("td", NONE if value is None else f"{value:.{digits}g}", class_="number")
