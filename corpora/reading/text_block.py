"""`TextBlock`: the unit in which the text of every source is read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.tag_arrays import concatenate_tags, list_sizes
from embeddings.errors import CorpusError
from embeddings.support.arrow import concatenate_tables, pa, pc, string_bytes, to_arrow, to_string_array

MAX_ROW = 1 << 24  # characters of a row of CSV or JSON lines, which takes up to ten times as many bytes of memory


@dataclass(frozen=True)
class TextBlock:
    """A part of the text of one source, in UTF-8: bytes of a file, or whole rows of a table or items of an iterable.

    Arguments:
        data: the texts one after another; complete code points.
        ends: the byte offset in `data` where each part ends; a part is a file, a row, an item or, from `text_batches`,
            a line.
        parts_are_documents: each part is one document; else blank lines separate documents.
        is_complete: the last part ends with the block; else it continues in the next one.
        tags: the tags of each row, a pyarrow array of large strings or of lists of them; None without tag columns.
        columns: the kept columns of the rows, a pyarrow table; None if none are kept.
        token_lists: the tokens of each row, a pyarrow array of large lists of large strings, if rows are tokenized
            already; `data` and `ends` are then empty.
        vectors: the vector of each row, (rows, dim); None if they have none.
    """

    data: bytes
    ends: Sequence[int] | NDArray[np.int64]
    parts_are_documents: bool = True
    is_complete: bool = True
    tags: Any = None
    columns: Any = None
    token_lists: Any = None
    vectors: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.ends if self.token_lists is None else self.token_lists)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each part begins, and where the last one ends, (parts + 1,)."""
        return np.append(0, np.asarray(self.ends, np.int64))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The bytes of each part (parts,)."""
        if self.token_lists is None:
            return np.diff(self.starts)
        _, starts = string_bytes(self.token_lists.flatten())
        sizes: NDArray[np.int64] = np.diff(starts[np.append(0, np.cumsum(list_sizes(self.token_lists)))])
        return sizes

    def check_text(self, name: str, expected: str) -> None:
        """Refuse lists of tokens in the source `name`; `expected` says what it must contain."""
        if self.token_lists is not None:
            raise CorpusError(f"{name} contains lists of tokens; expected {expected}")

    def texts(self) -> list[str]:
        """The text of each part; lines of plain text without their line ends."""
        return list(self.string_array().to_pylist())

    def string_array(self) -> Any:
        """The text of each part as a pyarrow array of large strings."""
        if self.token_lists is not None:
            return to_string_array([" ".join(tokens or ()) for tokens in self.token_lists.to_pylist()])
        buffers = [None, pa.py_buffer(self.starts), pa.py_buffer(self.data)]
        strings = pa.Array.from_buffers(pa.large_string(), len(self), buffers)
        return strings if self.parts_are_documents else pc.ascii_rtrim(strings, "\r\n")

    def slice(self, start: int, stop: int) -> "TextBlock":
        """Return the rows from `start` to `stop`, with their tags, columns and vectors."""
        if start == 0 and stop >= len(self):
            return self
        parts = self.other_parts(lambda part: part.slice(start, stop - start), slice(start, stop))
        if self.token_lists is not None:
            return replace(self, token_lists=self.token_lists.slice(start, stop - start), **parts)
        starts = self.starts[start : stop + 1]
        return replace(self, data=self.data[starts[0] : starts[-1]], ends=starts[1:] - starts[0], **parts)

    def other_parts(self, of_arrow: Callable[[Any], Any], rows: Any) -> dict[str, Any]:
        """Return the tags, columns and vectors of some rows, the first two by a method of pyarrow."""
        tags, columns = (None if part is None else of_arrow(part) for part in (self.tags, self.columns))
        return {"tags": tags, "columns": columns, "vectors": None if self.vectors is None else self.vectors[rows]}

    def split(self, size: int) -> "Iterator[TextBlock]":
        """Yield the rows in blocks of at most `size` bytes, or of one longer row; lists of tokens as they are."""
        yield from (self.slice(start, stop) for start, stop in parts_of_size(self.starts[1:], size))
        if self.token_lists is not None:
            yield self

    def select(self, is_kept: NDArray[np.bool_]) -> "TextBlock":
        """Return some of the rows, with their tags, columns and vectors; `is_kept` is (rows,)."""
        parts = self.other_parts(lambda part: part.filter(to_arrow(is_kept)), is_kept)
        if self.token_lists is not None:
            return replace(self, token_lists=self.token_lists.filter(to_arrow(is_kept)), **parts)
        data = np.frombuffer(self.data, np.uint8)[np.repeat(is_kept, self.sizes)].tobytes()
        return replace(self, data=data, ends=np.cumsum(self.sizes[is_kept]), **parts)

    @classmethod
    def of_file(cls, data: bytes) -> "TextBlock":
        """Build a part of a file of plain text that continues in the next block."""
        return cls(data, (len(data),), parts_are_documents=False, is_complete=False)


def parts_of_size(ends: NDArray[np.int64], size: int, n_rows: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield where parts of rows begin and stop: at most `size` bytes, or one longer row, and at most `n_rows` rows.

    ends: (rows,) the byte at which each row ends.
    """
    start = 0
    while start < len(ends):
        limit = size + (int(ends[start - 1]) if start else 0)
        stop = max(int(np.searchsorted(ends, limit, side="right")), start + 1)
        stop = stop if n_rows is None else min(stop, start + n_rows)
        yield start, stop
        start = stop


