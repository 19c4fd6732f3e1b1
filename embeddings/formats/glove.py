"""GloVe's text format: a line for each word with its components, spaces between, and no header.

gensim reads it with `load_word2vec_format(path, no_header=True)`. Published files hold words with spaces in them
("at name@domain.com"): the components are the last of a line, as many as the first line has. A file cut off
between two lines looks whole, for nothing says how many there must be.
"""

from pathlib import Path
from typing import Any

from embeddings.corpora.reading.compressed_files import SNIFFED, start_of
from embeddings.errors import FormatError
from embeddings.formats.text_vectors import Layout, read_lines, write_lines
from embeddings.formats.word2vec import find_header, missing_header
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_encoding import LONGEST_WORD, WHITE_SPACE, WIDEST_LINE, check_dim, check_policy, is_number

SUMMARY = "GloVe text: words and numbers, no header"
ENDINGS = (".glove",)
LONGEST_FIRST = WIDEST_LINE * 64 + LONGEST_WORD
LIKE_HEADER = 2  # numbers after the first field


def sniff(start: bytes) -> float:
    """Fairly sure if the first line is a word and numbers, and the second, if it is whole, has as many.

    A word may hold a NUL, but a file that begins with one is more often something else. What looks like a header, sound
    or broken, is no word of one or two components where more follow: words may hold spaces, and all would be read.
    """
    lines = start.split(b"\n")
    if len(lines) == 1 and len(start) == SNIFFED:  # a line longer than this; its last number may be cut
        lines = [start.rpartition(b" ")[0], b""]
    dim, second = numbers_at_end(lines[0]), b"".join(lines[1:2])
    whole = len(lines) > 2 or len(start) < SNIFFED
    if not dim or b"\r" in lines[0].removesuffix(b"\r") or (len(lines) == 1 and find_header(start + b"\n")):
        return 0
    following = numbers_at_end(second)
    if second.strip() and whole and (following < dim or following > dim <= LIKE_HEADER):
        return 0
    return 0.3 if b"\0" in lines[0] or (not whole and find_header(start)) else 0.7


def numbers_at_end(line: bytes) -> int:
    """How many fields after the first are numbers, from the last one back."""
    fields = line.split()[1:]
    return next((count for count, field in enumerate(reversed(fields)) if not is_number(field)), len(fields))


def write(vectors: Vectors, path: Path) -> None:
    """Write all vectors, in their order.

    Raises:
        FormatError: a word is empty or holds white space, a vector a NaN, or there are no vectors.
    """
    if not len(vectors):
        raise FormatError("the glove format cannot hold no vectors at all: their number of components would be lost")
    check_dim(vectors.dim, "the glove format", WIDEST_LINE)
    with path.open("wb") as stream:
        write_lines(vectors, stream, refused=WHITE_SPACE, form="glove")


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of a file. `errors` says what becomes of words that are not UTF-8.

    Raises:
        FormatError: a missing or empty file, a broken line (its number is said), a word that stands twice, a NaN
            or an infinity.
    """
    check_policy(errors)
    return read_lines(path, Layout(dim_of(path), "line 1 has", spaces=True)).vectors(errors, f"{path}, line", 1)


def dim_of(path: Path) -> int:
    """The components of the first line.

    Raises:
        FormatError: it has none, or does not end.
    """
    start = start_of(path)
    if b"\n" not in start and len(start) == SNIFFED:
        start = start_of(path, LONGEST_FIRST)
    line, newline, _ = start.partition(b"\n")
    if not newline and len(start) == LONGEST_FIRST:
        raise FormatError(f"{path}, line 1: longer than {LONGEST_FIRST} bytes")
    dim = numbers_at_end(line)
    if not dim:
        raise FormatError(missing_header(path, start) if not start else f"{path}, line 1: no word and its components")
    check_dim(dim, f"{path}, line 1", WIDEST_LINE)
    return dim


def describe(path: Path) -> dict[str, Any]:
    """What the first lines say; how many there are only reading tells."""
    dim, lines = dim_of(path), start_of(path).split(b"\n")[:-1]
    first = [b" ".join(line.split(b" ")[:-dim]).decode("utf-8", "replace") for line in lines]
    return {"words": None, "dim": dim, "first_words": first}
