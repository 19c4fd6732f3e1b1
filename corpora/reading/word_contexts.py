"""Words and their given contexts: columns of a table, encoded as documents that are tagged by their contexts."""

from dataclasses import dataclass

from embeddings.corpora.reading.columns import Columns, Role
from embeddings.corpora.reading.rows import RowReader
from embeddings.corpora.reading.tables import Table
from embeddings.errors import CorpusError, S
from embeddings.printable import format_names


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

    def resolve(self, table: Table) -> Columns:
        """The columns of words, contexts and, if there are any, weights of a table."""
        names = table.columns
        word = self.word or ("word" if "word" in names else names[0])
        context = self.context or ("context" if "context" in names else names[:2][-1])
        if word == context:
            two = f"set {S.word_column} and {S.context_column} to two different columns"
            raise CorpusError(f"{table.name}: {two}; its columns: {format_names(names)}")
        is_third = len(names) == 3 and not table.has_names and {word, context} == set(names[:2])
        weight = self.weight or ("weight" if "weight" in names else names[2] if is_third else None)
        return Columns([word], [context], weight=weight, text_role=Role.TAG)

    def row_reader(self, text_column: str | None) -> RowReader:
        """Return the reader of words with contexts; there is no `text_column`."""
        return RowReader(self.resolve, "words with contexts", self.header)
