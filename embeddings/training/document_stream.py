"""Documents in training: their table of vectors."""

import os
import tempfile
from typing import TYPE_CHECKING

import numpy as np

from embeddings.corpora.documents import Documents
from embeddings.errors import OutputError
from embeddings.kernels.hidden_layer import SINGLE_ROWS, TagRows
from embeddings.kernels.line_operations import mark_documents_with_words
from embeddings.kernels.row_operations import padded
from embeddings.models.table import Initializer, Table
from embeddings.support.cache_folder import cache_folder

if TYPE_CHECKING:
    from embeddings.training.training_data import TrainingData

MAX_MEMORY_BYTES = 1 << 30  # a larger table of documents is mapped from a file


def document_table(data: "TrainingData", documents: Documents, dim: int, init: Initializer) -> Table:
    """The table of document vectors: initialised by `init`, zeros for documents without a known word."""

    def initialize(table: np.ndarray, dim: int, seed: int) -> None:
        init(table, dim, seed)
        table[~rows_with_words(data, documents)] = 0

    rows, is_large = documents.count, 4 * documents.count * padded(dim) > MAX_MEMORY_BYTES
    zeros = (lambda: memory_mapped_zeros(rows, padded(dim))) if is_large else None
    return Table(rows=rows, dim=dim, axis="documents", init=initialize, seed=2**32, zeros=zeros)


def rows_with_words(data: "TrainingData", documents: Documents) -> np.ndarray:
    """Whether a document with each row has a known word (rows,)."""
    is_marked = np.zeros(documents.size if documents.has_several_tags else documents.count, np.bool_)
    ids, numbers = np.asarray(data.encoded.ids), documents.numbers
    mark_documents_with_words(ids, documents.borders, numbers, len(data.vocabulary), is_marked)
    if not documents.has_several_tags:
        return is_marked
    has_words = np.zeros(documents.count, np.bool_)
    has_words[documents.rows[np.repeat(is_marked, documents.tag_counts)]] = True
    return has_words


def tag_rows(documents: Documents) -> TagRows:
    """The rows of documents as kernels read them."""
    return SINGLE_ROWS if documents.starts is None else TagRows(documents.starts, documents.rows)


def memory_mapped_zeros(rows: int, width: int, dtype: type = np.float32, name: str = "documents") -> np.ndarray:
    """Zeros mapped from an unnamed temporary file, four bytes each, (rows, width); `name` says of what, for messages.

    The file is in the cache folder or, if there is none, the system's folder for temporary files.
    """
    size, folder = 4 * rows * width, cache_folder("scratch")
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):  # fail now if the disk is full, not by a crash when pages are written
                os.posix_fallocate(file.fileno(), 0, size)
            return np.asarray(np.memmap(file, dtype, "r+", shape=(rows, width)))
    except OSError as error:
        reason = f"{error.strerror or error}; set EMBEDDINGS_CACHE to another folder"
        raise OutputError(f"cannot map a table of {rows} {name}, {size:,} bytes, in {folder}: {reason}") from error
