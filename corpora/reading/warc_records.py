"""Pages of WARC files, such as those of Common Crawl: extracted text, or HTML of which the main text is extracted."""

import codecs
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from embeddings.corpora.reading.peekable_stream import PeekableStream
from embeddings.corpora.reading.record_rows import Record
from embeddings.errors import CorpusError, EmbeddingsError
from embeddings.support.extras import import_extra
from embeddings.support.logs import log

MAX_PAGE = 1 << 24  # bytes; longer pages are skipped
HTML = ("text/html", "application/xhtml+xml")


def warc_records(stream: PeekableStream, name: str) -> Iterator[Record]:
    """Yield the pages of a decompressed WARC file as records with url, date and text.

    Records of the type "conversion" (WET files) hold text, and "response" HTML, whose main text is extracted. Other
    records are skipped, and pages of more than 16 MiB, which is logged.

    Raises:
        CorpusError: the file is truncated or broken.
        EmbeddingsError: warcio is not installed, or resiliparse for HTML.
    """
    warcio: Any = import_extra("warcio", "warc", f"{name} is a WARC file, which")
    extract: Callable[[bytes, str], str] | None = None
    skipped = 0
    try:
        for record in warcio.ArchiveIterator(stream):
            kind, content_type = page_type(record)
            if kind is None:
                continue
            data = record.content_stream().read(MAX_PAGE + 1)
            if len(data) > MAX_PAGE:
                skipped += 1
                continue
            if kind == "html":
                extract = extract or html_extractor(name)
            text = extract(data, content_type) if kind == "html" and extract else data.decode("utf-8", "replace")
            url = record.rec_headers.get_header("WARC-Target-URI") or ""
            date = record.rec_headers.get_header("WARC-Date") or ""
            yield f"{name}, {url}", {"url": url, "date": date, "text": text.strip("\n") + "\n"}
    except EmbeddingsError:
        raise
    except (warcio.exceptions.ArchiveLoadFailed, ValueError, OSError, EOFError, zlib.error) as error:
        raise CorpusError(f"{name} is a truncated or broken WARC file: {' '.join(str(error).split())}") from error
    if skipped:
        log.warning("%s: skipped %s pages longer than %s bytes", name, skipped, MAX_PAGE)


def page_type(record: Any) -> tuple[str | None, str]:
    """Return "text", "html" or None for a record that is not a page, and its content type."""
    if record.rec_type == "conversion":
        return "text", record.rec_headers.get_header("Content-Type") or ""
    if record.rec_type != "response" or record.http_headers is None:
        return None, ""
    content_type = (record.http_headers.get_header("Content-Type") or "").lower()
    is_complete = str(record.http_headers.get_statuscode()) == "200"
    return ("html" if is_complete and content_type.startswith(HTML) else None), content_type


def html_extractor(name: str) -> Callable[[bytes, str], str]:
    """Return a function from HTML and its content type to its main text."""
    purpose = f"{name} contains HTML, which"
    encodings: Any = import_extra("resiliparse.parse.encoding", "warc", purpose)
    parse: Any = import_extra("resiliparse.parse.html", "warc", purpose)
    extraction: Any = import_extra("resiliparse.extract.html2text", "warc", purpose)

    def extract(data: bytes, content_type: str) -> str:
        charset = content_type.partition("charset=")[2].partition(";")[0].strip("\"' ")
        encoding = encodings.detect_encoding(data)
        with suppress(LookupError):  # the name may be wrong
            encoding = codecs.lookup(charset).name
        tree = parse.HTMLTree.parse(encodings.bytes_to_str(data, encoding))
        return str(extraction.extract_plain_text(tree, main_content=True, alt_texts=False, links=False))

    return extract
