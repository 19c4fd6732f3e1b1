"""word2vec's text format: a header line, then a line for each word with its components, spaces between.

What is written is, byte for byte, what gensim writes: the shortest digits that give the same float32 again.
No word may be empty or hold ASCII white space, at which most readers of the format would cut it.
word2vec.c's space at the end of each line is read as well, and so is a last line without a newline.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.errors import FormatError
from embeddings.formats.word2vec import (
    Header,
    check_policy,
    check_writable,
    checked,
    decode,
    encoded_words,
    find_header,
    is_number,
    opened,
    read_header,
    written_blocks,
)
from embeddings.vectors import Vectors

REFUSED = re.compile(r"[ \t\n\v\f\r]")
SNIFFED = 1 << 16


def sniff(path: Path) -> bool:
    """Whether a header is followed by a word and decimal numbers, half of them at least."""
    with opened(path) as stream:
        start = stream.read(SNIFFED)
    header = find_header(start)
    if header is None:
        return False
    line, newline, _ = start[header.end :].partition(b"\n")
    fields = line.split()[1:]
    if not newline and len(start) == SNIFFED:
        del fields[-1:]
    return header.words == 0 or (bool(fields) and 2 * sum(map(is_number, fields)) >= len(fields))


def write(vectors: Vectors, path: Path) -> None:
    """Write all vectors, in their order.

    Raises:
        FormatError: a word is empty or holds white space, or a vector a NaN.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    check_writable(vectors)
    words = encoded_words(vectors, refused=REFUSED, form="word2vec-text")
    with path.open("wb") as stream:
        stream.write(b"%d %d\n" % (len(vectors), vectors.dim))
        for block in written_blocks(vectors, 64):
            offsets = np.arange(0, block.size + 1, block.shape[1], dtype=np.int64)
            fields = pa.LargeListArray.from_arrays(offsets, shortest(block.ravel()).cast(pa.large_string()))
            numbers = pc.binary_join(fields, pa.scalar(" ", pa.large_string())).cast(pa.large_binary())
            stream.write(b"".join(b"%b %b\n" % (next(words), row) for row in numbers.to_pylist()))


def shortest(values: np.ndarray) -> Any:
    """Each float32 as numpy (and so gensim) writes it, as an Arrow array of strings.

    Arrow's digits are the same and found faster, but it writes whole, very small and very large numbers
    in another way; those few go through numpy.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    sizes = np.abs(values)
    odd = ~((sizes > 1e-3) & (sizes < 1e5) & (values != np.trunc(values)))
    texts = pa.array(values).cast(pa.string())
    if not odd.any():
        return texts
    instead = pa.array([str(value) for value in values[odd]], pa.string())
    return pc.replace_with_mask(texts, pa.array(odd), instead)


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of a file. `errors` says what becomes of words that are not UTF-8.

    Raises:
        FormatError: a missing, truncated or overlong file, a broken header or line (its number is said),
            a word that stands twice, a NaN or an infinity.
    """
    check_policy(errors)
    header = read_header(path, least_row=2)
    found = read_fast(path, header) or read_slowly(path, header)
    words = decode(found[0], errors, f"{path}, line", 2)
    return checked(path, words, found[1])


def read_fast(path: Path, header: Header) -> tuple[list[bytes], np.ndarray] | None:
    """Words and matrix by Arrow's CSV reader; None for a file it does not take just as it stands."""
    import pyarrow as pa

    words, matrix = list[bytes](), np.empty((header.words, header.dim), dtype=np.float32)
    try:
        with open_table(path, header) as batches:
            for batch in batches:
                start, end = len(words), len(words) + batch.num_rows
                words.extend(batch.column(0).to_pylist())
                for column in range(header.dim):
                    matrix[start:end, column] = batch.column(column + 1)
                if batch.num_columns > header.dim + 1 and any(batch.column(header.dim + 1).to_pylist()):
                    return None
    except (pa.ArrowException, ValueError):
        return None
    return (words, matrix) if len(words) == header.words else None


def open_table(path: Path, header: Header) -> Any:
    """Arrow's reader of the lines below the header: a column of words, then columns of float32.

    A last, empty column is where each line ends in a space.
    """
    import pyarrow as pa
    from pyarrow import csv

    with opened(path) as stream:
        stream.seek(header.end)
        first = stream.readline(header.dim * 64 + SNIFFED)
    kinds = [pa.binary()] + [pa.float32()] * header.dim
    kinds += [pa.binary()] if first.endswith((b" \n", b" \r\n")) else []
    names = [str(column) for column in range(len(kinds))]
    return csv.open_csv(
        path,
        csv.ReadOptions(skip_rows=1, column_names=names, block_size=max(1 << 22, 4 * len(first))),
        csv.ParseOptions(delimiter=" ", quote_char=False, double_quote=False, ignore_empty_lines=False),
        csv.ConvertOptions(column_types=dict(zip(names, kinds, strict=True)), null_values=[], check_utf8=False),
    )


def read_slowly(path: Path, header: Header) -> tuple[list[bytes], np.ndarray]:
    """The same line by line, which finds the line that is broken.

    Raises:
        FormatError: saying the line.
    """
    words, matrix = list[bytes](), np.empty((header.words, header.dim), dtype=np.float32)
    with opened(path) as stream:
        stream.seek(header.end)
        for number, line in enumerate(stream, 2):
            if len(words) == header.words:
                if line.strip():
                    raise FormatError(f"{path}, line {number}: more than the {header.words} words of the header")
                continue
            word, *numbers = line.rstrip().split(b" ")
            matrix[len(words)] = components(numbers, header.dim, f"{path}, line {number}")
            words.append(word)
    if len(words) < header.words:
        raise FormatError(f"{path} is truncated: {len(words)} of the {header.words} words of its header")
    return words, matrix


def components(fields: list[bytes], dim: int, place: str) -> list[float]:
    """The numbers of one line.

    Raises:
        FormatError: another number of them than `dim`, or a field that is none.
    """
    if len(fields) != dim:
        raise FormatError(f"{place}: {len(fields)} components where the header says {dim}")
    wrong = next((field for field in fields if not is_number(field)), None)
    if wrong is not None:
        raise FormatError(f"{place}: {wrong.decode('utf-8', 'replace')!r} is not a number")
    return [float(field) for field in fields]
