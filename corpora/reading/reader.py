"""Sources as blocks for the encoder: valid UTF-8 with the ends of files and items, or lists of tokens."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.compression import Opened, compression, decompressed
from embeddings.corpora.reading.file_types import Form, Peeked, tell
from embeddings.corpora.reading.sources import File, Items, Source, Texts
from embeddings.corpora.reading.text_rows import Columns, Rows, Tags, Text, gathered, one_text, texts
from embeddings.corpora.reading.utf8 import Utf8, blocks, utf8
from embeddings.errors import CorpusError

BLOCK = 1 << 18  # bytes of text at a time

Report = Callable[[int, int | None], object]


@dataclass(frozen=True)
class Sentences:
    """Token lists, each a sentence and a document; the tokens are valid UTF-8."""

    lists: Sequence[Sequence[bytes]]


@dataclass(frozen=True)
class Tagged:
    """The tags of as many documents, which are about to come."""

    tags: Tags


Block = Text | Sentences | Tagged


def refuse_path(item: Any) -> None:
    """Refuse a list of the names of files where texts are meant.

    Raises:
        CorpusError: the item is the name of a file.
    """
    try:
        named = isinstance(item, str) and len(item) < 4096 and Path(item).is_file()
    except (OSError, ValueError):
        named = False
    if named:
        raise CorpusError(f"an iterable holds texts, and its first, {item!r}, is the name of a file: Corpus(*paths)")


@dataclass
class Reader:
    """Reads sources in blocks of about `size` bytes, reports how far it is, and counts decoding errors.

    It ends after `rows` rows, lines or items in all; None reads all.
    """

    encoding_errors: str
    report: Report | None = None
    size: int = BLOCK
    total: int | None = None
    done: int = 0
    errors: int = 0
    columns: Columns = field(default_factory=Columns)
    rows: int | None = None

    def read(self, source: Source) -> Iterator[Block]:
        """The blocks of one source.

        Raises:
            CorpusError: it cannot be read, is broken, or holds what is not text.
        """
        if self.rows == 0:
            return iter(())
        return self.file(source) if isinstance(source, File) else self.items(source)

    def progress(self, done: int) -> None:
        """Report the bytes read so far, in files as they lie on the disk."""
        if self.report is not None:
            self.report(done, self.total)

    def file(self, file: File) -> Iterator[Block]:
        """The text of a file, then its end; or the rows of a table."""
        with file.opened() as stream:
            opened = Opened(stream, file.name)
            decoder = Utf8(self.encoding_errors, file.name)
            data = Peeked(decompressed(opened))
            form = tell(data.head, file.name, text_column=self.columns.text)
            if form is Form.TEXT:
                yield from self.lines(opened, data, decoder)
            else:
                yield from self.table(self.rows_of(form, file, opened, data, decoder))
            self.done += opened.bytes_read
            self.errors += decoder.errors

    def lines(self, opened: Opened, data: Peeked, decoder: Utf8) -> Iterator[Text]:
        """Plain text, then its end."""
        if self.columns.tag is not None:
            raise CorpusError(f"{opened.name} is plain text and has no column {self.columns.tag!r}")
        open_line = False
        for block in blocks(data.some, self.size, decoder):
            text = self.first_lines(block)
            yield Text(text, (len(text),), items=False, closed=False)
            self.progress(self.done + opened.bytes_read)
            open_line = not text.endswith(b"\n")
            if self.rows == 0:
                break
        if self.rows and open_line:
            self.rows -= 1
        yield Text(b"", (0,), items=False, closed=True)

    def first_lines(self, block: bytes) -> bytes:
        """As much of a block as belongs to the lines that are still to be read; they are counted off."""
        if self.rows is None:
            return block
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))[: self.rows]
        self.rows -= len(ends)
        return block if self.rows else block[: int(ends[-1]) + 1]

    def rows_of(self, form: Form, file: File, opened: Opened, data: Peeked, decoder: Utf8) -> Iterator[Rows]:
        """The rows of a table in this form."""
        if form in (Form.JSON_LINES, Form.CSV, Form.TSV):
            return self.told(opened, written_rows(form, blocks(data.some, self.size, decoder), self.columns, decoder))
        from embeddings.corpora.reading.arrow_rows import arrow, parquet

        if form is Form.ARROW_STREAM:
            return self.told(opened, arrow(data, file.name, self.columns, decoder))
        if file.path is None or not file.regular or compression(opened.start):
            raise CorpusError(f"{file.name} holds {form.value}, which is read only from a file that is not compressed")
        read = parquet if form is Form.PARQUET else arrow
        return gathered(read(file.path, file.name, self.columns, decoder, self.share(opened, file.path)), self.size)

    def told(self, opened: Opened, rows: Iterator[Rows]) -> Iterator[Rows]:
        """The rows, with a report after each part of them."""
        for part in rows:
            yield part
            self.progress(self.done + opened.bytes_read)

    def share(self, opened: Opened, path: Path) -> Callable[[float], None]:
        """What reports a share of a file that is read by other ways than its stream."""
        size = path.stat().st_size

        def report(share: float) -> None:
            opened.bytes_read = round(share * size)
            self.progress(self.done + opened.bytes_read)

        return report

    def table(self, parts: Iterator[Rows]) -> Iterator[Block]:
        """The rows of a table, each a document."""
        for part in parts:
            rows = part if self.rows is None else part.first(self.rows)
            if rows.tags is not None:
                yield Tagged(rows.tags)
            yield from texts(rows, self.size)
            if self.rows is not None:
                self.rows -= len(rows)
                if self.rows == 0:
                    return

    def items(self, source: Items) -> Iterator[Block]:
        """What an iterable holds: mappings are rows of a table, others documents or sentences."""
        items = iter(source.items)
        start = list(islice(items, 1))
        named = self.columns.text or self.columns.tag
        if start and isinstance(start[0], Mapping) and named is None:
            told = kind(start[0])
            raise CorpusError(f"item 1 is {told}; allowed are strings, lists of strings, or mappings with text_column")
        if start and isinstance(start[0], Mapping):
            from embeddings.corpora.reading.mapping_rows import mapping_rows

            decoder = Utf8(self.encoding_errors, source.name)
            yield from self.table(mapping_rows(chain(start, items), source.name, self.columns, decoder, self.size))
            self.errors += decoder.errors
        elif named is not None:
            raise CorpusError(f"{source.name} has no column {named!r}")
        else:
            if start and isinstance(start[0], str) and not isinstance(source.items, Texts):
                refuse_path(start[0])
            yield from self.listed(chain(start, items))

    def listed(self, items: Iterable[Any]) -> Iterator[Block]:
        """Strings or token lists, many to a block."""
        strings: bool | None = None
        waiting: list[tuple[int, Any]] = []
        size = 0
        for number, item in enumerate(islice(items, self.rows), 1):
            self.rows = None if self.rows is None else self.rows - 1
            if strings is None:
                strings = isinstance(item, str)
            checked = document(number, item) if strings else sentence(number, item)
            waiting.append((number, checked))
            size += len(checked) + 1
            if size >= self.size:
                yield from self.together(waiting, strings)
                waiting, size = [], 0
        yield from self.together(waiting, bool(strings))

    def together(self, items: list[tuple[int, Any]], strings: bool) -> Iterator[Block]:
        """The items of a block; a string longer than a block takes several."""
        if strings:
            yield from self.documents(items)
        else:
            yield Sentences([self.tokens(number, tokens) for number, tokens in items])
        self.progress(self.done)

    def tokens(self, number: int, tokens: list[str]) -> list[bytes]:
        """The tokens of one list as UTF-8."""
        decoder = Utf8(self.encoding_errors, f"item {number}")
        encoded = [utf8(token, decoder) for token in tokens]
        self.done += sum(map(len, encoded))
        self.errors += decoder.errors
        return encoded

    def documents(self, items: Iterable[tuple[int, str]]) -> Iterator[Text]:
        """Strings as blocks: the small ones together, each large one by itself."""
        together: list[bytes] = []
        for number, item in items:
            decoder = Utf8(self.encoding_errors, f"item {number}")
            data = utf8(item, decoder)
            self.done += len(data)
            if len(data) < self.size:
                together.append(data)
            else:
                yield joined(together)
                together = []
                yield from one_text(data, self.size)
            self.errors += decoder.errors
        yield joined(together)


def written_rows(form: Form, text: Iterator[bytes], columns: Columns, decoder: Utf8) -> Iterator[Rows]:
    """The rows of a table that is written as text."""
    from embeddings.corpora.reading.csv_rows import csv_rows
    from embeddings.corpora.reading.json_rows import json_rows

    if form is Form.JSON_LINES:
        return json_rows(text, decoder.name, columns, decoder)
    return csv_rows(text, decoder.name, columns, "," if form is Form.CSV else "\t")


def joined(documents: list[bytes]) -> Text:
    """Whole documents as one block."""
    ends: list[int] = []
    for data in documents:
        ends.append(len(data) + (ends[-1] if ends else 0))
    return Text(b"".join(documents), ends, items=True, closed=True)


def document(number: int, item: Any) -> str:
    """The item itself, if it is a string.

    Raises:
        CorpusError: it is not; the message has its number and type.
    """
    if not isinstance(item, str):
        raise CorpusError(f"item {number} is {kind(item)}, but the first item is a string")
    return item


def sentence(number: int, item: Any) -> list[str]:
    """The item as a list of tokens.

    Raises:
        CorpusError: it is not an iterable of strings in an order; the message has its number and type.
    """
    if isinstance(item, str) and number > 1:
        raise CorpusError(f"item {number} is a string, but the first item is a list of tokens")
    if isinstance(item, str | bytes | Mapping | set | frozenset) or not isinstance(item, Iterable):
        raise CorpusError(f"item {number} is {kind(item)}; allowed are strings, or lists of strings")
    tokens = list(item)
    for token in tokens:
        if not isinstance(token, str):
            raise CorpusError(f"item {number} holds a token that is {kind(token)}; allowed are strings")
    return tokens


def kind(item: Any) -> str:
    """A value and its type for a message, cut to a line."""
    text = repr(item)
    return f"of type {type(item).__name__} ({text if len(text) <= 40 else text[:37] + '...'})"
