"""Rows of tables by the roles of their columns, for corpora of texts, labels, pairs, contexts and vectors."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.columns import Columns
from embeddings.corpora.reading.paragraphs import ENDS, STARTS, WHITE_SPACE
from embeddings.corpora.reading.sources import Source
from embeddings.corpora.reading.tables import Batch, Position, Table, is_list_type
from embeddings.corpora.reading.tag_arrays import merge_tags
from embeddings.corpora.reading.text_block import TextBlock
from embeddings.errors import CorpusError
from embeddings.support.arrow import (
    filled_integers,
    pa,
    pc,
    string_bytes,
    string_scalar,
    to_arrow,
    to_numpy,
    to_string_array,
)
from embeddings.support.logs import log

LINE_FEED, CARRIAGE_RETURN = b"\n\r"
MAX_WEIGHT = 1e100  # so that the sum of weights is finite
MAX_RATING = sys.float_info.max


@dataclass(frozen=True)
class Rows:
    """Rows of a table.

    Arguments:
        texts: a pyarrow array of large strings without nulls for each text of a row, or one of lists of tokens.
        tags: see `TextBlock`.
        ratings, weights: float64 (rows,); None if there are none.
        vectors: float32 (rows, dim); None if there are none.
        kept: the kept columns, a pyarrow table; None if none are kept.
        position: where a row stands, for messages.
    """

    texts: list[Any]
    position: Position
    tags: Any = None
    ratings: NDArray[np.float64] | None = None
    weights: NDArray[np.float64] | None = None
    vectors: NDArray[np.float32] | None = None
    kept: Any = None

    def __len__(self) -> int:
        return len(self.texts[0])

    def select(self, is_kept: NDArray[np.bool_]) -> "Rows":
        """Return some of the rows; `is_kept` is (rows,)."""
        mask, places = to_arrow(is_kept), np.flatnonzero(is_kept)
        numbers = (None if part is None else part[is_kept] for part in (self.ratings, self.weights, self.vectors))
        tags = None if self.tags is None else self.tags.filter(mask)
        texts = [text.filter(mask) for text in self.texts]
        return Rows(texts, lambda row: self.position(int(places[row])), tags, *numbers)  # type: ignore[arg-type]

    def lines(self) -> TextBlock:
        """Return the rows as documents, in which each text is a line; tags, ratings and weights are their tags."""
        texts = [on_one_line(text) for text in self.texts]
        end, line_feed = to_string_array([""])[0], string_scalar("\n")
        data, starts = string_bytes(pc.binary_join_element_wise(*texts, end, line_feed))
        tags = [self.tags, number_tags(self.ratings), number_tags(self.weights, "\t")]  # no other tag begins with a tab
        given = [tag for tag in tags if tag is not None]
        return TextBlock(data.tobytes(), starts[1:], tags=merge_tags(given) if given else None, vectors=self.vectors)

    def block(self) -> TextBlock:
        """Return the rows as documents, each a text of any number of lines."""
        text = self.texts[0]
        if is_list_type(text.type):
            return TextBlock(b"", (), tags=self.tags, columns=self.kept, token_lists=text)
        data, starts = string_bytes(text)
        return TextBlock(data.tobytes(), starts[1:], tags=self.tags, columns=self.kept)


def number_tags(numbers: NDArray[np.float64] | None, mark: str = "") -> Any:
    """Return numbers as tags that begin with a mark."""
    return None if numbers is None else to_string_array([f"{mark}{number!r}" for number in numbers.tolist()])


def on_one_line(texts: Any) -> Any:
    """Return texts with spaces in place of line ends."""
    data, _ = string_bytes(texts)
    if not ((data == LINE_FEED) | (data == CARRIAGE_RETURN)).any():
        return texts
    return pc.replace_substring_regex(texts, "[\n\r]", " ")


def trim(texts: Any) -> Any:
    """Return texts without white space around them."""
    data, starts = string_bytes(texts)
    first, last = starts[:-1][starts[:-1] < starts[1:]], starts[1:][starts[:-1] < starts[1:]] - 1
    return pc.utf8_trim(texts, WHITE_SPACE) if (STARTS[data[first]] | ENDS[data[last]]).any() else texts


@dataclass
class RowReader:
    """Reads the rows of tables.

    Arguments:
        resolve: which columns of a table have which role.
        what: what rows are, such as "pairs of texts", if their cells must not be empty: white space around texts is
            removed, and rows with an empty text or tag are dropped and counted. Otherwise null is an empty text.
        header: whether the first row of CSV and TSV holds the column names; None: it does unless one of its cells is a
            number. Lines of plain text never have a header; their cells are separated by tabs.
        reason: why there are no rows, for messages.
    """

    resolve: Callable[[Table], Columns]
    what: str = ""
    header: bool | None = None
    reason: str = "there are no rows"
    n_rows: int = 0
    n_empty: int = 0
    first_empty: str = ""
    form: dict[str, bool] = field(default_factory=dict)  # what rows have
    form_of: str = ""
    dim: int = 0  # of vectors, after the first one

    def read_source(self, reader: Any, source: Source) -> Iterator[Rows]:
        """Yield the rows of a source, as a `SourceReader` reads it."""
        rows: Iterator[Rows] = reader.table_rows(source)
        return rows

    def read(self, table: Table) -> Iterator[Rows]:
        """Yield the rows of a table."""
        if not table.columns:
            return
        columns = self.resolve(table)
        n_missing = n_rows = 0
        for batch in table.read(columns.roles):
            n_missing, n_rows = n_missing + batch.arrays[0].null_count, n_rows + len(batch.arrays[0])
            rows = self.rows(batch, columns, table.name)
            if len(filled := self.filled(rows) if self.what else rows):
                yield filled
        if n_missing and not self.what:
            log.warning(
                "%s: %s of %s rows have no text (null, or no field); read as empty", table.name, n_missing, n_rows
            )

    def rows(self, batch: Batch, columns: Columns, name: str) -> Rows:
        """Return a batch as rows."""
        arrays = iter(batch.arrays)
        texts = [next(arrays) for _ in columns.texts]
        texts = [
            pc.fill_null(text, string_scalar("")) if text.null_count and not is_list_type(text.type) else text
            for text in texts
        ]
        tags = [next(arrays) for _ in columns.tags]
        ratings = weights = None
        if columns.rating is not None:
            ratings = numbers_of(next(arrays), columns.rating, batch.position, -MAX_RATING, MAX_RATING)
        if columns.weight is not None:
            weights = numbers_of(next(arrays), columns.weight, batch.position, 0, MAX_WEIGHT)
        vectors = None
        if columns.vector is not None:
            vectors = list_rows(next(arrays), name, columns.vector, batch.position, self.dim)
            self.dim = vectors.shape[1]
        kept = pa.table(list(arrays), list(columns.kept)) if columns.kept else None
        return Rows(texts, batch.position, merge_tags(tags) if tags else None, ratings, weights, vectors, kept)

    def filled(self, rows: Rows) -> Rows:
        """Return rows without those with an empty text or tag, which are counted; refuses rows of different forms."""
        form = {"ratings": rows.ratings is not None, "negative texts": len(rows.texts) > 2}
        form["weights"] = rows.weights is not None
        if self.form and self.form != form:
            what = next(what for what in form if form[what] != self.form[what])
            raise CorpusError(f"some pairs have {what} and others do not: {self.form_of}; {rows.position(0)}")
        self.form, self.form_of = form, self.form_of or rows.position(0)
        cells = [*rows.texts, *([] if rows.tags is None else [rows.tags])]
        if any(is_list_type(cell.type) for cell in cells):
            raise CorpusError(f"{rows.position(0)}: lists cannot be {self.what}; expected strings")
        cells = [trim(cell) for cell in cells]
        rows = replace(rows, texts=cells[: len(rows.texts)], tags=None if rows.tags is None else cells[-1])
        # white space was removed before, so that cells of blanks count as empty
        is_filled = np.ones(len(rows), bool)
        for cell in cells:
            is_filled &= filled_integers(pc.binary_length(cell), 0) > 0
        self.n_rows += len(rows)
        if not is_filled.all():
            self.n_empty += int(np.count_nonzero(~is_filled))
            self.first_empty = self.first_empty or rows.position(int(np.argmin(is_filled)))
            rows = rows.select(is_filled)
        return rows

    def finish(self, name: str) -> None:
        """Warn of rows that were dropped; raises CorpusError if no row is left."""
        if self.n_rows == self.n_empty:
            reason = f"all {self.n_rows} rows have an empty cell, the first one in {self.first_empty}"
            raise CorpusError(f"{name} contains no {self.what}: {reason if self.n_rows else self.reason}")
        if self.n_empty:
            log.warning(
                "%s: dropped %s of %s %s with an empty cell; the first one is %s",
                name, self.n_empty, self.n_rows, self.what, self.first_empty,
            )  # fmt: skip


def numbers_of(array: Any, column: str, position: Position, low: float, high: float) -> NDArray[np.float64]:
    """Return numbers (rows,); raises CorpusError for the first one that is null or not from `low` to `high`."""
    numbers: NDArray[np.float64] = to_numpy(pc.fill_null(array, to_arrow(np.array([np.nan]))[0]))
    if not (is_inside := (low <= numbers) & (numbers <= high)).all():
        row = int(np.argmin(is_inside))
        expected = f"numbers in [{low:g}, {high:g}]"
        raise CorpusError(f"{position(row)}: the column {column!r} must hold {expected}, got {array[row].as_py()}")
    return numbers


def list_rows(
    array: Any, name: str, column: str, position: Position, dim: int, *, has_zeros: bool = False
) -> NDArray[np.float32]:
    """Return an Arrow array of lists of numbers as float32 (rows, dim); `dim` is 0 if not known yet.

    With `has_zeros` vectors of zeros are allowed.
    """
    kind, types = array.type, pa.types
    if not is_list_type(kind) or not (types.is_floating(kind.value_type) or types.is_integer(kind.value_type)):
        raise CorpusError(f"the column {column!r} of {name} must hold lists of numbers, got {kind}")
    lengths = pc.list_value_length(array).to_pylist()
    dim = dim or next(filter(None, lengths), 1)
    values, row, problem = array.flatten(), 0, ""
    if lengths != [dim] * len(lengths):
        row = next(row for row, length in enumerate(lengths) if length != dim)
        problem = f"expected a vector of {dim} numbers, got {'null' if lengths[row] is None else lengths[row]}"
    elif values.null_count:
        row, problem = pc.index(values.is_null(), True).as_py() // dim, "null in a vector"
    else:
        vectors: NDArray[np.float32] = to_numpy(values).reshape(-1, dim).astype(np.float32, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            norms = np.linalg.norm(vectors, axis=1)
        if (is_valid := np.isfinite(norms) & (has_zeros | (norms > 0))).all():
            return vectors
        row = int(np.argmin(is_valid))
        problem = "the vector has only zeros" if norms[row] == 0 else "the vector has a number that is not finite"
    raise CorpusError(f"{position(row)}: {problem} (column {column!r})")
