"""Articles of a MediaWiki dump, such as Wikipedia's pages-articles.xml.bz2, as plain text."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from embeddings.corpora.reading.record_rows import Record
from embeddings.corpora.reading.text_pool import TextPool
from embeddings.corpora.reading.text_worker import ConversionError, Convert
from embeddings.errors import CorpusError
from embeddings.support.extras import import_extra

JOB_SIZE = 1 << 18  # characters of markup that a process gets at a time
MAX_PAGE = 1 << 26  # bytes of XML
FILES_AND_CATEGORIES = ("6", "14")  # numbers of their namespaces in every wiki
PREFIXES = ("file", "image", "media", "category")  # their names that every wiki knows
DROPPED_TAGS = {
    "ref", "references", "table", "math", "chem", "gallery", "timeline", "syntaxhighlight", "source", "score", "style",
    "templatestyles", "imagemap", "graph", "mapframe", "hiero",
}  # fmt: skip
MAGIC_WORDS = re.compile(r"__[A-Z]+__")

Page = tuple[dict[str, Any], str]  # title and number, and the markup


def wikipedia_records(blocks: Iterable[bytes], name: str) -> Iterator[Record]:
    """Yield the articles of a dump, without redirects, as records with title, id and text.

    Markup is removed in several processes: templates, tables, references, files and categories are left out; of links
    the text stays, but not the address. Each paragraph is a line.

    Raises:
        CorpusError: the dump is truncated or not valid XML.
        EmbeddingsError: mwparserfromhell is not installed.
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

    with TextPool(
        "the conversion of markup", f"{__name__}:markup_converter", json.dumps(sorted(dump.prefixes))
    ) as pool:
        for records, texts in pool.map(jobs()):
            assert not isinstance(texts, ConversionError)
            for record, text in zip(records, texts, strict=True):
                yield f"{name}, page {record['title']!r}", {**record, "text": text}


class Dump:
    """Reads the XML of a dump page by page; `prefixes` are the names of files and categories, known after the first."""

    def __init__(self, blocks: Iterable[bytes], name: str) -> None:
        self.blocks = blocks
        self.name = name
        self.prefixes = set(PREFIXES)

    def pages(self) -> Iterator[Page]:
        """Yield the articles, without redirects."""
        parser: Any = XMLPullParser(("start", "end"))
        root: Element | None = None
        size = 0
        try:
            for block in self.blocks:
                parser.feed(block)
                size += len(block)
                for event, element in parser.read_events():
                    root = element if root is None else root
                    tag = local_name(element)
                    if event == "end" and tag == "namespace" and element.get("key") in FILES_AND_CATEGORIES:
                        self.prefixes.add((element.text or "").lower())
                    if event == "end" and tag == "page":
                        if page := article(element):
                            yield page
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


def markup_converter(prefixes: str) -> Convert:
    """Return a function from texts with markup to plain texts; `prefixes`, as JSON, begin links that are left out."""
    parser: Any = import_extra("mwparserfromhell", "wikipedia", "a MediaWiki dump")
    dropped = tuple(f"{prefix}:" for prefix in json.loads(prefixes))

    def convert(texts: list[str]) -> list[str]:
        return [plain_text(parser.parse(text), dropped) for text in texts]

    return convert


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
