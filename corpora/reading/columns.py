"""Columns of tables: which ones hold the text, the tags and what is kept; tags of rows and missing values."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from embeddings.errors import CorpusError, S, SettingError
from embeddings.printable import format_names

Tag = str | list[str] | None  # a list: of several tags of one row
Tags = Sequence[Tag]
TEXT_COLUMN = "text"  # unless another column is requested


def tag_list(tag: Tag) -> list[str]:
    """Return the tags of a row as a list, which is empty for null."""
    return tag if isinstance(tag, list) else [] if tag is None else [tag]


def merge_tags(tags: Sequence[Tag]) -> Tag:
    """Return the tags of a row, given the tags in each of its tag columns."""
    return tags[0] if len(tags) == 1 else [one for tag in tags for one in tag_list(tag)]


@dataclass
class ColumnSelection:
    """The requested columns of tables. A row has the tags of all tag columns together.

    kept: further columns to read, as `TextBlock.columns`; None for all. By default none.
    """

    text: str | None = None
    tags: Sequence[str] = ()
    kept: Sequence[str] | None = ()
    inferred_columns: dict[str, str] = field(default_factory=dict)  # by file, if no text column was requested

    def text_column(self, file: str, names: Sequence[str], strings: Sequence[str], lists: Sequence[str] = ()) -> str:
        """Return the text column of a file, given all its columns, its string columns and its string-list columns.

        By default it is `text`, or the only column of strings, or else of lists, that is not a tag column.
        """
        if self.text is not None:
            check_column_exists(file, self.text, names)
            return self.text
        tags = self.tags or self.tag_columns(file, names)
        candidates = [name for name in strings if name not in tags] or [name for name in lists if name not in tags]
        if TEXT_COLUMN in candidates and names.count(TEXT_COLUMN) == 1:
            candidates = [TEXT_COLUMN]
        if len(names) == len(candidates) == 1 and ";" in names[0]:
            raise CorpusError(
                f"{file} has one column, {names[0]!r:.80}: separate columns by commas, or select it by {S.text_column}"
            )
        if len(candidates) == 1:
            self.inferred_columns[file] = candidates[0]
            return candidates[0]
        if not candidates:
            raise CorpusError(f"{file} has no column of strings; its columns: {format_names(names)}")
        raise CorpusError(
            f"{file} has several text columns; select one with {S.text_column}: {format_names(candidates)}"
        )

    @property
    def keeps_columns(self) -> bool:
        """Whether columns are kept."""
        return self.kept is None or len(self.kept) > 0

    def kept_columns(self, file: str, names: Sequence[str]) -> list[str]:
        """Return the names of the columns to keep; raises CorpusError if the file does not have one exactly once."""
        kept = list(names if self.kept is None else self.kept)
        for column in kept:
            check_column_exists(file, column, names)
        return kept

    def tag_columns(self, file: str, names: Sequence[str]) -> Sequence[str]:
        """Return the requested tag columns; raises CorpusError if the file does not have one."""
        for tag in self.tags:
            check_column_exists(file, tag, names)
        return self.tags


def check_column(name: str, column: str | None) -> str | None:
    """Return the name of a column; raises SettingError if it is empty or not a string."""
    if column is not None and (not isinstance(column, str) or not column):
        raise SettingError(f"{S[name + '_column']} must be the name of a column, got {column!r}")
    return column


def check_tag_columns(columns: str | Sequence[str] | None) -> str | list[str] | None:
    """Return the name of a column, or the distinct names of several; None for no column."""
    names = column_names(columns)
    for name in names:
        if check_column("tag", name) is None:
            raise SettingError(f"{S.tag_column} must be the name of a column or names of several, got {columns!r}")
    distinct = list(dict.fromkeys(names))
    return distinct if len(distinct) > 1 else next(iter(distinct), None)


def column_names(columns: str | Sequence[str] | None) -> Sequence[str]:
    """Return column names as a sequence: one name as a list of one, None as an empty list."""
    return columns if isinstance(columns, list | tuple) else [] if columns is None else [cast(str, columns)]


def check_column_exists(file: str, column: str, names: Sequence[str]) -> None:
    """Refuse a column that is missing or ambiguous."""
    if names.count(column) > 1:
        raise CorpusError(f"{file} has {names.count(column)} columns called {column!r}")
    if column not in names:
        raise CorpusError(f"{file} has no column {column!r}; its columns: {format_names(names)}")


def is_null(value: object) -> bool:
    """Whether a value is missing: None, NaN, or NA of pandas; as a text it is empty."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ == "NAType"
