"""Tables of results: lists of rows that show themselves as text or HTML, and convert to data frames."""

import os
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, SupportsIndex, TypeVar, overload

from embeddings.printable import printable
from embeddings.support.dots import Dot
from embeddings.support.html_elements import Html, tag, word
from embeddings.support.imports import import_extra, pa
from embeddings.support.logs import log

if TYPE_CHECKING:
    from embeddings.support.plots import Plot

Row = TypeVar("Row")
GAP = 2  # spaces between columns
MAX_ROWS = 60  # of a table that is shown as a whole
LEFT, RIGHT = "text-align:left", "text-align:right"


class ResultTable(list[Row]):
    """A list of rows that shows itself as a table: as text on a terminal, as HTML in a notebook.

    >>> from embeddings.support.result_table import ResultTable
    >>> table = ResultTable([("queen", 0.75), ("river", -0.25)], columns={"word": "", "cosine": "Of both vectors."})
    >>> table
    word    cosine
    queen   0.7500
    river  -0.2500
    >>> table[0], [cosine for word, cosine in table]
    (('queen', 0.75), [0.75, -0.25])

    A subclass declares `columns`, and overrides `shown` if the table shows other cells than the fields of its rows.

    Arguments:
        rows: dataclasses, mappings, or tuples of cells in the order of the columns.
        columns: what each column means, empty for a column that needs no explanation; by default that of the class.
        notes: sentences below the table.
    """

    columns: Mapping[str, str] = {}
    right: ClassVar[Collection[str]] = ()  # columns of text that are aligned to the right

    def __init__(
        self, rows: Iterable[Row] = (), *, columns: Mapping[str, str] | None = None, notes: Sequence[str] = ()
    ) -> None:
        super().__init__(rows)
        self.notes = tuple(notes)
        if columns is not None:
            self.columns = columns

    @overload
    def __getitem__(self, key: SupportsIndex) -> Row: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    def __getitem__(self, key: Any) -> Any:
        rows = super().__getitem__(key)
        return type(self)(rows, columns=self.columns) if isinstance(key, slice) else rows

    def record(self, row: Row) -> dict[str, Any]:
        """The fields of a row, as in `to_pandas`."""
        if is_dataclass(row):
            return {field.name: getattr(row, field.name) for field in fields(row)}
        return dict(row) if isinstance(row, Mapping) else dict(zip(self.columns, row, strict=True))  # type: ignore[call-overload]

    def shown(self, row: Row) -> dict[str, Any]:
        """The cells of a row as the table shows them, by the names of their columns."""
        return self.record(row)

    def visible(self) -> list[Row]:
        """The rows that the table shows; iteration and data frames have all."""
        return self

    def __repr__(self) -> str:
        return "\n".join([*text_lines(*self.cells(), right=self.right), *self.remarks()]) or "no rows"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        header, rows = self.cells()
        sides = [RIGHT if is_right else LEFT for is_right in right_columns(header, rows, self.right)]
        titles = (self.columns.get(name) or None for name in header)
        columns = zip(header, titles, sides, strict=True)
        heads = [tag("th", name, title=title, style=side) for name, title, side in columns]
        # the numbers of a column have the same decimals, so its cells are formatted together
        texts = zip(*map(column_cells, zip(*rows, strict=True)), strict=True)
        body = []
        for row, line in zip(rows, texts, strict=False):  # there are no texts of no rows
            contents = (word(one) if isinstance(one, str) else text for one, text in zip(row, line, strict=True))
            body.append(tag("tr", *(tag("td", one, style=side) for one, side in zip(contents, sides, strict=True))))
        table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *body))
        return tag("div", tag("div", table, style="overflow-x:auto"), *(tag("p", one) for one in self.remarks()))

    def cells(self) -> tuple[list[str], list[list[Any]]]:
        """The names of the columns, and the cells of the first visible rows."""
        records = [self.shown(row) for row in self.visible()[:MAX_ROWS]]
        # later rows may have fields that the first one lacks
        header = list(dict.fromkeys(name for record in records for name in record)) or list(self.columns)
        return header, [[record.get(name) for name in header] for record in records]

    def remarks(self) -> list[str]:
        """The notes, and how many rows are not shown."""
        hidden = len(self) - min(len(self.visible()), MAX_ROWS)
        more = f"{hidden:,} more row{'s' * (hidden != 1)}: iterate over the table, or call to_pandas()"
        return [*self.notes, *[more] * (hidden > 0)]

    def to_pandas(self) -> Any:
        """A DataFrame of all rows.

        Raises:
            EmbeddingsError: pandas is not installed.
        """
        pandas = import_extra("pandas", "pandas", "to_pandas")
        return pandas.DataFrame([self.record(row) for row in self], columns=None if self else list(self.columns))

    def to_arrow(self) -> Any:
        """A pyarrow table of all rows; infinite numbers and NaN become null."""
        from embeddings.support.records import to_jsonable  # imports numpy

        records = [to_jsonable(self.record(row)) for row in self]
        return pa.Table.from_pylist(records) if records else pa.table({name: [] for name in self.columns})


