"""word2vec's text format: a header line, then a line for each word with its components, spaces between.

What is written is, byte for byte, what gensim writes: the shortest digits that give the same float32 again.
No word may be empty or hold ASCII white space, at which most readers of the format would cut it.
word2vec.c's space at the end of each line is read as well, and so is a last line without a newline.
"""

from pathlib import Path
from typing import Any

from embeddings.corpora.reading.compressed_files import SNIFFED, start_of
from embeddings.formats.text_vectors import Layout, read_lines, write_lines
from embeddings.formats.word2vec import find_header, read_header
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_encoding import WHITE_SPACE, WIDEST_LINE, check_dim, check_policy, is_number

SUMMARY = "word2vec text: a header line, then words and numbers"
ENDINGS = (".txt", ".vec")


def sniff(start: bytes) -> float:
    """Sure if a header is followed by a word and decimal numbers, half of them at least."""
    header = find_header(start)
    if header is None:
        return 0
    line, newline, _ = start[header.end :].partition(b"\n")
    fields = line.split()[1:]
    if not newline and len(start) == SNIFFED:
        del fields[-1:]
    return 0.9 if header.words == 0 or (fields and 2 * sum(map(is_number, fields)) >= len(fields)) else 0


def write(vectors: Vectors, path: Path) -> None:
    """Write all vectors, in their order.

    Raises:
        FormatError: a word is empty or holds white space, a vector a NaN, or there are more than 2**16 components.
    """
    check_dim(vectors.dim, "the word2vec-text format", WIDEST_LINE)
    with path.open("wb") as stream:
        stream.write(b"%d %d\n" % (len(vectors), vectors.dim))
        write_lines(vectors, stream, refused=WHITE_SPACE, form="word2vec-text")


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of a file. `errors` says what becomes of words that are not UTF-8.

    Raises:
        FormatError: a missing, truncated or overlong file, a broken header or line (its number is said),
            a word that stands twice, a NaN or an infinity.
    """
    check_policy(errors)
    header = read_header(path, least_row=2, most=WIDEST_LINE)
    layout = Layout(header.dim, "the header says", words=header.words, skip=1)
    return read_lines(path, layout).vectors(errors, f"{path}, line", 2)


def describe(path: Path) -> dict[str, Any]:
    """What the first lines say."""
    start, header = start_of(path), read_header(path, least_row=2)
    lines = start[header.end :].split(b"\n")[:-1]
    first = [line.split(b" ", 1)[0].decode("utf-8", "replace") for line in lines]
    return {"words": header.words, "dim": header.dim, "first_words": first}