FILE_END = TextBlock(b"", (0,), parts_are_documents=False)


def text_batches(blocks: Iterable[TextBlock]) -> Iterator[TextBlock]:
    """Yield the text of one source in blocks of complete rows or lines; each row or line is one part.

    A line of plain text includes its line feed; after the last line feed, there is a line only if it is not empty.
    """
    pieces: list[bytes] = []  # of a line that continues in the next block
    for block in blocks:
        if block.parts_are_documents:
            yield block
            continue
        pieces.append(block.data)
        data = np.frombuffer(block.data, np.uint8)
        before = sum(map(len, pieces[:-1]))
        ends = np.flatnonzero(data == ord("\n")) + 1 + before
        if block.is_complete and before + len(data) > (ends[-1] if len(ends) else 0):
            ends = np.append(ends, before + len(data))
        if len(ends):
            text = b"".join(pieces)
            yield TextBlock(text[: ends[-1]], ends, parts_are_documents=False)
            pieces = [text[ends[-1] :]]


def split_text(data: bytes, size: int) -> Iterator[TextBlock]:
    """Yield one item of valid UTF-8 in blocks of about `size` bytes, then its end."""
    start = 0
    while start < len(data):
        stop = min(start + size, len(data))
        # the scanner reads whole code points only
        while stop < len(data) and data[stop] & 0xC0 == 0x80:  # within a code point
            stop += 1
        yield TextBlock(data[start:stop], (stop - start,), is_complete=False)
        start = stop
    yield TextBlock(b"", (0,))


def merge_blocks(blocks: Iterable[TextBlock], size: int) -> Iterator[TextBlock]:
    """Yield rows in fewer blocks, of `size` bytes or more each; lists of tokens as they are."""
    buffer: list[TextBlock] = []
    length = 0
    for rows in blocks:
        if rows.token_lists is None:
            buffer.append(rows)
            length += len(rows.data) + (0 if rows.vectors is None else rows.vectors.nbytes)
        if buffer and (length >= size or rows.token_lists is not None):
            yield concatenate_rows(buffer)
            buffer, length = [], 0
        if rows.token_lists is not None:
            yield rows
    if buffer:
        yield concatenate_rows(buffer)


def concatenate_rows(blocks: list[TextBlock]) -> TextBlock:
    """Concatenate the rows of blocks."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    tags = None if first.tags is None else concatenate_tags([rows.tags for rows in blocks])
    columns = None if first.columns is None else concatenate_tables([rows.columns for rows in blocks])
    vectors = None if first.vectors is None else np.concatenate([rows.vectors for rows in blocks])
    ends = np.cumsum(np.concatenate([rows.sizes for rows in blocks]))
    return TextBlock(b"".join(rows.data for rows in blocks), ends, tags=tags, columns=columns, vectors=vectors)


def count_lines(text: bytes, end: int = -1) -> int:
    """Return the number of line feeds before a byte; numpy counts frequent bytes faster than `bytes.count`."""
    return int(np.count_nonzero(np.frombuffer(text, np.uint8, end) == ord("\n")))


def is_long(text: bytes) -> bool:
    """Whether text in UTF-8 is longer than a row may be."""
    return len(text) > MAX_ROW and len(text.decode()) > MAX_ROW


def gather(blocks: Iterator[bytes], size: int) -> bytes:
    """Join the next blocks until they have `size` or a quarter of MAX_ROW bytes; one block at least, empty at the end.

    A row that continues doubles its text each time, so that reading a long one takes linear time.
    """
    pieces = [next(blocks, b"")]
    length = len(pieces[0])
    while length < min(size, MAX_ROW // 4) and (block := next(blocks, b"")):
        pieces.append(block)
        length += len(block)
    return b"".join(pieces)
