"""Lines of a word and its components between spaces, as word2vec's text format and GloVe have them.

Arrow's CSV reader takes them where they are as they should be; a slow reader finds the line that is not.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from embeddings.corpora.reading.compressed_files import SNIFFED, compressed, plain
from embeddings.errors import FormatError
from embeddings.formats.row_reader import Rows
from embeddings.formats.text_columns import read_columns, side_by_side
from embeddings.support.arrow_arrays import array, scalar, strings
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_encoding import check_writable, encoded_words, is_number, written_blocks

BLANK = 10_000  # empty lines at the end of a file; a gigabyte of them fits into a megabyte of gzip


@dataclass(frozen=True)
class Layout:
    """What is known before the lines are read.

    Arguments:
        dim: components of each line.
        said: how messages say where `dim` comes from, as in "the header says".
        words: how many lines there must be; None where nobody says.
        skip: lines before the first vector.
        spaces: a word may hold spaces; its components are the last of the line.
    """

    dim: int
    said: str
    words: int | None = None
    skip: int = 0
    spaces: bool = False

    @property
    def longest(self) -> int:
        """Bytes that a line may take; whoever needs more is no line of vectors."""
        return self.dim * 64 + SNIFFED


def write_lines(vectors: Vectors, stream: BinaryIO, *, refused: re.Pattern[str], form: str) -> None:
    """Write all vectors: the shortest digits that give the same float32 again, as numpy and gensim write them.

    Raises:
        FormatError: the format cannot hold a word, or a vector holds a NaN.
    """
    check_writable(vectors)
    words = encoded_words(vectors, refused=refused, form=form)
    for block in written_blocks(vectors, 64):
        stream.write(b"".join(b"%b %b\n" % (next(words), row) for row in spelled(block, " ")))


def spelled(block: np.ndarray, separator: str) -> list[bytes]:
    """Each row of a matrix as its numbers, parted by the separator."""
    import pyarrow as pa
    import pyarrow.compute as pc

    offsets = np.arange(0, block.size + 1, block.shape[1], dtype=np.int64)
    fields = pa.LargeListArray.from_arrays(array(offsets), shortest(block.ravel()).cast(pa.large_string()))
    rows: list[bytes] = pc.binary_join(fields, scalar(separator)).cast(pa.large_binary()).to_pylist()
    return rows


def shortest(values: np.ndarray) -> Any:
    """Each float32 as numpy (and so gensim) writes it, as an Arrow array of strings.

    Arrow's digits are the same and found faster, but it writes whole, very small and very large numbers
    in another way; those few go through numpy.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    sizes = np.abs(values)
    odd = ~((sizes > 1e-3) & (sizes < 1e5) & (values != np.trunc(values)))
    texts = array(values).cast(pa.string())
    if not odd.any():
        return texts
    instead = strings([str(value) for value in values[odd]]).cast(pa.string())
    return pc.replace_with_mask(texts, array(odd), instead)


def read_lines(path: Path, layout: Layout) -> Rows:
    """The words and their vectors.

    Raises:
        FormatError: a line is broken (its number is said), there are more or fewer than there must be, or the
            file is compressed and its data are broken or repeat a word.
    """
    return read_fast(path, layout) or read_slowly(path, layout)


def rows_for(path: Path, layout: Layout) -> Rows:
    """Room for what will be read; only the size of a plain file vouches for the number of its header."""
    return Rows(path, layout.dim, None if compressed(path) else layout.words)


def read_fast(path: Path, layout: Layout) -> Rows | None:
    """The same by Arrow's CSV reader; None for a file it does not take just as it stands."""
    import pyarrow as pa

    rows = rows_for(path, layout)
    try:
        for batch in batches(path, layout):
            if layout.words is not None and rows.count + batch.num_rows > layout.words:
                return None
            rows.add(batch.column(0).to_pylist(), side_by_side(batch.columns[1 : layout.dim + 1]))
            if batch.num_columns > layout.dim + 1 and any(batch.column(layout.dim + 1).to_pylist()):
                return None
    except (pa.ArrowException, ValueError):
        return None
    return rows if layout.words in (None, rows.count) else None


def batches(path: Path, layout: Layout) -> Iterator[Any]:
    """The lines as Arrow reads them: a column of words, then columns of float32.

    A last, empty column is where each line ends in a space.
    """
    import pyarrow as pa

    with plain(path) as stream:
        first = b"".join(stream.readline(layout.longest) for _ in range(layout.skip + 1))
    kinds = [pa.binary()] + [pa.float32()] * layout.dim
    kinds += [pa.binary()] if first.endswith((b" \n", b" \r\n")) else []
    with plain(path) as stream:
        for _ in range(layout.skip):
            stream.readline(layout.longest)
        yield from read_columns(stream, kinds, delimiter=" ", longest=layout.longest)


def read_slowly(path: Path, layout: Layout) -> Rows:
    """The same line by line, which finds the line that is broken.

    Raises:
        FormatError: saying the line.
    """
    rows, blank = rows_for(path, layout), 0
    for number, line in numbered(path, layout):
        place = f"{path}, line {number}"
        if blank and line.strip() and layout.words is None:
            raise FormatError(f"{path}, line {blank}: 0 components where {layout.said} {layout.dim}")
        if rows.count == layout.words or (layout.words is None and not line.strip()):
            if line.strip():
                raise FormatError(f"{place}: more than the {layout.words} words of the header")
            blank = blank or number
            if number - blank > BLANK:
                raise FormatError(f"{path}: more than {BLANK} empty lines follow line {blank - 1}")
            continue
        word, numbers = cut(line, layout)
        with np.errstate(over="ignore"):  # becomes infinity, which is refused by its word
            rows.add([word], np.array([components(numbers, layout, place)], np.float32))
    if layout.words is not None and rows.count < layout.words:
        raise FormatError(f"{path} is truncated: {rows.count} of the {layout.words} words of its header")
    return rows


def numbered(path: Path, layout: Layout) -> Iterator[tuple[int, bytes]]:
    """The lines of vectors with their numbers in the file.

    Raises:
        FormatError: one is longer than any line of vectors.
    """
    with plain(path) as stream:
        number = 0
        while line := stream.readline(layout.longest):
            number += 1
            if len(line) == layout.longest:
                raise FormatError(f"{path}, line {number}: longer than {layout.dim} components can be")
            if number > layout.skip:
                yield number, line


def cut(line: bytes, layout: Layout) -> tuple[bytes, list[bytes]]:
    """The word of a line, and the fields of its components."""
    word, *numbers = line.rstrip().split(b" ")
    beyond = len(numbers) - layout.dim
    if not layout.spaces or beyond <= 0:
        return word, numbers
    return b" ".join([word, *numbers[:beyond]]), numbers[beyond:]


def components(fields: list[bytes], layout: Layout, place: str) -> list[float]:
    """The numbers of one line.

    Raises:
        FormatError: another number of them than there must be, or a field that is none.
    """
    if len(fields) != layout.dim:
        raise FormatError(f"{place}: {len(fields)} components where {layout.said} {layout.dim}")
    wrong = next((field for field in fields if not is_number(field)), None)
    if wrong is not None:
        raise FormatError(f"{place}: {wrong.decode('utf-8', 'replace')!r:.80} is not a number")
    return [float(field) for field in fields]
