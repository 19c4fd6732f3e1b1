"""The documents of an encoded corpus: where each begins, and which of them share a tag."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.errors import CorpusError

DocumentUnit = Literal["auto", "lines", "blocks"]


@dataclass(frozen=True)
class Documents:
    """Documents of a corpus.

    Document i is `ids[borders[i]:borders[i + 1]]`, and its vector is row `rows[i]` of a table of `count` rows:
    documents with the same tag share a row. `tags` (count,) is a pyarrow array of strings; None if documents are
    numbered.
    """

    borders: NDArray[np.int64]
    rows: NDArray[np.int64]
    count: int
    tags: Any = None


def corpus_documents(encoded: EncodedCorpus, unit: DocumentUnit = "auto") -> Documents:
    """Return the documents of a corpus.

    Arguments:
        unit: "blocks": a row of a table, an item of an iterable, or in plain text the lines between blank lines.
            "lines": each line; in a tagged corpus it has the tag of its row. "auto": lines if all sources are plain
            text, else blocks.

    Raises:
        CorpusError: some documents have a tag and others do not.
    """
    starts, borders = np.asarray(encoded.documents), document_borders(encoded, unit)
    by_line = splits_by_line(unit, encoded.meta["has_items"])
    count = len(borders) - 1
    if encoded.tags is None:
        return Documents(borders, np.arange(count), count)
    if encoded.tags.null_count:
        first = encoded.tags.is_null().index(True).as_py()
        raise CorpusError(f"document {first} has no tag: tag every document, or omit tag_column")
    dictionary_array = encoded.tags.dictionary_encode()
    rows = dictionary_array.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    rows = np.repeat(rows, np.diff(starts)) if by_line else rows
    return Documents(borders, rows, len(dictionary_array.dictionary), dictionary_array.dictionary)


def document_borders(encoded: EncodedCorpus, unit: DocumentUnit) -> NDArray[np.int64]:
    """Return where documents begin in `encoded.ids`, and where the last one ends."""
    lines, starts = np.asarray(encoded.sentences), np.asarray(encoded.documents)
    return lines if splits_by_line(unit, encoded.meta["has_items"]) else lines[starts]


def splits_by_line(unit: DocumentUnit, has_items: bool) -> bool:
    """Whether each line is a document; `has_items`: some text of the corpus came as rows or items."""
    return unit == "lines" or (unit == "auto" and not has_items)
