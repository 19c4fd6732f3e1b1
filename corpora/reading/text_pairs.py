"""Pairs of texts, batch by batch: columns of tables, or pairs made from documents."""

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.document_pairs import DOCUMENT_PAIRS, RULE, document_pairs
from embeddings.corpora.reading.encodings import UTF8, DecodingPolicy, check_encoding
from embeddings.corpora.reading.pair_batch import PairBatch, PairChecks
from embeddings.corpora.reading.record_columns import JsonNumber
from embeddings.corpora.reading.record_rows import describe_field
from embeddings.corpora.reading.sources import Source, resolve_source
from embeddings.corpora.reading.table_columns import Columns, ColumnTable, is_table, open_columns
from embeddings.corpora.reading.text_rows import format_names
from embeddings.corpora.reading.utf8 import Utf8Decoder, encode_utf8
from embeddings.errors import CorpusError, SettingError, SingleTextError
from embeddings.settings import check_value
from embeddings.support.logs import log

COLUMNS = "columns"
KINDS = (COLUMNS, *DOCUMENT_PAIRS)
RATING_NAMES = ("score", "rating", "label", "similarity", "relatedness", "similarity_score", "relatedness_score")
OTHER_NAMES = ("id", "_id", "label", "labels", "class", "category")  # of columns of strings that are not texts


@dataclass(frozen=True)
class PairColumns:
    """The columns of a table that hold a pair.

    Arguments:
        left, right: the columns of the two texts; by default the only two columns of strings, in their order, unless
            one is called `label`, `class`, `category` or `id`.
        negative: the column of a third text that is less similar to the left one; by default the third of three columns
            of strings, if there are no others.
        rating: the column of ratings or binary labels; by default a column of numbers called `score`, `rating`, `label`
            or the like, or the third of three columns without names.
        header: whether the first row of CSV and TSV holds the column names; None: unless one of its cells is a number.
            A table without column names has the numbers of its columns, "1", "2" and so on, as names.
    """

    left: str | None = None
    right: str | None = None
    negative: str | None = None
    rating: str | None = None
    header: bool | None = None

    def __post_init__(self) -> None:
        if (self.left is None) != (self.right is None):
            raise SettingError("left_column and right_column must be set together")

    def resolve(self, table: ColumnTable) -> "PairColumns":
        """These columns of a table, with names for those that were not set."""
        if self.left is not None:
            return self
        named = (self.negative, self.rating)
        texts = [name for name in table.texts if name not in named]
        if table.is_text and len(others := [name for name in table.columns if name not in named]) == 2:
            texts = others  # although the first rows of one have only numbers
        negative = self.negative
        if len(texts) == 3 and len(table.columns) == 3 and self.rating is None and negative is None:
            negative = texts.pop()
        if len(texts) != 2:
            number = f"{len(texts)} columns of text" if len(texts) > 1 else "one column of text" if texts else "no text"
            raise (SingleTextError if len(texts) == 1 else CorpusError)(
                f"{table.name} has {number}, but a pair has two: set left_column and set right_column; its columns: "
                + format_names(table.columns)
            )
        for name in (*texts, negative):
            if name is not None and name != self.negative and name.lower() in OTHER_NAMES:
                raise CorpusError(
                    f"{table.name} has no pairs of texts by the names of its columns, {format_names(table.columns)}: "
                    f"if {name!r} is a text of a pair, set left_column and right_column"
                )
        rating = self.rating
        if rating is None and negative is None:
            ratings = [name for name in table.numbers if name.lower() in RATING_NAMES or not table.has_names]
            rating = ratings[0] if len(ratings) == 1 and table.columns[2:] else None
        return replace(self, left=texts[0], right=texts[1], negative=negative, rating=rating)


