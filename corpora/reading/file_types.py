"""What a file holds, told by its first bytes where they can tell, else by its name: text, rows of a table, neither."""

from enum import Enum
from pathlib import PurePath

from embeddings.corpora.reading.compression import Read
from embeddings.errors import CorpusError

HEAD = 8192  # bytes that are looked at
BLOCK = 1 << 20  # bytes asked for at once, whatever size the header of a table claims
NULS = 64  # so many of them, and more than one byte in SPARSE, are no text
SPARSE = 20


class Form(Enum):
    """The forms that are read; the value is what messages call it."""

    TEXT = "plain text"
    JSON_LINES = "JSON lines"
    CSV = "CSV"
    TSV = "TSV"
    PARQUET = "Parquet"
    ARROW_FILE = "an Arrow file"
    ARROW_STREAM = "an Arrow stream"


MAGIC = {
    b"PAR1": Form.PARQUET,
    b"ARROW1": Form.ARROW_FILE,
    b"\xff\xff\xff\xff": Form.ARROW_STREAM,
}
ENDINGS = {
    ".jsonl": Form.JSON_LINES,
    ".ndjson": Form.JSON_LINES,
    ".csv": Form.CSV,
    ".tsv": Form.TSV,
}
ARROW_ENDINGS = (".parquet", ".arrow", ".feather")  # these are always told by content
COMPRESSED = (".gz", ".zst", ".bz2", ".xz")
FOREIGN = {
    b"\x7fELF": "a program",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"%PDF-": "a PDF document",
    b"PK\x03\x04": "a ZIP archive (as are .docx, .xlsx, .epub and .npz)",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"SQLite format 3\0": "an SQLite database",
    b"\x93NUMPY": "a numpy array",
    b"FEA1": "a Feather file of the first version, which is not read any more",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}


class Peeked:
    """A stream of decompressed bytes whose head was looked at; it reads from its start."""

    def __init__(self, read: Read, size: int = HEAD) -> None:
        self.source = read
        self.waiting = b""
        self.head = self.waiting = self.read(size)

    def some(self, size: int) -> bytes:
        """Up to `size` bytes; empty at the end only."""
        data, self.waiting = self.waiting[:size], self.waiting[size:]
        return data or self.source(min(size, BLOCK))

    def read(self, size: int = HEAD) -> bytes:
        """Just `size` bytes, fewer at the end only."""
        parts = []
        while size and (data := self.some(size)):
            parts.append(data)
            size -= len(data)
        return b"".join(parts)

    @property
    def closed(self) -> bool:
        """Always open to pyarrow: closing the stream is left to whoever opened it."""
        return False

    def close(self) -> None:
        """Nothing: see `closed`."""


def tell(head: bytes, name: str, *, text_column: str | None) -> Form:
    """The form of a file that starts so and is called so.

    Where a text column is named, what starts with a brace is taken for JSON lines, whatever its name.

    Raises:
        CorpusError: it is neither text nor a table; or a column is named and it is plain text.
    """
    for magic, form in MAGIC.items():
        if head.startswith(magic):
            return form
    for magic, what in FOREIGN.items():
        if head.startswith(magic):
            raise CorpusError(f"{name} is {what}, not text")
    if head.count(b"\0") >= max(NULS, len(head) // SPARSE):
        raise CorpusError(f"{name} is not text: {head.count(0)} of its first {len(head)} bytes are NUL")
    ending = last_ending(name)
    if head and ending in ARROW_ENDINGS:
        raise CorpusError(f"{name} is broken: it does not start as a file that ends in {ending} does")
    if ending in ENDINGS:
        return ENDINGS[ending]
    if text_column is not None and head.lstrip()[:1] == b"{":
        return Form.JSON_LINES
    if text_column is not None:
        known = ", ".join([*ENDINGS, *ARROW_ENDINGS])
        raise CorpusError(f"{name} is plain text and has no column {text_column!r}; columns are read from {known}")
    return Form.TEXT


def last_ending(name: str) -> str:
    """The ending of a name in lower case, that of a compressed file without what tells of its compression."""
    path = PurePath(name.lower())
    return PurePath(path.stem).suffix if path.suffix in COMPRESSED else path.suffix
