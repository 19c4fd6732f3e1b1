"""word2vec's text format: a header line, then a line for each word with its components, separated by spaces.

The output is byte-identical to gensim's: the shortest digits that round-trip as float32. A word must not be empty or
contain ASCII white space, because most readers of the format split lines there. A trailing space on each line, as
word2vec.c writes it, and a last line without a line break are accepted.
"""

from pathlib import Path
from typing import Any

from embeddings.corpora.reading.compressed_files import HEAD_SIZE, read_head
from embeddings.formats.text_vectors import Layout, read_lines, write_lines
from embeddings.formats.word2vec_header import find_header, read_header
from embeddings.vectors.file_format import Format
from embeddings.vectors.file_validation import MAX_TEXT_DIM, WHITE_SPACE, check_dim, check_error_handler, is_number
from embeddings.vectors.vectors import Vectors


def sniff(start: bytes) -> float:
    """Nearly certain if a header is followed by a word and fields of which at least half are decimal numbers."""
    header = find_header(start)
    if header is None:
        return 0
    line, line_break, _ = start[header.end :].partition(b"\n")
    fields = line.split()[1:]
    if not line_break and len(start) == HEAD_SIZE:
        del fields[-1:]
    return 0.9 if header.words == 0 or (fields and 2 * sum(map(is_number, fields)) >= len(fields)) else 0


def write(vectors: Vectors, path: Path) -> None:
    """Write all vectors, of at most 2**16 components."""
    check_dim(vectors.dim, "the word2vec-text format", MAX_TEXT_DIM)
    with path.open("wb") as stream:
        stream.write(b"%d %d\n" % (len(vectors), vectors.dim))
        write_lines(vectors, stream, forbidden=WHITE_SPACE, format="word2vec-text")


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors; errors name the line."""
    check_error_handler(errors)
    header = read_header(path, min_component_bytes=2, max_dim=MAX_TEXT_DIM)
    layout = Layout(header.dim, "the header says", words=header.words, skip=1)
    return read_lines(path, layout).to_vectors(errors, f"{path}, line", 2)


def describe(path: Path) -> dict[str, Any]:
    """Metadata from the first lines."""
    start, header = read_head(path), read_header(path, min_component_bytes=2)
    lines = start[header.end :].split(b"\n")[:-1]
    first_words = [line.split(b" ", 1)[0].decode("utf-8", "replace") for line in lines]
    return {"words": header.words, "dim": header.dim, "first_words": first_words}


FORMAT = Format(
    summary="word2vec text: a header line, then words and numbers",
    extensions=(".txt", ".vec"),
    sniff=sniff,
    read=read,
    write=write,
    describe=describe,
)
