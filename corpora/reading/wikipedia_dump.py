"""Articles of a MediaWiki dump, such as Wikipedia's pages-articles.xml.bz2, as plain text."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from embeddings.corpora.reading.record_rows import Record
from embeddings.corpora.reading.text_pool import ConversionError, Convert, TextPool
from embeddings.errors import CorpusError
from embeddings.support.imports import import_extra
from embeddings.support.logs import log

DROPPED_TAGS = {
    "ref", "references", "table", "math", "chem", "gallery", "timeline", "syntaxhighlight", "source", "score", "style",
    "templatestyles", "imagemap", "graph", "mapframe", "hiero",
}  # fmt: skip
MAGIC_WORDS = re.compile(r"__[A-Z]+__")
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
TAG = re.compile(r"<(/?)([a-zA-Z]+)\b[^<>]*?(/?)>")
# a link that is never closed, and a start of a tag
OPEN_LINK = re.compile(r"(?<!\[)\[(?=(?:[a-zA-Z]+:|//)[^\[\]\n]*(?:[\[\n]|\Z))")
OPEN_TAG = re.compile(r"<(?=[/a-zA-Z!])")
BRACKETS = re.compile(r"\[\[|\]\]|\{\{|\}\}")
ESCAPES = str.maketrans({character: f"&#{ord(character)};" for character in "[]{}<>'=*#:;"})
MAX_DEPTH, MAX_LIST_MARKS = 50, 20
TOO_DEEP = "\0"  # in place of a text that is not parsed


def markup_converter(prefixes: str) -> Convert:
    """Return a function from texts with markup to plain texts; `prefixes`, as JSON, begin links that are left out."""
    parser: Any = import_extra("mwparserfromhell", "wikipedia", "a MediaWiki dump")
    dropped = tuple(f"{prefix}:" for prefix in json.loads(prefixes))

    def convert(text: str) -> str:
        markup, depth = without_open_brackets(without_tags(without_tables(COMMENT.sub("", text))))
        if depth > MAX_DEPTH:
            return TOO_DEEP
        parts: list[str] = []
        add_text(parser.parse(OPEN_LINK.sub("", markup)), dropped, parts)
        lines = (" ".join(line.split()) for line in MAGIC_WORDS.sub("", "".join(parts)).split("\n"))
        return "\n".join(filter(None, lines))

    return lambda texts: [convert(text) for text in texts]


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


def without_tags(markup: str) -> str:
    """Return markup without HTML tags, and without the content of dropped tags."""
    parts, end = [], 0
    last = {match[2].lower(): match.start() for match in TAG.finditer(markup) if match[1]}
    last = {name: start for name, start in last.items() if name in DROPPED_TAGS or name == "nowiki"}
    for match in TAG.finditer(markup):
        if match.start() < end:  # in the content of another
            continue
        parts.append(markup[end : match.start()])
        end, name = match.end(), match[2].lower()
        if name == "br":
            parts.append("\n")
        elif not match[1] and not match[3] and end <= last.get(name, -1):
            stop = re.compile(rf"</{name}\b[^<>]*>", re.IGNORECASE | re.ASCII).search(markup, end)
            assert stop is not None
            if name == "nowiki":
                parts.append(markup[end : stop.start()].translate(ESCAPES))
            end = stop.start()
    return OPEN_TAG.sub("&lt;", "".join([*parts, markup[end:]]))


def without_open_brackets(markup: str) -> tuple[str, int]:
    """Return markup without brackets that are never closed or opened, and how deeply the others are nested.

    Without this, the time to parse grows with the square of their number.
    """
    brackets = list(BRACKETS.finditer(markup))
    is_closed = [False] * len(brackets)
    stack: list[int] = []
    open_counts = {"[[": 0, "{{": 0}
    heights = [0] * (len(brackets) + 1)  # of what is nested in each open bracket
    depth = 0
    for number, match in enumerate(brackets):
        if match[0] in open_counts:
            open_counts[match[0]] += 1
            stack.append(number)
            continue
        opening = "[[" if match[0] == "]]" else "{{"
        if not open_counts[opening]:
            continue
        height = 0
        while brackets[start := stack.pop()][0] != opening:
            open_counts[brackets[start][0]] -= 1
            height = max(height, heights[start])
        open_counts[opening] -= 1
        is_closed[start] = is_closed[number] = True
        height = max(height, heights[start]) + 1
        depth = max(depth, height)
        if stack:
            heights[stack[-1]] = max(heights[stack[-1]], height)
    parts, end = [], 0
    for match in (match for match, closed in zip(brackets, is_closed, strict=True) if not closed):
        parts.append(markup[end : match.start()])
        end = match.end()
    return "".join([*parts, markup[end:]]), depth


def add_text(code: Any, dropped: tuple[str, ...], parts: list[str]) -> None:
    """Append the visible text of parsed markup; templates, comments and arguments have none."""
    for node in code.nodes:
        kind = type(node).__name__
        visible: Any = None
        if kind in ("Text", "HTMLEntity"):
            parts.append(node.value if kind == "Text" else node.normalize())
        elif kind == "Tag":  # of bold text, lists and the like
            visible = node.contents
        elif kind in ("Heading", "ExternalLink"):
            visible = node.title
        elif kind == "Wikilink" and not str(node.title).strip().lower().startswith(dropped):
            visible = node.title if node.text is None else node.text
        if visible is not None:
            add_text(visible, dropped, parts)


JOB_SIZE = 1 << 18  # characters of markup that a process gets at a time
MAX_PAGE = 1 << 26  # bytes of XML, and of its elements in memory
ELEMENT_SIZE = 1 << 8  # bytes in memory
FILES_AND_CATEGORIES = ("6", "14")  # numbers of their namespaces in every wiki
PREFIXES = ("file", "image", "media", "category")  # their names that every wiki knows
Page = tuple[dict[str, Any], str]  # title and number, and the markup


def wikipedia_records(blocks: Iterable[bytes], name: str) -> Iterator[Record]:
    """Yield the articles of a dump, without redirects, as records with title, id and text.

    Markup is removed in several processes: templates, tables, references, files and categories are left out; of links
    the text stays, but not the address. Each paragraph is a line.
    """
    import_extra("mwparserfromhell", "wikipedia", f"{name} is a MediaWiki dump, which")
    dump = Dump(blocks, name)
    pages = dump.pages()
    first = next(pages, None)  # the namespaces come before the first page
    if first is None:
        return

    def jobs() -> Iterator[tuple[list[dict[str, Any]], list[str]]]:
        records, texts, size = [first[0]], [first[1]], 0
        for record, markup in pages:
            if size >= JOB_SIZE:
                yield records, texts
                records, texts, size = [], [], 0
            records.append(record)
            texts.append(markup)
            size += len(markup)
        yield records, texts

    skipped = 0
    with TextPool(
        "the conversion of markup", f"{__name__}:markup_converter", json.dumps(sorted(dump.prefixes))
    ) as pool:
        for records, texts in pool.map(jobs()):
            assert not isinstance(texts, ConversionError)
            skipped += texts.count(TOO_DEEP)
            for record, text in zip(records, texts, strict=True):
                if text == TOO_DEEP:
                    continue
                yield f"{name}, page {record['title']!r}", {**record, "text": text}
    if skipped:
        log.warning("%s: skipped %s pages with links and templates nested more than %s deep", name, skipped, MAX_DEPTH)


@dataclass
class Dump:
    """Reads the XML of a dump page by page; `prefixes`, of files and categories, are known after the first page."""

    blocks: Iterable[bytes]
    name: str
    prefixes: set[str] = field(default_factory=lambda: set(PREFIXES))

    def pages(self) -> Iterator[Page]:
        """Yield the articles, without redirects."""
        parser: Any = XMLPullParser(("start", "end"))
        root: Element | None = None
        size = depth = 0
        try:
            for block in self.blocks:
                parser.feed(block)
                size += len(block)
                for event, element in parser.read_events():
                    root = element if root is None else root
                    if event == "start":
                        size, depth = size + ELEMENT_SIZE, depth + 1
                        continue
                    depth -= 1
                    tag = local_name(element)
                    if tag == "namespace" and element.get("key") in FILES_AND_CATEGORIES:
                        self.prefixes.add((element.text or "").lower())
                    if tag == "page" and depth == 1:  # pages in a page would be read again with each page around them
                        if page := article(element):
                            yield page
                        # else all pages would stay in memory as children of the root
                        root.clear()
                        size = 0
                if size > MAX_PAGE:
                    raise CorpusError(f"{self.name} is not a MediaWiki dump: no page ends within {MAX_PAGE} bytes")
            parser.close()
        except ParseError as error:
            raise CorpusError(f"{self.name} is truncated, or not a MediaWiki dump: {error}") from error


def local_name(element: Element) -> str:
    """Return the name of an element without the namespace of the version of the format."""
    return element.tag.rpartition("}")[2]


def article(page: Element) -> Page | None:
    """Return an article; None for a redirect, and for pages of other namespaces, such as discussions."""
    fields = {local_name(element): element.text or "" for element in page.iter() if local_name(element) != "revision"}
    ids = [element.text or "" for element in page if local_name(element) == "id"]
    if fields.get("ns", "0").strip() != "0" or "redirect" in fields or fields.get("model", "wikitext") != "wikitext":
        return None
    return {"title": fields.get("title", ""), "id": ids[0] if ids else ""}, fields.get("text", "")
