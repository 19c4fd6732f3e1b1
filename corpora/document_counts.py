"""Document frequency: the number of documents of an encoded corpus that contain each word."""

import numpy as np
from numpy.typing import NDArray

from embeddings.compilation.jit import entry_point
from embeddings.corpora.documents import DocumentUnit, document_borders
from embeddings.corpora.encoded_corpus import EncodedCorpus


@entry_point
def count_documents(ids: np.ndarray, borders: np.ndarray, last: np.ndarray, counts: np.ndarray) -> None:
    """counts[w] += 1 for each document that contains id w; `last` has the last document with w, initially -1."""
    for document in range(borders.shape[0] - 1):
        for place in range(borders[document], borders[document + 1]):
            word = ids[place]
            if word < counts.shape[0] and last[word] != document:
                last[word] = document
                counts[word] += 1


def document_counts(encoded: EncodedCorpus, unit: DocumentUnit = "auto") -> NDArray[np.int64]:
    """Return the number of documents that contain each type, (types,); for `unit` see `corpus_documents`."""
    size = len(encoded.vocabulary)
    counts = np.zeros(size, np.int64)
    borders = np.ascontiguousarray(document_borders(encoded, unit))
    count_documents(np.asarray(encoded.ids), borders, np.full(size, -1, np.int64), counts)
    return counts
