"""The texts of sources in batches: lines of plain text, rows of tables, items of iterables."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.encodings import UTF8
from embeddings.corpora.reading.reader import Block, Report, SourceReader, TokenLists
from embeddings.corpora.reading.sources import Source, file_statuses
from embeddings.corpora.reading.text_batches import text_batches
from embeddings.corpora.reading.text_rows import ColumnSelection

BATCH_BYTES = 1 << 19  # of text


@dataclass(frozen=True)
class TextBatch:
    """Complete texts as UTF-8 with where each starts, (texts + 1,); or as `lists` of tokens, then without text."""

    data: bytes
    starts: NDArray[np.int64]
    lists: Sequence[Sequence[bytes]] | None = None

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
    encoding: str = UTF8,
    encoding_errors: str = "strict",
    rows: int | None = None,
    report: Report | None = None,
) -> Iterator[TextBatch]:
    """Yield the texts of sources. Nulls are empty texts.

    Raises:
        CorpusError: a source cannot be read, or has no such column.
    """
    sources = list(sources)
    statuses = file_statuses(sources)
    total = None if statuses is None else sum(status.st_size for status in statuses)
    columns = ColumnSelection(text=text_column)
    reader = SourceReader(encoding_errors, report, BATCH_BYTES, total, columns, rows, encoding=encoding)
    for source in sources:
        yield from batches_of_blocks(reader.read(source))


def batches_of_blocks(blocks: Iterator[Block]) -> Iterator[TextBatch]:
    """The texts of the blocks of one source, which are either text or lists of tokens."""
    for first in blocks:
        if isinstance(first, TokenLists):
            yield TextBatch(b"", np.zeros(1, np.int64), first.lists)
        else:
            for data, starts in text_batches(chain([first], blocks)):
                yield TextBatch(data, starts)
