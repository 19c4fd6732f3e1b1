"""Detection of file types, by the first bytes where possible and else by the file name."""

import re
from codecs import BOM_UTF8
from enum import Enum
from pathlib import PurePath

from embeddings.errors import CorpusError, S

# A file is not text if at least MIN_NULS, and at least one in SPARSE, of its first bytes are NUL.
MIN_NULS = 16
SPARSE = 20


class FileType(Enum):
    """The supported types; each value is its name in messages."""

    TEXT = "plain text"
    JSON_LINES = "JSON lines"
    JSON_ARRAY = "a JSON array"
    CSV = "CSV"
    TSV = "TSV"
    PARQUET = "Parquet"
    ARROW_FILE = "an Arrow file"
    ARROW_STREAM = "an Arrow stream"


MAGIC = {
    b"PAR1": FileType.PARQUET,
    b"ARROW1": FileType.ARROW_FILE,
    b"\xff\xff\xff\xff": FileType.ARROW_STREAM,
}
EXTENSIONS = {
    ".jsonl": FileType.JSON_LINES,
    ".ndjson": FileType.JSON_LINES,
    ".csv": FileType.CSV,
    ".tsv": FileType.TSV,
}
JSON_ARRAY = re.compile(rb"\s*\[\s*(?:\{\s*[\"}]|\]\s*\Z)")
JSON_OBJECT = re.compile(rb'\s*\{\s*"(?:[^"\\\n]|\\.)*"\s*:')
ARROW_EXTENSIONS = (".parquet", ".arrow", ".feather")  # these are always detected by content
COMPRESSED = (".gz", ".zst", ".bz2", ".xz")
FOREIGN = {
    b"\x7fELF": "a program",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"%PDF-": "a PDF document",
    b"PK\x03\x04": "a ZIP archive (as are .docx, .xlsx, .epub and .npz)",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"WARC/": "a web archive, whose texts other programs must extract",
    b"<mediawiki ": "a MediaWiki dump, whose texts other programs must extract",
    b"SQLite format 3\0": "an SQLite database",
    b"\x93NUMPY": "a numpy array",
    b"FEA1": "a Feather version 1 file, which is no longer supported",
}


def detect_binary(head: bytes) -> FileType | None:
    """Return the type of a table by its first bytes; None for other files."""
    return next((file_type for magic, file_type in MAGIC.items() if head.startswith(magic)), None)


def detect(head: bytes, name: str) -> FileType:
    """Return the type of a text file or a table of text by its first bytes, in UTF-8, or else by its name."""
    path = PurePath(name.lower())
    extension = PurePath(path.stem).suffix if path.suffix in COMPRESSED else path.suffix
    problem = next(
        (f"is {foreign}; expected UTF-8 text" for magic, foreign in FOREIGN.items() if head[:16].startswith(magic)), ""
    )
    if not problem and head.count(b"\0") >= max(MIN_NULS, len(head) // SPARSE):
        remedy = f"; if it is in UTF-16 or UTF-32, set {S.encoding}, such as to utf-16-le"
        problem = f"is not text: {head.count(0)} of its first {len(head)} bytes are NUL{remedy}"
    if not problem and head and extension in ARROW_EXTENSIONS:
        problem = f"is broken: it does not start like a {extension} file"
    if problem:
        raise CorpusError(f"{name} {problem}")
    by_name, start = EXTENSIONS.get(extension), head.removeprefix(BOM_UTF8)
    if by_name in (FileType.CSV, FileType.TSV):
        return by_name
    if JSON_ARRAY.match(start):
        return FileType.JSON_ARRAY
    if by_name is FileType.JSON_LINES or JSON_OBJECT.match(start):
        return FileType.JSON_LINES
    return FileType.TEXT


def has_lone_returns(head: bytes) -> bool:
    """Whether carriage returns alone end the lines of a text, given its first bytes."""
    return b"\r" in head and b"\n" not in head
