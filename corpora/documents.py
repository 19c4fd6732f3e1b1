"""Documents of an encoded corpus: boundaries and tags; several documents may share a tag."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.errors import CorpusError, S
from embeddings.support.arrow import to_numpy

DocumentUnit = Literal["auto", "lines", "blocks"]


@dataclass(frozen=True)
class Documents:
    """The boundaries, vector rows and tags of the documents of a corpus.

    Document i is `ids[borders[i]:borders[i + 1]]`, and its vector is row `rows[i]` of a table of `count` rows:
    documents with the same tag share a row. With `starts` (documents + 1,) it has several tags, and its rows are
    `rows[starts[i]:starts[i + 1]]`. `tags` (count,) is a pyarrow array of strings; None if documents are numbered.
    """

    borders: NDArray[np.int64]
    rows: NDArray[np.int64]
    count: int
    tags: Any = None
    starts: NDArray[np.int64] | None = None

    @property
    def size(self) -> int:
        """The number of documents."""
        return len(self.borders) - 1

    @property
    def has_several_tags(self) -> bool:
        """Whether a document has several tags."""
        return self.starts is not None

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The number of each document in blocks of text (documents,): its row, or its index if any has several rows."""
        return np.arange(self.size) if self.has_several_tags else self.rows

    @property
    def tag_counts(self) -> NDArray[np.int64]:
        """How many rows each document has (documents,)."""
        return np.ones(self.size, np.int64) if self.starts is None else np.diff(self.starts)


def corpus_documents(encoded: EncodedCorpus, unit: DocumentUnit = "auto") -> Documents:
    """Return the documents of a corpus.

    Arguments:
        unit: what a document is. "blocks": a row of a table, an item of an iterable, or in plain text the lines between
            blank lines. "lines": each line; in a tagged corpus it has the tag of its row. "auto": lines if all sources
            are plain text, else blocks.

    Raises:
        CorpusError: some documents have a tag and others do not.
    """
    starts, borders = np.asarray(encoded.documents), document_borders(encoded, unit)
    by_line = splits_by_line(unit, encoded.meta["has_items"])
    count = len(borders) - 1
    if encoded.tags is None:
        return Documents(borders, np.arange(count), count)
    tag_starts = encoded.tag_starts
    if encoded.tags.null_count:
        first = encoded.tags.is_null().index(True).as_py()
        first = first if tag_starts is None else int(np.searchsorted(tag_starts, first, side="right")) - 1
        raise CorpusError(f"document {first} has no tag: tag every document, or omit {S.tag_column}")
    dictionary_array = encoded.tags.dictionary_encode()
    rows = to_numpy(dictionary_array.indices).astype(np.int64)
    document = np.repeat(np.arange(len(starts) - 1), np.diff(starts)) if by_line else np.arange(count)
    if tag_starts is None:
        rows = rows[document] if by_line else rows
    else:
        rows, tag_starts = take_ranges(rows, np.asarray(tag_starts), document)
    return Documents(borders, rows, len(dictionary_array.dictionary), dictionary_array.dictionary, tag_starts)


def take_ranges(
    items: NDArray[np.int64], starts: NDArray[np.int64], numbers: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the items of selected ranges, and where each selected range begins in the result, (numbers + 1,).

    Arguments:
        starts: where all ranges begin in `items`, (ranges + 1,).
        numbers: the selected ranges, in the order of the result.
    """
    sizes = np.diff(starts)[numbers]
    return items[range_indices(starts[numbers], sizes)], np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def range_indices(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices in ranges that begin at `starts` and have `sizes` items, one range after another."""
    offsets: NDArray[np.int64] = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
    return offsets + np.arange(len(offsets))


def document_borders(encoded: EncodedCorpus, unit: DocumentUnit) -> NDArray[np.int64]:
    """Return where documents begin in `encoded.ids`, and where the last one ends."""
    lines, starts = np.asarray(encoded.sentences), np.asarray(encoded.documents)
    return lines if splits_by_line(unit, encoded.meta["has_items"]) else lines[starts]


def splits_by_line(unit: DocumentUnit, has_items: bool) -> bool:
    """Whether each line is a document; `has_items`: some text of the corpus came as rows or items."""
    return unit == "lines" or (unit == "auto" and not has_items)
