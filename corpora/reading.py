"""Sources as blocks for the encoder: valid UTF-8 with the ends of files and items, or lists of tokens."""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from embeddings.corpora.compression import Opened, decompressed
from embeddings.corpora.sources import File, Items, Source
from embeddings.corpora.utf8 import Utf8, blocks, utf8
from embeddings.errors import CorpusError

BLOCK = 1 << 18  # bytes of text at a time

Report = Callable[[int, int | None], object]


@dataclass(frozen=True)
class Text:
    """Whole code points of UTF-8. `parts` are the ends, in bytes, of the files or items in it.

    items: each part is a document of its own, else blank lines part documents. closed: the last part ends
    here too; it goes on in the next block otherwise.
    """

    data: bytes
    parts: Sequence[int]
    items: bool
    closed: bool


@dataclass(frozen=True)
class Sentences:
    """Token lists, each a sentence and a document; the tokens are valid UTF-8."""

    lists: Sequence[Sequence[bytes]]


Block = Text | Sentences


@dataclass
class Reader:
    """Reads sources in blocks of about `size` bytes, reports how far it is, and counts decoding errors."""

    encoding_errors: str
    report: Report | None = None
    size: int = BLOCK
    total: int | None = None
    done: int = 0
    errors: int = 0

    def read(self, source: Source) -> Iterator[Block]:
        """The blocks of one source.

        Raises:
            CorpusError: it cannot be read, is broken, or holds what is not text.
        """
        return self.file(source) if isinstance(source, File) else self.items(source)

    def progress(self, done: int) -> None:
        """Report the bytes read so far, in files as they lie on the disk."""
        if self.report is not None:
            self.report(done, self.total)

    def file(self, file: File) -> Iterator[Text]:
        """The text of a file, then its end."""
        with file.opened() as stream:
            opened = Opened(stream, file.name)
            decoder = Utf8(self.encoding_errors, file.name)
            for data in blocks(decompressed(opened), self.size, decoder):
                yield Text(data, (len(data),), items=False, closed=False)
                self.progress(self.done + opened.bytes_read)
            yield Text(b"", (0,), items=False, closed=True)
            self.done += opened.bytes_read
            self.errors += decoder.errors

    def items(self, source: Items) -> Iterator[Block]:
        """The documents or sentences of an iterable, many to a block."""
        strings: bool | None = None
        gathered: list[tuple[int, Any]] = []
        size = 0
        for number, item in enumerate(source.items, 1):
            if strings is None:
                strings = isinstance(item, str)
            checked = document(number, item) if strings else sentence(number, item)
            gathered.append((number, checked))
            size += len(checked) + 1
            if size >= self.size:
                yield from self.gathered(gathered, strings)
                gathered, size = [], 0
        yield from self.gathered(gathered, bool(strings))

    def gathered(self, items: list[tuple[int, Any]], strings: bool) -> Iterator[Block]:
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
                for block in blocks(io.BytesIO(data).read, self.size, Utf8("strict", decoder.name)):
                    yield Text(block, (len(block),), items=True, closed=False)
                yield Text(b"", (0,), items=True, closed=True)
            self.errors += decoder.errors
        yield joined(together)


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
        CorpusError: it is not an iterable of strings; the message has its number and type.
    """
    if isinstance(item, str) and number > 1:
        raise CorpusError(f"item {number} is a string, but the first item is a list of tokens")
    if isinstance(item, str | bytes) or not isinstance(item, Iterable):
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
