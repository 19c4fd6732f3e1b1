"""Texts with labels, batch by batch: lines in the form of fastText, rows of tables, or Python mappings."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.column_selection import ColumnSelection
from embeddings.corpora.reading.encodings import UTF8
from embeddings.corpora.reading.reader import Report, SourceReader
from embeddings.corpora.reading.sources import Source, total_size
from embeddings.corpora.reading.tables import Table
from embeddings.corpora.reading.text_block import TextBlock, text_batches
from embeddings.errors import CorpusError, S, SettingError

PREFIX = "__label__"  # of labels, in plain text of fastText
SPACE = b" \n\r\t\v\f\0"  # what separates words in fastText
LABEL_COLUMN = "label"
BATCH_BYTES = 1 << 22


@dataclass(frozen=True)
class LabelledTexts:
    """A batch of texts and their labels.

    Text i is `data[starts[i]:starts[i + 1]]`, in UTF-8, with `starts` int64 (texts + 1,); its labels, distinct and
    without prefix, are `labels[i]`. `source`, `unit` and `first`, the number of the first text of the batch in the
    source, from 0, are for messages.
    """

    data: bytes
    starts: NDArray[np.int64]
    labels: list[list[str]]
    source: str
    unit: str
    first: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    def position(self, text: int) -> str:
        """The position of a text in its source, such as "train.txt, line 7"."""
        return f"{self.source}, {self.unit} {self.first + text + 1}"

    def part(self, first: int, stop: int) -> "LabelledTexts":
        """The texts `first` to `stop` of the batch."""
        starts, labels = self.starts[first : stop + 1], self.labels[first:stop]
        return replace(self, starts=starts, labels=labels, first=self.first + first)


@dataclass
class LabelColumns(ColumnSelection):
    """Columns of labelled tables: `text` and `label` unless others are requested."""

    def tag_columns(self, table: Table) -> Sequence[str]:
        """Return the label column of a table; raises CorpusError if the table does not have it."""
        if not self.tags and LABEL_COLUMN not in table.columns:
            raise CorpusError(f"{table.name} has no column {LABEL_COLUMN!r}; select the labels with {S.label_column}")
        return self.tags or (LABEL_COLUMN,)


@dataclass(frozen=True)
class LabelFormat:
    """How labels are written.

    Arguments:
        prefix: the prefix of the words of a plain text that are its labels. The labels of tables lose it too.
        text_column: the text column of tables; by default `text`, or the only column of strings besides the labels.
        label_column: the label column of tables: strings, integers, or lists of them. The default is label.
        separator: what separates several labels in a cell, such as a comma. By default a cell is one label.
    """

    prefix: str = PREFIX
    text_column: str | None = None
    label_column: str | None = None
    separator: str | None = None

    def __post_init__(self) -> None:
        prefix = self.prefix.encode("utf-8", "replace")
        if not prefix or any(byte in SPACE for byte in prefix):
            raise SettingError(f"{S.label_prefix} must be a string without white space, got {self.prefix!r}")

    def read(
        self,
        sources: Sequence[Source],
        *,
        encoding: str = UTF8,
        encoding_errors: str = "strict",
        report: Report | None = None,
        rows: int | None = None,
        size: int = BATCH_BYTES,
    ) -> Iterator[LabelledTexts]:
        """Yield the texts of all sources, about `size` bytes at a time; texts without labels too.

        Lines of plain text include their line feed, if any. Arguments are those of `SourceReader`.
        """
        reader = SourceReader(
            encoding_errors, report, size, total_size(sources), self.columns(), rows, encoding=encoding
        )
        for source in sources:
            yield from self.batches(reader.read(source), source.name)

    def columns(self) -> "LabelColumns":
        """The columns to read of tables."""
        return LabelColumns(self.text_column, (self.label_column,) if self.label_column else ())

    def batches(self, blocks: Iterable[TextBlock], source: str) -> Iterator[LabelledTexts]:
        """Yield the texts of the blocks of one source."""
        first = 0
        for block in text_batches(blocks):
            block.check_text(source, "texts with labels")
            if block.tags is not None:
                labels = [self.split_tag(tag) for tag in block.tags.to_pylist()]
                yield LabelledTexts(block.data, block.starts, labels, source, "row", first)
            elif block.parts_are_documents:  # with line feeds between them, so that no word continues in the next item
                texts = [block.data[start:stop] + b"\n" for start, stop in pairwise(block.starts.tolist())]
                starts = block.starts + np.arange(len(texts) + 1)
                yield self.split_lines(b"".join(texts), starts, source, "item", first)
            else:
                yield self.split_lines(block.data, block.starts, source, "line", first)
            first += len(block)

    def split_tag(self, tag: str | Sequence[str | None] | None) -> list[str]:
        """Return the distinct labels of a row; null and empty cells have none."""
        names = [tag] if isinstance(tag, str) else [name for name in tag or () if name is not None]
        if self.separator is not None:
            names = [part for name in names for part in name.split(self.separator)]
        return [name for name in dict.fromkeys(name.strip().removeprefix(self.prefix) for name in names) if name]

    def split_lines(self, data: bytes, starts: NDArray[np.int64], source: str, unit: str, first: int) -> LabelledTexts:
        """Separate the words and the labels of lines."""
        # a label begins a word: x__label__y is a word of the text
        is_border = np.zeros(len(data) + 1, bool)  # whether a word may begin at a byte
        is_border[1:] = IS_SPACE[np.frombuffer(data, np.uint8)]
        is_border[starts] = True
        prefix = self.prefix.encode()
        words = re.finditer(re.escape(prefix) + b"[^" + SPACE + b"]*", data)
        spans = np.array([word.span() for word in words], np.int64).reshape(-1, 2)
        spans = spans[is_border[spans[:, 0]]]
        names = [data[begin + len(prefix) : end].decode() for begin, end in spans.tolist()]
        ends = np.searchsorted(spans[:, 0], starts).tolist()  # in names, of the labels of each text
        labels = [list(dict.fromkeys(names[begin:end])) for begin, end in pairwise(ends)]
        kept_borders = zip([0, *spans[:, 1].tolist()], [*spans[:, 0].tolist(), len(data)], strict=True)
        text = b"".join([data[begin:end] for begin, end in kept_borders])
        removed = np.cumsum([0, *(spans[:, 1] - spans[:, 0])])
        text_starts = starts - removed[np.searchsorted(spans[:, 0], starts)]
        batch = LabelledTexts(text, text_starts, labels, source, unit, first)
        if "" in names:
            text_number = next(number for number, one in enumerate(labels) if "" in one)
            raise CorpusError(f"{batch.position(text_number)}: the label {self.prefix} has no name")
        return batch


IS_SPACE = np.isin(np.arange(256), list(SPACE))
