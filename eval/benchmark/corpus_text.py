"""A corpus as the one plain text file that every tool reads."""

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embeddings.errors import CorpusError

if TYPE_CHECKING:
    from embeddings.corpora import EncodedCorpus

LONGEST = 1000  # words: gensim trains on about 1 % of a single long line, and fastText cuts lines at 1,024
CHUNK = 1 << 20  # bytes written at a time


def write(encoded: "EncodedCorpus", path: Path, *, longest: int = LONGEST) -> None:
    """Write every word of the corpus, its lines kept and cut after `longest` words; empty lines are left out.

    Raises:
        CorpusError: a word holds white space.
    """
    words, ids = words_of(encoded), encoded.ids
    with path.open("w", encoding="utf-8", newline="\n", buffering=CHUNK) as file:
        for begin, end in pairwise(cuts(np.asarray(encoded.sentences), longest)):
            file.write(" ".join([words[i] for i in ids[begin:end].tolist()]) + "\n")


def write_documents(encoded: "EncodedCorpus", path: Path) -> int:
    """Write every document of the corpus as one line, an empty one too; gives how many there are.

    Raises:
        CorpusError: a word holds white space.
    """
    from embeddings.corpora.documents import corpus_documents

    words, ids, borders = words_of(encoded), encoded.ids, corpus_documents(encoded).borders.tolist()
    with path.open("w", encoding="utf-8", newline="\n", buffering=CHUNK) as file:
        for begin, end in pairwise(borders):
            file.write(" ".join([words[i] for i in ids[begin:end].tolist()]) + "\n")
    return len(borders) - 1


def words_of(encoded: "EncodedCorpus") -> list[str]:
    """The words of the corpus, none of which may be cut where tools cut the text.

    Raises:
        CorpusError: a word holds white space.
    """
    words = list(encoded.vocabulary.words)
    if cut := next((word for word in words if word.split() != [word]), None):
        raise CorpusError(f"the word {cut!r} holds white space, which parts words in the text that all tools read")
    return words


def cuts(sentences: np.ndarray, longest: int) -> list[int]:
    """Where lines begin, and the end: (S + 1,) bounds of sentences, with cuts in those that are too long."""
    bounds = np.unique(sentences)
    pieces = [np.arange(begin, end, longest) for begin, end in pairwise(bounds.tolist())]
    return [*np.concatenate(pieces).tolist(), int(bounds[-1])]


def head(path: Path, out: Path, *, lines: int = 100) -> None:
    """The first lines of a text as another file."""
    with path.open("rb") as source, out.open("wb") as target:
        for line, _ in zip(source, range(lines), strict=False):
            target.write(line)
