"""Columns of tables: the role of each one that is read, and which one has it by default."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from embeddings.errors import CorpusError, S
from embeddings.printable import format_names

if TYPE_CHECKING:
    from embeddings.corpora.reading.tables import Table

TEXT_COLUMN = "text"  # unless another column is requested


class Kind(Enum):
    """What the values of a column are; numbers may be spelled as strings."""

    STRING, STRINGS, NUMBER, OTHER = range(4)  # STRINGS: lists of strings


class Role(Enum):
    """What the cells of a column are; each value says what they must be."""

    TEXT = "a string, or in all rows a list of tokens"
    TAG = "a string or integer"
    NUMBER = "a number"
    VECTOR = "a list of numbers"
    ANY = "a value"


@dataclass(frozen=True)
class Columns:
    """The columns of a table that are read, by their roles.

    Arguments:
        texts: the text of a row, or the two or three texts of a pair.
        tags: a row has the tags of all these columns together.
        kept: further columns, as they are.
        text_role: integers are texts, too, if it is `Role.TAG`.
    """

    texts: Sequence[str]
    tags: Sequence[str] = ()
    rating: str | None = None
    weight: str | None = None
    vector: str | None = None
    kept: Sequence[str] = ()
    text_role: Role = Role.TEXT

    @property
    def roles(self) -> list[tuple[str, Role]]:
        """Each column with its role: texts, tags, numbers, vectors and what is kept."""
        numbers = [name for name in (self.rating, self.weight) if name is not None]
        return [
            *((name, self.text_role) for name in self.texts),
            *((name, Role.TAG) for name in self.tags),
            *((name, Role.NUMBER) for name in numbers),
            *((name, Role.VECTOR) for name in [self.vector] if name is not None),
            *((name, Role.ANY) for name in self.kept),
        ]


@dataclass
class ColumnSelection:
    """The requested columns of tables. A row has the tags of all tag columns together.

    kept: further columns to read, as `TextBlock.columns`; None for all. By default none.
    """

    text: str | None = None
    tags: Sequence[str] = ()
    kept: Sequence[str] | None = ()
    inferred_columns: dict[str, str] = field(default_factory=dict)  # by file, if no text column was requested

    def resolve(self, table: "Table") -> Columns:
        """Return the columns to read of a table."""
        tags = self.tag_columns(table)
        kept = table.columns if self.kept is None else self.kept
        for name in kept:
            check_column_exists(table.name, name, table.columns)
        return Columns([self.infer_text_column(table, tags) if self.text is None else self.text], tags, kept=kept)

    def tag_columns(self, table: "Table") -> Sequence[str]:
        """Return the tag columns of a table."""
        return self.tags

    def infer_text_column(self, table: "Table", tags: Sequence[str]) -> str:
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


def column_names(columns: str | Sequence[str] | None) -> list[str]:
    """Return the distinct names of columns: one for a string, none for None."""
    return [columns] if isinstance(columns, str) else list(dict.fromkeys(columns or ()))


def check_column_exists(file: str, column: str, names: Sequence[str]) -> None:
    """Refuse a column that is missing or ambiguous."""
    if names.count(column) != 1:
        number = "no column" if column not in names else f"{names.count(column)} columns"
        raise CorpusError(f"{file} has {number} {column!r}; its columns: {format_names(names)}")


def is_null(value: object) -> bool:
    """Whether a value is missing: None, NaN, or NA of pandas; as a text it is empty."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ == "NAType"
