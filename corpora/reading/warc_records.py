"""Pages of WARC files, such as those of Common Crawl: extracted text, or HTML of which the main text is extracted."""

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from embeddings.corpora.reading.compression import PeekableStream
from embeddings.corpora.reading.record_rows import Record
from embeddings.errors import CorpusError
from embeddings.support.imports import import_extra
from embeddings.support.logs import log

MAX_PAGE = 1 << 24  # bytes; longer pages are skipped
MAX_HEADERS = 1 << 20  # bytes of the headers of a record
MAX_DEPTH = 500  # of the elements whose number around an element decides how long resiliparse takes for it
NESTED = re.compile(rb"<(/?)(?:div|article)\b", re.IGNORECASE)
HTML = ("text/html", "application/xhtml+xml")


def warc_records(stream: PeekableStream, name: str) -> Iterator[Record]:
    """Yield the pages of a decompressed WARC file as records with url, date and text.

    Records of the type "conversion" (WET files) hold text, and "response" HTML, whose main text is extracted. Other
    records are skipped, and pages of more than 16 MiB or deeply nested elements, which is logged.
    """
    warcio: Any = import_extra("warcio", "warc", f"{name} is a WARC file, which")
    extract: Callable[[bytes, str], str] | None = None
    too_long = too_deep = 0
    try:
        for record in complete_records(warcio.ArchiveIterator(stream), name):
            kind, content_type = page_type(record)
            if kind is None:
                continue
            data = record.content_stream().read(MAX_PAGE + 1)
            if len(data) > MAX_PAGE:
                too_long += 1
                continue
            if kind == "html" and is_deep(data):
                too_deep += 1
                continue
            if kind == "html":
                extract = extract or html_extractor(name)
            text = extract(data, content_type) if kind == "html" and extract else data.decode("utf-8", "replace")
            url = record.rec_headers.get_header("WARC-Target-URI") or ""
            date = record.rec_headers.get_header("WARC-Date") or ""
            yield f"{name}, {url}", {"url": url, "date": date, "text": text.strip("\n") + "\n"}
    except (warcio.exceptions.ArchiveLoadFailed, ValueError, OSError, EOFError, zlib.error, AttributeError) as error:
        raise CorpusError(f"{name} is a truncated or broken WARC file: {' '.join(str(error).split())}") from error
    if too_long:
        log.warning("%s: skipped %s pages longer than %s bytes", name, too_long, MAX_PAGE)
    if too_deep:
        log.warning("%s: skipped %s pages with more than %s elements in one another", name, too_deep, MAX_DEPTH)


def complete_records(archive: Any, name: str) -> Iterator[Any]:
    """Yield the records of an archive; warcio itself accepts records that are cut short or have a wrong length."""
    archive.INC_RECORD = ""  # the message about a wrong length, which warcio prints
    lines = archive.reader.readline = LimitedLines(archive.reader.readline, name)
    previous: Any = None
    for record in chain(archive, [None]):
        if archive.err_count or getattr(getattr(previous, "raw_stream", None), "limit", 0) > 0:
            fault = f"a record before byte {archive.offset} is cut short or has a wrong Content-Length"
            raise CorpusError(f"{name} is a truncated or broken WARC file: {fault}")
        if record is not None:
            lines.size = 0
            yield record
        previous = record


@dataclass
class LimitedLines:
    """Reads lines, as a method `readline`, of at most `MAX_HEADERS` bytes in all until `size` is set to 0 again.

    Otherwise warcio would collect headers of any size, in time that is quadratic in the length of a line.
    """

    readline: Callable[[int], bytes]
    name: str
    size: int = 0

    def __call__(self, length: int | None = None) -> bytes:
        """Return the next line, or `length` bytes of it."""
        rest = MAX_HEADERS - self.size
        line = self.readline(rest if length is None else min(length, rest))
        self.size += len(line)
        if self.size >= MAX_HEADERS:
            raise CorpusError(f"{self.name} is a broken WARC file: a record has headers of {MAX_HEADERS} bytes or more")
        return line


def page_type(record: Any) -> tuple[str | None, str]:
    """Return "text", "html" or None for a record that is not a page, and its content type."""
    if record.rec_type == "conversion":
        return "text", record.rec_headers.get_header("Content-Type") or ""
    if record.rec_type != "response" or record.http_headers is None:
        return None, ""
    content_type = (record.http_headers.get_header("Content-Type") or "").lower()
    is_complete = str(record.http_headers.get_statuscode()) == "200"
    return ("html" if is_complete and content_type.startswith(HTML) else None), content_type


def is_deep(html: bytes) -> bool:
    """Whether a page nests elements so deeply that its extraction takes out of proportion to its length."""
    depth = 0
    for match in NESTED.finditer(html):
        depth = max(0, depth - 1) if match[1] else depth + 1
        if depth > MAX_DEPTH:
            return True
    return False


def html_extractor(name: str) -> Callable[[bytes, str], str]:
    """Return a function from HTML and its content type to its main text."""
    purpose = f"{name} contains HTML, which"
    encodings: Any = import_extra("resiliparse.parse.encoding", "warc", purpose)
    parse: Any = import_extra("resiliparse.parse.html", "warc", purpose)
    extraction: Any = import_extra("resiliparse.extract.html2text", "warc", purpose)

    def extract(data: bytes, content_type: str) -> str:
        charset = content_type.partition("charset=")[2].partition(";")[0].strip("\"' ")
        # only the encodings of HTML: Python has others that fail or, such as punycode, take quadratic time
        encoding = encodings.map_encoding_to_html5(charset, False) or encodings.detect_encoding(data)
        tree = parse.HTMLTree.parse(encodings.bytes_to_str(data, encoding))
        return str(extraction.extract_plain_text(tree, main_content=True, alt_texts=False, links=False))

    return extract
