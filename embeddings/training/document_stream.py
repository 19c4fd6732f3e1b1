"""Documents in training: their initial vectors, and the windows that threads read."""

import os
import tempfile
from typing import TYPE_CHECKING

import numpy as np

from embeddings.corpora.documents import Documents
from embeddings.errors import OutputError
from embeddings.kernels.block import new_block
from embeddings.kernels.line_operations import mark_documents_with_words
from embeddings.kernels.row_operations import padded
from embeddings.support.cache_folder import cache_folder
from embeddings.training.parameters import random_rows, zero_rows
from embeddings.training.worker import BlockStream

if TYPE_CHECKING:
    from embeddings.training.task import Task

MAX_MEMORY_BYTES = 1 << 30  # a larger table of documents is mapped from a file


def initial_document_table(task: "Task", documents: Documents) -> np.ndarray:
    """Initial document vectors, float32 (count, padded dim): random, zeros for documents without a known word."""
    rows, dim, width = documents.count, task.settings.dim, padded(task.settings.dim)
    is_large = 4 * rows * width > MAX_MEMORY_BYTES
    zeros = memory_mapped_zeros(rows, width) if is_large else zero_rows(rows, width)
    table, has_words = random_rows(rows, dim, task.seed + 2**32, zeros), np.zeros(rows, np.bool_)
    ids = np.asarray(task.encoded.ids)
    mark_documents_with_words(ids, documents.borders, documents.rows, len(task.vocabulary), has_words)
    table[~has_words] = 0
    return table


def document_windows(task: "Task", documents: Documents, *, noise: int, shrink: bool) -> BlockStream:
    """Context windows within documents, with `noise` negative samples each; `shrink` draws the size of each window."""
    source = task.source()._replace(lines=documents.borders, document_rows=documents.rows, shrink_window=shrink)
    return BlockStream(source, lambda: new_block(source.window, noise, documents=True))


def memory_mapped_zeros(rows: int, width: int) -> np.ndarray:
    """Zeros mapped from an unnamed temporary file, float32 (rows, width).

    The file is in the cache folder or, if there is none, the system's folder for temporary files.
    """
    size, folder = 4 * rows * width, cache_folder("scratch")
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):  # fail now if the disk is full, not by a crash when pages are written
                os.posix_fallocate(file.fileno(), 0, size)
            return np.asarray(np.memmap(file, np.float32, "r+", shape=(rows, width)))
    except OSError as error:
        reason = f"{error.strerror or error}; set EMBEDDINGS_CACHE to another folder"
        raise OutputError(f"cannot map a table of {rows} documents, {size:,} bytes, in {folder}: {reason}") from error
