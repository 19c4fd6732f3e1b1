"""Documents as models learn them: where each stands, its row in the table of documents, its tag, and the table."""

import os
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import CorpusError, OutputError
from embeddings.kernels.block import new_block
from embeddings.kernels.document_lines import mark_documents_with_words
from embeddings.kernels.row_operations import padded
from embeddings.support.cache_folder import cache_folder
from embeddings.training.parameters import random_rows, zero_rows
from embeddings.training.worker import BlockStream

if TYPE_CHECKING:
    from embeddings.corpora import EncodedCorpus
    from embeddings.training.task import Task

How = Literal["auto", "lines", "blocks"]
LARGE = 1 << 30  # bytes; a larger table of documents lies in a file


@dataclass(frozen=True)
class Documents:
    """Documents of a corpus.

    Document i is `ids[borders[i]:borders[i + 1]]`, and its vector row `rows[i]` of a table of `count` rows: those of
    one tag share a row. `tags` (count,) is a pyarrow array of strings; None where documents are numbered.
    """

    borders: NDArray[np.int64]
    rows: NDArray[np.int64]
    count: int
    tags: Any = None


def corpus_documents(encoded: "EncodedCorpus", how: How = "auto") -> Documents:
    """The documents of a corpus.

    Arguments:
        how: "blocks": as the corpus has them: a row of a table, an item of an iterable, in plain text the lines
            between blank ones. "lines": each line; with tags, it has that of its row. "auto": lines where all is
            plain text, else blocks.

    Raises:
        CorpusError: some documents have a tag, and one has none.
    """
    lines, starts = np.asarray(encoded.sentences), np.asarray(encoded.documents)
    by_line = splits_by_line(how, encoded.meta["items"])
    borders = lines if by_line else lines[starts]
    count = len(borders) - 1
    if encoded.tags is None:
        return Documents(borders, np.arange(count), count)
    if encoded.tags.null_count:
        first = encoded.tags.is_null().index(True).as_py()
        raise CorpusError(f"document {first} has no tag: give each one, or leave out --tag-column")
    found = encoded.tags.dictionary_encode()
    rows = found.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return Documents(
        borders, np.repeat(rows, np.diff(starts)) if by_line else rows, len(found.dictionary), found.dictionary
    )


def splits_by_line(how: How, items: bool) -> bool:
    """Whether documents are lines; `items` tells that of a corpus any came as rows or items."""
    return how == "lines" or (how == "auto" and not items)


def initial_document_table(documents: Documents, ids: np.ndarray, vocabulary: int, dim: int, seed: int) -> np.ndarray:
    """The table as training starts, float32 (count, padded dim); zeros for documents without a known word.

    Raises:
        OutputError: it is large, and there is no room for its file.
    """
    size = documents.count, padded(dim)
    table = random_rows(documents.count, dim, seed, mapped(*size) if 4 * size[0] * size[1] > LARGE else zero_rows(*size))
    known = np.zeros(documents.count, np.bool_)
    mark_documents_with_words(ids, documents.borders, documents.rows, vocabulary, known)
    table[~known] = 0
    return table


def document_windows(task: "Task", documents: Documents, *, noise: int, shrink: bool, sharing: int) -> BlockStream:
    """What threads read: words in windows that do not leave their document, with `noise` words for each.

    `shrink` tells whether the reach of windows is drawn, `sharing` how many that lie apart share noise words.
    """
    source = task.source()._replace(lines=documents.borders, rows=documents.rows, shrink=shrink, sharing=sharing)
    return BlockStream(source, lambda: new_block(source.window, noise, documents=True))


def mapped(rows: int, width: int) -> np.ndarray:
    """Zeros in a file without a name that is mapped into memory, float32 (rows, width); it goes when they do.

    It lies in the cache folder, or where there is none among temporary files.

    Raises:
        OutputError: there is no room for it.
    """
    size, home = 4 * rows * width, cache_folder("scratch")
    try:
        with tempfile.TemporaryFile(dir=home) as file:
            if hasattr(os, "posix_fallocate"):  # a full disk is told now, not by a crash when pages are written
                os.posix_fallocate(file.fileno(), 0, size)
            return np.asarray(np.memmap(file, np.float32, "r+", shape=(rows, width)))
    except OSError as error:
        reason = f"{error.strerror or error}; EMBEDDINGS_CACHE moves it"
        raise OutputError(f"no room for a table of {rows} documents, {size:,} bytes in {home}: {reason}") from error
