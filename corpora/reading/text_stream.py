"""The texts of sources in batches: lines of plain text, rows of tables, items of iterables."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.encodings import UTF8
from embeddings.corpora.reading.reader import Block, ColumnBlock, Report, SourceReader, TokenLists
from embeddings.corpora.reading.sources import Source, total_size
from embeddings.corpora.reading.text_batches import text_batches
from embeddings.corpora.reading.text_rows import ColumnSelection, TextBlock

BATCH_BYTES = 1 << 19  # of text


@dataclass(frozen=True)
class TextBatch:
    """Complete texts as UTF-8 with where each starts, (texts + 1,); or as `lists` of tokens, then without text.

    columns: the kept columns of their table, a pyarrow table (texts,); None without any.
    """

    data: bytes
    starts: NDArray[np.int64]
    lists: Sequence[Sequence[bytes]] | None = None
    columns: Any = None

    def __len__(self) -> int:
        return len(self.starts) - 1 if self.lists is None else len(self.lists)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The bytes of each text (texts,)."""
        if self.lists is None:
            return np.diff(self.starts)
        return np.array([sum(map(len, tokens)) for tokens in self.lists], np.int64)

    def first(self, count: int) -> "TextBatch":
        """The first texts."""
        if self.lists is not None:
            return TextBatch(self.data, self.starts, self.lists[:count])
        return TextBatch(self.data[: self.starts[count]], self.starts[: count + 1])


def read_texts(
    sources: Iterable[Source],
    *,
    text_column: str | None = None,
    kept: Sequence[str] | None = (),
    encoding: str = UTF8,
    encoding_errors: str = "strict",
    rows: int | None = None,
    report: Report | None = None,
) -> Iterator[TextBatch]:
    """Yield the texts of sources. Nulls are empty texts. `kept` names columns of tables to keep; None for all.

    Raises:
        CorpusError: a source cannot be read, or has no such column.
    """
    sources = list(sources)
    columns = ColumnSelection(text=text_column, kept=kept)
    reader = SourceReader(encoding_errors, report, BATCH_BYTES, total_size(sources), columns, rows, encoding=encoding)
    for source in sources:
        yield from batches_of_blocks(reader.read(source))


def batches_of_blocks(blocks: Iterator[Block]) -> Iterator[TextBatch]:
    """The texts of the blocks of one source, which are either text or lists of tokens."""
    columns = ColumnQueue()
    blocks = columns.collect(blocks)
    for first in blocks:
        if isinstance(first, TokenLists):
            yield TextBatch(b"", np.zeros(1, np.int64), first.lists, columns.take(len(first.lists)))
        else:
            for data, starts in text_batches(chain([first], blocks)):
                yield TextBatch(data, starts, None, columns.take(len(starts) - 1))


class ColumnQueue:
    """The kept columns of rows whose texts follow, in parts of other sizes."""

    def __init__(self) -> None:
        self.tables: deque[Any] = deque()

    def collect(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks of texts."""
        for block in blocks:
            if isinstance(block, ColumnBlock):
                self.tables.append(block.columns)
            elif isinstance(block, TextBlock | TokenLists):
                yield block

    def take(self, count: int) -> Any:
        """The columns of the next texts, a pyarrow table; None if no columns are kept."""
        if not self.tables:
            return None
        import pyarrow

        parts = []
        while count:
            table = self.tables.popleft()
            parts.append(table.slice(0, count))
            count -= len(parts[-1])
            if len(parts[-1]) < len(table):
                self.tables.appendleft(table.slice(len(parts[-1])))
        return pyarrow.concat_tables(parts) if len(parts) != 1 else parts[0]
