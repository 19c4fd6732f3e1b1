"""Plain text of MediaWiki markup."""

import json
import re
from typing import Any

from embeddings.corpora.reading.text_worker import Convert
from embeddings.support.extras import import_extra

DROPPED_TAGS = {
    "ref", "references", "table", "math", "chem", "gallery", "timeline", "syntaxhighlight", "source", "score", "style",
    "templatestyles", "imagemap", "graph", "mapframe", "hiero",
}  # fmt: skip
MAGIC_WORDS = re.compile(r"__[A-Z]+__")
SINGLE_TAGS = {"br", "wbr", "hr", "meta", "link", "img", "li", "dt", "dd", "th", "td", "tr"}  # never closed
MARKS = re.compile(r"<!--|-->|\[\[|\]\]|\{\{|\}\}|</?([a-zA-Z]+)[^<>]*>|<[a-zA-Z]|\[(?=//|[a-zA-Z]+:)|\]")
MAX_UNCLOSED, MAX_LIST_MARKS = 100, 20
UNCLOSED = "\0"  # in place of a text that is not parsed


def markup_converter(prefixes: str) -> Convert:
    """Return a function from texts with markup to plain texts; `prefixes`, as JSON, begin links that are left out."""
    parser: Any = import_extra("mwparserfromhell", "wikipedia", "a MediaWiki dump")
    dropped = tuple(f"{prefix}:" for prefix in json.loads(prefixes))

    def convert(texts: list[str]) -> list[str]:
        texts = [without_tables(text) for text in texts]
        return [UNCLOSED if is_unclosed(text) else plain_text(parser.parse(text), dropped) for text in texts]

    return convert


def without_tables(markup: str) -> str:
    """Return markup without the lines of tables, and without long runs of list marks, which take long to parse."""
    depth, lines = 0, []
    for line in markup.split("\n"):
        start = line.lstrip(" \t:*#;")
        if start.startswith("{|"):
            depth += 1
        elif depth and start.startswith("|}") and not start.startswith("|}}"):
            depth -= 1
            line = start[2:]
            lines += [line] * (not depth)
        elif not depth:
            lines.append(line if len(line) - len(start) <= MAX_LIST_MARKS else start)
    return "\n".join(lines)


def is_unclosed(markup: str) -> bool:
    """Whether many links, templates or tags are never closed, since the time to parse grows with their number."""
    counts = {"[[": 0, "{{": 0, "<": 0, "[": 0, "<!--": 0}
    closed_by = {"]]": "[[", "}}": "{{", "]": "[", "-->": "<!--"}
    for match in MARKS.finditer(markup):
        mark = match[0]
        if mark in closed_by or mark.startswith("</"):
            kind = closed_by.get(mark, "<")
            counts[kind] = max(0, counts[kind] - 1)
        elif match[1] is None or (mark[-2] != "/" and match[1].lower() not in SINGLE_TAGS):
            counts[mark if mark in counts else "<"] += 1
    return sum(counts.values()) > MAX_UNCLOSED


def plain_text(code: Any, dropped: tuple[str, ...]) -> str:
    """Return the visible text of parsed markup, a paragraph on each line."""
    parts: list[str] = []
    add_text(code, dropped, parts)
    lines = (" ".join(line.split()) for line in MAGIC_WORDS.sub("", "".join(parts)).split("\n"))
    return "\n".join(filter(None, lines))


def add_text(code: Any, dropped: tuple[str, ...], parts: list[str]) -> None:
    """Append the visible text of parsed markup; templates, comments and arguments have none."""
    for node in code.nodes:
        kind = type(node).__name__
        if kind in ("Text", "HTMLEntity"):
            parts.append(node.value if kind == "Text" else node.normalize())
        elif kind == "Tag" and str(node.tag).strip().lower() == "br":
            parts.append("\n")
        elif (visible := visible_part(node, kind, dropped)) is not None:
            add_text(visible, dropped, parts)


def visible_part(node: Any, kind: str, dropped: tuple[str, ...]) -> Any:
    """Return the part of a link, a heading or a tag that is visible; None for other markup."""
    if kind == "Wikilink":
        visible = node.title if node.text is None else node.text
        return None if str(node.title).strip().lower().startswith(dropped) else visible
    if kind == "Tag":
        return None if str(node.tag).strip().lower() in DROPPED_TAGS else node.contents
    return node.title if kind in ("Heading", "ExternalLink") else None
