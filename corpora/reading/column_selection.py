"""The columns of tables that a user requests, and which one has the text by default."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from embeddings.corpora.reading.columns import TEXT_COLUMN, Columns, Kind, check_column_exists
from embeddings.corpora.reading.tables import Table
from embeddings.errors import CorpusError, S
from embeddings.printable import format_names


@dataclass
class ColumnSelection:
    """The requested columns of tables. A row has the tags of all tag columns together.

    kept: further columns to read, as `TextBlock.columns`; None for all. By default none.
    is_of_tables: whether `text` applies to tables only; else a source without columns is refused if it is set.
    """

    text: str | None = None
    tags: Sequence[str] = ()
    kept: Sequence[str] | None = ()
    inferred_columns: dict[str, str] = field(default_factory=dict)  # by file, if no text column was requested
    is_of_tables: bool = False

    def resolve(self, table: Table) -> Columns:
        """Return the columns to read of a table."""
        tags = self.tag_columns(table)
        kept = table.columns if self.kept is None else self.kept
        for name in kept:
            check_column_exists(table.name, name, table.columns)
        return Columns([self.infer_text_column(table, tags) if self.text is None else self.text], tags, kept=kept)

    def tag_columns(self, table: Table) -> Sequence[str]:
        """Return the tag columns of a table."""
        return self.tags

    def infer_text_column(self, table: Table, tags: Sequence[str]) -> str:
        """Return `text`, or the only column of strings, or else of lists, that is not a tag column."""
        names, name = table.columns, table.name
        of_kinds = (table.of_kind(kind) for kind in (Kind.STRING, Kind.STRINGS))
        candidates = next(filter(None, ([one for one in part if one not in tags] for part in of_kinds)), [])
        if TEXT_COLUMN in candidates and names.count(TEXT_COLUMN) == 1:
            candidates = [TEXT_COLUMN]
        is_joined = len(names) == 1 and ";" in names[0]  # by semicolons
        if is_joined or len(candidates) != 1:
            several = f"has several text columns; select one with {S.text_column}"
            problem = several if candidates else "has no column of strings; its columns"
            problem = f"has one column: separate columns by commas, or set {S.text_column}" if is_joined else problem
            raise CorpusError(f"{name} {problem}: {format_names(candidates or names)}")
        self.inferred_columns[name] = candidates[0]
        return candidates[0]
