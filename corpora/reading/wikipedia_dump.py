"""Articles of a MediaWiki dump, such as Wikipedia's pages-articles.xml.bz2, as plain text."""

import json
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from embeddings.corpora.reading import wiki_markup
from embeddings.corpora.reading.record_rows import Record
from embeddings.corpora.reading.text_pool import TextPool
from embeddings.corpora.reading.text_worker import ConversionError
from embeddings.corpora.reading.wiki_markup import MAX_DEPTH, TOO_DEEP
from embeddings.errors import CorpusError
from embeddings.support.extras import import_extra
from embeddings.support.logs import log

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

    skipped = 0
    with TextPool(
        "the conversion of markup", f"{wiki_markup.__name__}:markup_converter", json.dumps(sorted(dump.prefixes))
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
