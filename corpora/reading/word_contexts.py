"""Words and their given contexts: columns of a table, encoded as documents that are tagged by their contexts."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.columns import check_column
from embeddings.corpora.reading.encodings import Utf8Decoder
from embeddings.corpora.reading.reader import Table, open_table
from embeddings.corpora.reading.sources import Source
from embeddings.corpora.reading.text_block import TextBlock
from embeddings.corpora.reading.text_pairs import clean_texts, number_tags, parse_weights
from embeddings.errors import CorpusError, S
from embeddings.support.logs import log

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus
    from embeddings.corpora.encoder import Encoder


@dataclass(frozen=True)
class ContextFormat:
    """How words and their contexts are read from the sources of a corpus.

    A row of a table, or a line with cells separated by tabs, is a word and a context. A cell with several words gives
    each of them the context; a context is the whole cell, as it is.

    Arguments:
        word: the column of words; by default word, or the first column.
        context: the column of contexts; by default context, or the second column.
        weight: the column of weights, numbers from 0 on; by default weight, or the third of three columns without
            names.
        header: whether the first row of CSV and TSV holds the names of columns, or a pair; by default, unless one of
            its cells is a number. Columns without names have their numbers, "1", "2" and so on, as names.
    """

    word: str | None = None
    context: str | None = None
    weight: str | None = None
    header: bool | None = None

    def __post_init__(self) -> None:
        for name in ("word", "context", "weight"):
            check_column(name, getattr(self, name))

    def columns(self, table: Table) -> list[str]:
        """The columns of words, contexts and, if there are any, weights of a table."""
        names = table.columns
        if len(names) < 2:
            raise CorpusError(f"{table.name} has one column, but a word and its context are in two, separated by tabs")
        word = self.word or ("word" if "word" in names else names[0])
        context = self.context or ("context" if "context" in names else names[1])
        if word == context:
            raise CorpusError(f"{table.name}: set {S.word_column} and {S.context_column} to two different columns")
        is_third = len(names) == 3 and not table.has_names and {word, context} == set(names[:2])
        weight = self.weight or ("weight" if "weight" in names else names[2] if is_third else None)
        return [word, context, *([] if weight is None else [weight])]


def context_rows(
    source: Source, contexts: ContextFormat, corpus: "Corpus"
) -> Iterator[tuple[list[str], list[str], NDArray[np.float64] | None]]:
    """Words, contexts and, if there are any, weights of a table, a batch at a time; an empty cell is ""."""
    decoder, done = Utf8Decoder(corpus.encoding_errors, source.name), 0
    arguments = {"encoding": corpus.encoding, "encoding_errors": corpus.encoding_errors}
    with open_table(source, header=contexts.header, **arguments) as table:
        names = contexts.columns(table) if table.columns else []
        for cells in table.batches(names) if names else ():
            words, tags = (
                clean_texts(
                    [str(cell) if type(cell) is int else cell for cell in part], name, source.name, done, decoder
                )
                for part, name in zip(cells, names[:2], strict=False)
            )
            numbers = None
            if len(names) == 3:
                numbers = parse_weights(cells[2], names[2], source.name, done)
            yield words, tags, numbers
            done += len(words)


def write_contexts(encoder: "Encoder", contexts: ContextFormat, corpus: "Corpus") -> dict[str, Any]:
    """Encode the words of a corpus, each a document with the tag of its context and, if there are weights, its weight.

    Returns:
        The fields of the description of the corpus that reading determines.
    """
    n_rows = n_empty = 0
    is_weighted: bool | None = None

    def blocks(source: Source) -> Iterator[TextBlock]:
        nonlocal n_rows, n_empty, is_weighted
        for words, tags, numbers in context_rows(source, contexts, corpus):
            if is_weighted not in (None, numbers is not None):
                raise CorpusError(f"some pairs have weights and others do not: {source.name}")
            is_weighted = numbers is not None
            weights = number_tags(None, numbers) or [[]] * len(tags)
            is_full = [bool(word and tag) for word, tag in zip(words, tags, strict=True)]
            n_empty, n_rows = n_empty + is_full.count(False), n_rows + len(words)
            documents = [[tag, *weight] for tag, weight in zip(tags, weights, strict=True)]  # no context begins with \t
            rows = [word.encode() for word in compress(words, is_full)]
            yield TextBlock.of_cells(rows, list(compress(documents, is_full)))

    for source in corpus.sources:
        encoder.add(blocks(source), source.name)
    if n_empty == n_rows:
        reason = f"all {n_rows} rows have an empty cell" if n_rows else "there are no rows"
        raise CorpusError(f"{', '.join(source.name for source in corpus.sources)} has no words with contexts: {reason}")
    if n_empty:
        log.warning("dropped %s of %s rows without a word or a context", n_empty, n_rows)
    return {"decoding_errors": 0, "columns": {}}