class PlottedTable(ResultTable[Row], ABC):
    """A table that also draws itself: dots and 95 % intervals; a subclass defines `dots`."""

    @abstractmethod
    def dots(self) -> list[Dot]:
        """The rows of the plot."""

    def titled_dots(self, title: str) -> list[Dot]:
        """The rows of the plot under a heading, at most as many as a table shows."""
        dots = self.dots()
        labels = list(dict.fromkeys((dot.title, dot.axis, dot.label) for dot in dots))
        if len(labels) > MAX_ROWS:
            log.warning("the plot shows %d of %d rows", MAX_ROWS, len(labels))
        shown = set(labels[:MAX_ROWS])
        return [one._replace(title=title or one.title) for one in dots if (one.title, one.axis, one.label) in shown]

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str = "", force: bool = False) -> "Plot":
        """Draw the rows that the table shows: dots, and 95 % intervals; returns a figure of matplotlib.

        Arguments:
            path: also write the figure to this file, .svg, .png or .pdf.
            title: the heading.
            force: replace an existing file.

        Raises:
            EmbeddingsError: matplotlib is not installed.
            OutputError: the file exists (without `force`), has another ending, or cannot be written.
        """
        figure: Plot = plotting().draw(self.titled_dots(title), path, force=force)
        return figure


def plotting() -> Any:
    """The module that draws, which requires an optional library."""
    import_extra("matplotlib", "plot", "a plot")
    from embeddings.support import plots

    return plots


class TabularResult(ABC):
    """A result that shows itself as tables; a subclass defines `tables`, the first of which is its data frame."""

    @property
    @abstractmethod
    def tables(self) -> Sequence[ResultTable[Any]]:
        """All tables; empty ones are not shown."""

    def __repr__(self) -> str:
        return "\n\n".join(repr(one) for one in self.tables if one) or "no rows"

    def _repr_html_(self) -> str:
        return tag("div", *(Html(one._repr_html_()) for one in self.tables if one))

    def to_pandas(self) -> Any:
        """A DataFrame of the first table; see `tables` for others."""
        return self.tables[0].to_pandas()

    def to_arrow(self) -> Any:
        """A pyarrow table of the first table; see `tables` for others."""
        return self.tables[0].to_arrow()


def right_columns(header: Sequence[str], rows: Sequence[Sequence[Any]], right: Collection[str] = ()) -> list[bool]:
    """Which columns are aligned to the right: numbers, and those named."""
    if not rows:
        return [False] * len(header)
    columns = zip(*rows, strict=True)
    is_number = [all(value is None or isinstance(value, int | float) for value in column) for column in columns]
    names = header or [""] * len(is_number)
    return [number or name in right for number, name in zip(is_number, names, strict=True)]


def text_lines(header: Sequence[str], rows: Sequence[Sequence[Any]], *, right: Collection[str] = ()) -> Iterator[str]:
    """The lines of an aligned table, numbers to the right, under a header unless it is empty."""
    if not rows:
        return
    texts = [column_cells(column) for column in zip(*rows, strict=True)]
    lines = [list(map(printable, header))] * bool(header) + [list(row) for row in zip(*texts, strict=True)]
    widths = [max(map(display_width, column)) for column in zip(*lines, strict=True)]
    sides = right_columns(header, rows, right)
    for line in lines:
        aligned = []
        for text, width, is_right in zip(line, widths, sides, strict=True):
            fill = " " * (width - display_width(text))
            aligned.append(fill + text if is_right else text + fill)
        yield (" " * GAP).join(aligned).rstrip()


def column_cells(column: Sequence[Any]) -> list[str]:
    """The values of a column as text, numbers of similar size with the same number of decimals."""
    numbers = [value for value in column if isinstance(value, float) and value]
    # four decimals show a digit at least of such a number, and six at most
    if numbers and all(1e-3 <= abs(number) < 100 for number in numbers):
        return [f"{value:.4f}" if isinstance(value, float) else cell(value) for value in column]
    return [cell(value) for value in column]


def cell(value: Any) -> str:
    """A value as text: floats with four significant digits, - for None, unprintable characters escaped."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    return " ".join(map(cell, value)) if isinstance(value, list | tuple) else printable(str(value))


def display_width(text: str) -> int:
    """The number of terminal columns that text takes; East Asian wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def format_number(value: object, spec: str, digits: int = 17) -> str:
    """A number in a format, with this many significant digits; a dash for None, and other values as they are."""
    if value is None:
        return "-"
    return format(float(f"{value:.{digits}g}"), spec) if isinstance(value, int | float) else str(value)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = ([" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in (header, *rows))
    first, *others = (f"| {' | '.join(cells)} |" for cells in lines)
    return [first, "| " + " | ".join(["---"] * len(header)) + " |", *others]
