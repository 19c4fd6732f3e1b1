"""Tags of documents in inference: their trained vectors take part in the predictions, and stay constant."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.documents import Documents
from embeddings.errors import CorpusError, SettingError
from embeddings.kernels.tag_rows import TagRows
from embeddings.models.model import Model
from embeddings.models.parameters import zero_rows
from embeddings.support.arrow_arrays import to_string_array


@dataclass(frozen=True)
class InferenceTags:
    """The tags of documents that a model knows.

    Arguments:
        rows: of the model's table of documents, for all documents in order.
        starts: where those of each document begin, (documents + 1,).
    """

    rows: NDArray[np.int64]
    starts: NDArray[np.int64]

    def check_counts(self, count: int) -> None:
        """Refuse documents without exactly `count` known tags."""
        counts = np.diff(self.starts)
        if len(counts) and (counts != count).any():
            first = int(np.argmax(counts != count))
            raise CorpusError(
                f"the model concatenates the vector of a document with those of its known tags: document {first} has "
                f"{counts[first]} of them, expected {count}; in a corpus, the first tag of a document is its name"
            )

    def document_rows(self, table: np.ndarray, dim: int) -> np.ndarray:
        """A row for the new document, then those of the tags that documents have; float32 (rows, padded dim)."""
        used = np.unique(self.rows)
        rows = zero_rows(1 + len(used), dim)
        rows[1:, :dim] = table[used]
        return rows

    def tag_rows(self) -> TagRows:
        """The rows of each document in `document_rows`, the new one first."""
        numbers = 1 + np.unique(self.rows, return_inverse=True)[1].astype(np.int64)
        return TagRows(self.starts + np.arange(len(self.starts)), np.insert(numbers, self.starts[:-1], 0))


def tags_of_corpus(model: Model, documents: Documents) -> InferenceTags | None:
    """The tags of the documents of a corpus without the first of each, its name; None if there are no others."""
    if documents.starts is None:
        return None
    rows = known_rows(model, documents.tags)[documents.rows]
    rows[documents.starts[:-1]] = -1
    return known_tags(rows, np.diff(documents.starts))


def tags_of_texts(model: Model, tags: Any, texts: int) -> InferenceTags | None:
    """The given tags of this many texts; None if there are none."""
    if tags is None:
        return None
    lists = tags if isinstance(tags, Sequence) and not isinstance(tags, str) else []
    if len(lists) != texts or not all(is_list_of_strings(one) for one in lists):
        raise SettingError(f"tags must be a list of tags for each of the {texts} texts, got {tags!r:.80}")
    distinct = [list(dict.fromkeys(one)) for one in lists]
    names = to_string_array([tag for one in distinct for tag in one])
    return known_tags(known_rows(model, names), np.array([len(one) for one in distinct], np.int64))


def is_list_of_strings(value: Any) -> bool:
    """Whether a value is a list or tuple of strings."""
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def known_rows(model: Model, tags: Any) -> NDArray[np.int64]:
    """The row of each tag in the model's table of documents, -1 for unknown tags; a new array."""
    import pyarrow.compute

    if model.tags is None:
        return np.full(len(tags), -1, np.int64)
    rows = pyarrow.compute.index_in(to_string_array(tags), value_set=to_string_array(model.tags))
    return np.array(rows.fill_null(-1), np.int64)


def known_tags(rows: NDArray[np.int64], counts: NDArray[np.int64]) -> InferenceTags:
    """The rows that are known, given those of all tags and how many tags each document has."""
    document = np.repeat(np.arange(len(counts)), counts)[rows >= 0]
    starts = np.concatenate([[0], np.cumsum(np.bincount(document, minlength=len(counts)))])
    return InferenceTags(rows[rows >= 0], starts.astype(np.int64))