class TextPairs:
    """Pairs of texts to learn from or to evaluate with: an iterable of batches that can be repeated.

    >>> import embeddings as em
    >>> pairs = em.TextPairs([("a cat sat", "the cat sits", 4.5), ("a dog ran", "it rains", 0.5)])
    >>> [(batch.left, batch.ratings.tolist()) for batch in pairs]
    [(['a cat sat', 'a dog ran'], [4.5, 0.5])]

    Pairs with an empty side are dropped; `n_empty` counts them, and a warning is logged.

    Arguments:
        sources: files, folders and patterns, tables of other libraries, or iterables of tuples or mappings, as for
            `Corpus`. Lines of plain text have two or three cells separated by tabs.
        kinds: what a pair is. "columns": a row of a table, or a line. The others are made from documents: "title-body",
            the title and each paragraph; "neighbours", each two successive paragraphs, and each two successive
            sentences of a paragraph; "neighbouring-paragraphs" and "neighbouring-sentences" separately;
            "first-sentence", the first sentence of each paragraph and the rest of it. With "columns" among others,
            tables and tuples are pairs, and plain text and strings are documents.
        columns: the columns of tables, for the kind "columns".
        text_column, title_column: the columns of documents in tables. Without title_column, the first line of a
            document is its title.
        encoding, encoding_errors: as for `Corpus`.

    Raises:
        CorpusError: a source is not found or cannot be used.
        SettingError: an argument is out of range.
    """

    def __init__(
        self,
        *sources: str | os.PathLike[str] | Iterable[Any],
        kinds: str | Sequence[str] = COLUMNS,
        columns: PairColumns | None = None,
        text_column: str | None = None,
        title_column: str | None = None,
        encoding: str = UTF8,
        encoding_errors: str = "strict",
    ) -> None:
        if not sources:
            raise CorpusError("pairs require a source: a path, a table or an iterable")
        self.sources: list[Source] = [item for source in sources for item in resolve_source(source)]
        self.kinds = check_kinds(kinds)
        if not isinstance(columns, PairColumns | None):
            raise SettingError(f"columns must be an embeddings.PairColumns, got {columns!r:.80}")
        self.columns = columns or PairColumns()
        self.text_column, self.title_column = text_column, title_column
        self.encoding = check_encoding(encoding)
        self.encoding_errors = check_value("encoding_errors", encoding_errors, DecodingPolicy, {})
        self.n_pairs = self.n_empty = 0  # of the last complete iteration

    @property
    def name(self) -> str:
        """The sources, for messages."""
        return ", ".join(source.name for source in self.sources)

    def __iter__(self) -> Iterator[PairBatch]:
        document_kinds = [kind for kind in self.kinds if kind != COLUMNS]
        missing = f"no document has {' or '.join(document_kinds)}; {RULE}" if document_kinds else "it is empty"
        checks = PairChecks(self.name, missing)
        for source in self.sources:
            has_rows = not document_kinds or (COLUMNS in self.kinds and is_table(source, self.encoding))
            unit = "row" if has_rows else "pair"
            batches = self.rows(source, checks) if has_rows else self.document_batches(source, document_kinds)
            for first, batch in batches:
                if len(kept := checks.add(batch, f"{source.name}, {unit}", first)):
                    yield kept
        self.n_pairs, self.n_empty = checks.n_pairs, checks.n_empty
        checks.finish()

    def rows(self, source: Source, checks: PairChecks) -> Iterator[tuple[int, PairBatch]]:
        """Yield the rows of a table, with the number of the first row of each batch; note why there are none."""
        decoder = Utf8Decoder(self.encoding_errors, source.name)
        with open_columns(
            source, header=self.columns.header, encoding=self.encoding, encoding_errors=self.encoding_errors
        ) as table:
            if not table.columns:
                return
            columns = self.columns.resolve(table)
            names = [columns.left, columns.right, columns.negative, columns.rating]
            log.info("%s: pairs of the columns %s", source.name, ", ".join(name for name in names if name is not None))
            done = 0
            for values in table.batches([name for name in names if name is not None]):
                yield done, row_batch(columns, values, source.name, done, decoder)
                done += len(values[0])
            if not done and table.is_text and table.has_names:
                checks.missing = "its only row is read as column names; add a row of names above it"

    def document_batches(self, source: Source, kinds: Sequence[str]) -> Iterator[tuple[int, PairBatch]]:
        """Yield the pairs made from documents."""
        pairs = document_pairs(
            source, kinds, text_column=self.text_column, title_column=self.title_column, encoding=self.encoding,
            encoding_errors=self.encoding_errors,
        )  # fmt: skip
        done = 0
        for left, right in pairs:
            yield done, PairBatch(left, right)
            done += len(left)


def check_kinds(kinds: str | Sequence[str]) -> tuple[str, ...]:
    """The kinds of pairs, each once."""
    names = [kinds] if isinstance(kinds, str) or not isinstance(kinds, Iterable) else [*kinds]
    for name in names:
        if name not in KINDS:
            raise SettingError(f"a kind of pairs must be one of {', '.join(KINDS)}, got {name!r:.80}")
    if not names:
        raise SettingError(f"a kind of pairs is required: one or several of {', '.join(KINDS)}")
    return tuple(dict.fromkeys(names))


def row_batch(columns: PairColumns, values: Columns, file: str, start: int, decoder: Utf8Decoder) -> PairBatch:
    """The pairs in the selected columns of a table, from row `start` on."""
    cells = iter(values)
    left = clean_texts(next(cells), columns.left, file, start, decoder)
    right = clean_texts(next(cells), columns.right, file, start, decoder)
    negatives = None if columns.negative is None else clean_texts(next(cells), columns.negative, file, start, decoder)
    ratings = None if columns.rating is None else parse_ratings(next(cells), columns.rating, file, start)
    return PairBatch(left, right, negatives, ratings)


def clean_texts(cells: list[Any], column: str | None, file: str, start: int, decoder: Utf8Decoder) -> list[str]:
    """Return texts without white space around them; null is an empty text."""
    texts = []
    for row, cell in enumerate(cells, start + 1):
        if cell is not None and (not isinstance(cell, str) or isinstance(cell, JsonNumber)):
            raise CorpusError(
                f"{file}, row {row}: the text in column {column!r} must be a string, got {describe_field(cell)}"
            )
        text = (cell or "").strip()
        texts.append(text if text.isascii() else encode_utf8(text, decoder, f"{file}, row {row}").decode())
    return texts


def parse_ratings(cells: list[Any], column: str, file: str, start: int) -> NDArray[np.float64]:
    """Return ratings (rows,) as numbers."""
    ratings = np.empty(len(cells))
    for place, cell in enumerate(cells):
        try:
            ratings[place] = math.nan if cell is None else float(cell)
        except (TypeError, ValueError):
            ratings[place] = math.nan
        if not math.isfinite(ratings[place]):
            raise CorpusError(
                f"{file}, row {start + place + 1}: the rating in column {column!r} must be a number, got {cell!r:.40}"
            )
    return ratings
