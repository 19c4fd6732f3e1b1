"""GloVe's text format: a line for each word with its components, separated by spaces, without a header.

gensim reads it with `load_word2vec_format(path, no_header=True)`. Some published files contain words with spaces ("at
name@domain.com"), so the components are the last fields of a line, as many as in the first line. A file truncated
between two lines looks complete, because the format does not store the number of words.
"""

from pathlib import Path
from typing import Any

from embeddings.corpora.reading.compression import HEAD_SIZE, read_head
from embeddings.errors import FormatError
from embeddings.formats.word2vec_text import (
    CONTROL_CHARACTER,
    Layout,
    find_header,
    first_lines,
    read_lines,
    split_line,
    write_lines,
)
from embeddings.vectors import file_format
from embeddings.vectors.vectors import Vectors

MAX_FIRST_LINE = file_format.MAX_TEXT_DIM * 64 + file_format.MAX_WORD_BYTES
HEADER_NUMBERS = 2  # numbers after the first field of a line that may be a broken word2vec header


def sniff(start: bytes) -> float:
    """0.7 if the first line is a word and numbers, and a complete second line has as many or more numbers.

    Of such files 0.3 if the first line holds a NUL, or may be a word2vec header and the second line is incomplete. 0
    for a possible broken word2vec header, one or two numbers before a line of more numbers, and for all other files.
    """
    lines = start.split(b"\n")
    if len(lines) == 1 and len(start) == HEAD_SIZE:  # the line is longer; its last number may be cut off
        lines = [start.rpartition(b" ")[0], b""]
    dim, second = count_trailing_numbers(lines[0]), b"".join(lines[1:2])
    is_complete = len(lines) > 2 or len(start) < HEAD_SIZE
    if dim <= HEADER_NUMBERS and find_header(start) and CONTROL_CHARACTER.search(start):
        return 0  # word2vec's binary format
    if not dim or b"\r" in lines[0].removesuffix(b"\r") or (len(lines) == 1 and find_header(start + b"\n")):
        return 0  # no numbers, a carriage return within the line, or only a header
    second_dim = count_trailing_numbers(second)
    if second.strip() and is_complete and (second_dim < dim or second_dim > dim <= HEADER_NUMBERS):
        return 0  # lines of different length, or a broken header
    return 0.3 if b"\0" in lines[0] or (not is_complete and find_header(start)) else 0.7


def count_trailing_numbers(line: bytes) -> int:
    """The number of numeric fields at the end of a line, not counting its first field."""
    fields = line.split()[1:]
    return next(
        (count for count, field in enumerate(reversed(fields)) if not file_format.is_number(field)), len(fields)
    )


def write(vectors: Vectors, path: Path) -> None:
    """Write all vectors; raises FormatError if there are none."""
    if not len(vectors):
        raise FormatError("the glove format cannot store zero vectors: the number of components would be lost")
    file_format.check_dim(vectors.dim, "the glove format", file_format.MAX_TEXT_DIM)
    with path.open("wb") as stream:
        write_lines(vectors, stream, forbidden=file_format.WHITE_SPACE, format="glove")


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of a file; errors name its line."""
    layout = Layout(read_dim(path), "line 1 has", allow_spaces=True)
    return read_lines(path, layout).to_vectors(errors, f"{path}, line", 1)


def read_dim(path: Path) -> int:
    """The number of components of the first line."""
    start = read_head(path)
    if b"\n" not in start and len(start) == HEAD_SIZE:
        start = read_head(path, MAX_FIRST_LINE)
    line = start.partition(b"\n")[0]
    dim = count_trailing_numbers(line)
    if not dim or len(line) == MAX_FIRST_LINE:
        raise FormatError(f"{path}, line 1: expected a word and its components in less than {MAX_FIRST_LINE} bytes")
    file_format.check_dim(dim, f"{path}, line 1", file_format.MAX_TEXT_DIM)
    return dim


def describe(path: Path) -> dict[str, Any]:
    """Metadata from the first lines; the number of words is unknown until the file is read."""
    dim = read_dim(path)
    layout = Layout(dim, "line 1 has", allow_spaces=True)
    first_words = [split_line(line, layout)[0].decode("utf-8", "replace") for line in first_lines(path)]
    return {"words": None, "dim": dim, "first_words": first_words}


FORMAT = file_format.Format(
    summary="GloVe text: words and numbers, no header",
    extensions=(".glove",),
    sniff=sniff,
    read=read,
    write=write,
    describe=describe,
)
