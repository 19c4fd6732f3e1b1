"""A corpus as the plain text file that every tool reads."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embeddings.errors import CorpusError

if TYPE_CHECKING:
    from embeddings.corpora import EncodedCorpus

MAX_LINE = 1000  # words: gensim trains on about 1 % of a single long line, and fastText cuts lines at 1,024
BUFFER_BYTES = 1 << 20


def write_words(encoded: "EncodedCorpus", path: Path, *, max_line: int = MAX_LINE) -> None:
    """Write all words with the corpus's lines, cut after `max_line` words; empty lines are left out."""
    sentences = np.unique(np.asarray(encoded.sentences))
    parts = [np.arange(begin, end, max_line) for begin, end in pairwise(sentences.tolist())]
    write_lines(encoded, path, [*np.concatenate(parts).tolist(), int(sentences[-1])])


def write_documents(encoded: "EncodedCorpus", path: Path) -> None:
    """Write every document as one line, empty ones included."""
    from embeddings.corpora.documents import corpus_documents

    write_lines(encoded, path, corpus_documents(encoded).borders.tolist())


def write_lines(encoded: "EncodedCorpus", path: Path, bounds: Sequence[int]) -> None:
    """Write the words between consecutive bounds as a line."""
    words, ids = list(encoded.vocabulary.words), encoded.ids
    if cut := next((word for word in words if word.split() != [word]), None):
        raise CorpusError(f"the word {cut!r} contains white space, which separates words in the text for all tools")
    with path.open("w", encoding="utf-8", newline="\n", buffering=BUFFER_BYTES) as file:
        for begin, end in pairwise(bounds):
            file.write(" ".join([words[i] for i in ids[begin:end].tolist()]) + "\n")
