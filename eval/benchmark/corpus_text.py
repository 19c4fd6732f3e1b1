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


def write_documents(encoded: "EncodedCorpus", path: Path) -> int:
    """Write every document as one line, also an empty one; returns the number of documents."""
    from embeddings.corpora.documents import corpus_documents

    borders = corpus_documents(encoded).borders.tolist()
    write_lines(encoded, path, borders)
    return len(borders) - 1


def write_lines(encoded: "EncodedCorpus", path: Path, bounds: Sequence[int]) -> None:
    """Write the words between each two bounds as a line."""
    words, ids = list(encoded.vocabulary.words), encoded.ids
    if cut := next((word for word in words if word.split() != [word]), None):
        raise CorpusError(f"the word {cut!r} contains white space, which separates words in the text for all tools")
    with path.open("w", encoding="utf-8", newline="\n", buffering=BUFFER_BYTES) as file:
        for begin, end in pairwise(bounds):
            file.write(" ".join([words[i] for i in ids[begin:end].tolist()]) + "\n")


def write_head(path: Path, out: Path, *, lines: int = 100) -> None:
    """Write the first lines of a text to another file."""
    with path.open("rb") as source, out.open("wb") as target:
        for line, _ in zip(source, range(lines), strict=False):
            target.write(line)
