"""Columns of tables: the role of each one that is read."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from embeddings.errors import CorpusError
from embeddings.printable import format_names

TEXT_COLUMN = "text"  # unless another column is requested
FILE_COLUMNS = ("file", "folder")  # of plain text, whose documents can have the name of their file or folder as tags


class Kind(Enum):
    """The kind of values in a column; numbers may be spelled as strings."""

    STRING, STRINGS, NUMBER, OTHER = range(4)  # STRINGS: lists of strings


class Role(Enum):
    """The role of a column; each value says what its cells must be."""

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
        """Each column with its role: texts, tags, numbers, vectors and further columns."""
        numbers = [name for name in (self.rating, self.weight) if name is not None]
        return [
            *((name, self.text_role) for name in self.texts),
            *((name, Role.TAG) for name in self.tags),
            *((name, Role.NUMBER) for name in numbers),
            *((name, Role.VECTOR) for name in [self.vector] if name is not None),
            *((name, Role.ANY) for name in self.kept),
        ]


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
