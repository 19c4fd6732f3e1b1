"""Documents of an encoded corpus: boundaries, tags and labels; several documents may share a tag."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, S
from embeddings.support.arrow import to_numpy

DocumentUnit = Literal["auto", "lines", "blocks", "files"]


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
            blank lines. "lines": each line; in a tagged corpus it has the tag of its row. "files": each file of plain
            text that has words. "auto": lines if all sources are plain text, else blocks.

    Raises:
        CorpusError: some documents have a tag and others do not, or a source of "files" is not a file of plain text.
    """
    borders = document_borders(encoded, unit)
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
    document = first_documents(encoded, unit)
    if tag_starts is None:
        rows = rows[document]
    else:
        sizes = np.diff(tag_starts)[document]
        rows, tag_starts = rows[range_indices(tag_starts[document], sizes)], np.append(0, np.cumsum(sizes))
    return Documents(borders, rows, len(dictionary_array.dictionary), dictionary_array.dictionary, tag_starts)


def range_indices(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices in ranges that begin at `starts` and have `sizes` items, one range after another."""
    offsets: NDArray[np.int64] = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
    return offsets + np.arange(len(offsets))


def document_borders(encoded: EncodedCorpus, unit: DocumentUnit) -> NDArray[np.int64]:
    """Return where documents begin in `encoded.ids`, and where the last one ends."""
    return np.asarray(encoded.sentences)[unit_starts(encoded, unit)]


def unit_starts(encoded: EncodedCorpus, unit: DocumentUnit) -> NDArray[np.int64]:
    """Return the sentences at which units begin, and their number, (units + 1,)."""
    if splits_by_line(unit, encoded.meta["has_items"]):
        return np.arange(len(encoded.sentences))
    starts = np.asarray(encoded.documents)
    if unit != "files":
        return starts
    if not encoded.meta.get("file_ends"):
        raise CorpusError("'files' requires files of plain text; the corpus has a table, standard input or an iterable")
    borders: NDArray[np.int64] = starts[np.unique([0, *encoded.meta["file_ends"]])]  # without files that have no words
    return borders


def first_documents(encoded: EncodedCorpus, unit: DocumentUnit) -> NDArray[np.int64]:
    """Return the number of the row, item or block in which each unit begins, (units,)."""
    starts = unit_starts(encoded, unit)[:-1]
    return np.asarray(np.searchsorted(encoded.documents, starts, side="right") - 1)


def splits_by_line(unit: DocumentUnit, has_items: bool) -> bool:
    """Whether each line is a document; `has_items`: some text of the corpus came as rows or items."""
    return unit == "lines" or (unit == "auto" and not has_items)


PREFIXED = "has_label_prefix"  # in the description of a corpus: whether labels were written with their prefix


@dataclass(frozen=True)
class TextLabels:
    """The labels of texts.

    The labels of text i are `ids[starts[i]:starts[i + 1]]`, rows of `vocabulary`, which counts the texts with each
    label; `starts` is int64 (texts + 1,), `ids` int64 (labels of all texts,).
    """

    vocabulary: Vocabulary
    starts: NDArray[np.int64]
    ids: NDArray[np.int64]


def corpus_labels(encoded: EncodedCorpus, min_count: int = 1, known: Collection[str] = ()) -> TextLabels:
    """The labels of the documents of a corpus that are `known` or occur at least `min_count` times.

    Raises:
        CorpusError: fewer than two labels remain; with `known`, no label remains.
    """
    tags, texts = encoded.tags.dictionary_encode(), np.arange(encoded.meta["documents"])
    if encoded.tag_starts is not None:
        texts = np.repeat(texts, np.diff(encoded.tag_starts))
    names, ids = tags.dictionary.to_pylist(), to_numpy(tags.indices.fill_null(-1)).astype(np.int64)
    texts, ids = texts[ids >= 0], ids[ids >= 0]  # without those of texts that have no label
    vocabulary, rank = ranked_labels(names, np.bincount(ids, minlength=len(names)), min_count, known)
    ids = rank[ids]
    texts, ids = texts[ids >= 0], ids[ids >= 0]
    return TextLabels(vocabulary, np.searchsorted(texts, np.arange(encoded.meta["documents"] + 1)), ids)


def ranked_labels(
    names: list[str], counts: NDArray[np.int64], min_count: int, known: Collection[str] = ()
) -> tuple[Vocabulary, NDArray[np.int64]]:
    """The labels with at least `min_count` texts, most frequent first, and the row of each label, -1 for others."""
    order = np.argsort(-counts, kind="stable")
    known = frozenset(known)
    order = order[[counts[row] >= min_count or names[row] in known for row in order.tolist()]]
    required = 1 if known else 2
    if len(order) < required:
        names_of_some = ", ".join(map(repr, names[:3]))
        limit = f"are known to the model or occur at least {min_count} times" if known else f"occur {min_count} times"
        problem = f"{len(order)} of {len(names)} labels ({names_of_some}) {limit}; at least {required} must"
        remedy = f"the labels, or lower {S.min_label_count}" if names else f"{S.label_prefix} or {S.label_column}"
        raise CorpusError(f"{problem if names else 'no text has a label'}: check {remedy}")
    rank = np.full(len(names), -1, np.int64)
    rank[order] = np.arange(len(order))
    return Vocabulary([names[row] for row in order], counts[order]), rank
