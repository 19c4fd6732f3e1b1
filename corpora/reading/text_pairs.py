"""Pairs of texts, batch by batch: columns of tables, or pairs made from documents."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from embeddings.corpora.reading.column_selection import ColumnSelection
from embeddings.corpora.reading.columns import Columns, column_names
from embeddings.corpora.reading.reader import SourceReader, is_table
from embeddings.corpora.reading.record_rows import batches_of
from embeddings.corpora.reading.rows import RowReader, Rows
from embeddings.corpora.reading.sources import Source
from embeddings.corpora.reading.tables import Table
from embeddings.corpora.reading.text_block import TextBlock, text_batches
from embeddings.errors import CorpusError, S, SettingError
from embeddings.printable import format_names
from embeddings.support.arrow import to_string_array
from embeddings.support.logs import log

CLOSING = "\"'\u201d\u2019\u00bb)\\]\u300d\u300f\uff09"  # quotes and brackets, escaped for a set of characters
OPENING = "\"'\u201c\u2018\u00ab([\u300c\u300e\uff08"
WIDE_STOPS = "\u3002\uff01\uff1f"  # of Chinese and Japanese, which have no space after them
END = re.compile(rf"[.!?…]+[{CLOSING}]*\s+|[{WIDE_STOPS}]+[{CLOSING}]*\s*")
ABBREVIATIONS = frozenset((
    "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "no", "vol",
    "gen", "col", "capt", "lt", "rev", "gov", "ca",
))  # fmt: skip


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph.

    A sentence ends at `.`, `!`, `?` or `…` before white space, or at one of the wide marks of Chinese and Japanese;
    closing quotes and brackets belong to it. It does not end before a lower-case letter, nor at the full stop after a
    single letter or after one of a few English abbreviations such as `Dr.`

    >>> split_sentences('Dr. J. Smith came. "Who?" she asked. 他来了。她走了。')
    ['Dr. J. Smith came.', '"Who?" she asked.', '他来了。', '她走了。']
    """
    sentences, start = [], 0
    for match in END.finditer(text):
        if is_border(text, match):
            sentences.append(text[start : match.end()].strip())
            start = match.end()
    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if sentence]


def is_border(text: str, match: re.Match[str]) -> bool:
    """Whether a sentence ends at what `END` matched."""
    following = text[match.end() : match.end() + 4].lstrip(OPENING)[:1]
    if following.islower():
        return False
    if not match[0].startswith(".") or match[0].startswith(".."):
        return True
    word = text[max(0, match.start() - 12) : match.start()].split()[-1:]
    name = word[0].lstrip(OPENING).lower() if word else ""
    return name not in ABBREVIATIONS and not (len(name) == 1 and name.isalpha())


TITLE_BODY, NEIGHBOURS = "title-body", "neighbours"
PARAGRAPHS, SENTENCES, FIRST_SENTENCE = "neighbouring-paragraphs", "neighbouring-sentences", "first-sentence"
DOCUMENT_PAIRS = (TITLE_BODY, NEIGHBOURS, PARAGRAPHS, SENTENCES, FIRST_SENTENCE)
MIN_BYTES = 40  # of a paragraph or sentence; shorter ones, such as headings, are not paired
RULE = f"paragraphs and sentences have at least {MIN_BYTES} bytes, and blank lines separate documents of plain text"
BATCH_PAIRS = 4096
MAX_LONE_TITLE = 100  # paragraphs after which one title only is a sign that documents are not separated
Pair = tuple[str, str]
Line = tuple[bool, str]  # whether a document begins here, and its title or a paragraph


def line_pairs(lines: Iterable[Line], kinds: Sequence[str], name: str) -> Iterator[Pair]:
    """Yield the pairs of the lines of documents."""
    with_title = TITLE_BODY in kinds
    with_paragraphs = NEIGHBOURS in kinds or PARAGRAPHS in kinds
    with_sentences, with_first = NEIGHBOURS in kinds or SENTENCES in kinds, FIRST_SENTENCE in kinds
    title = previous = ""
    n_titles = n_bodies = 0
    for is_title, line in lines:
        if is_title:
            title, previous = line, ""
            n_titles += 1
            continue
        if not is_long(line):
            continue
        if with_title and title:
            n_bodies += 1
            yield title, line
        if with_paragraphs and previous:
            yield previous, line
        sentences = list(split_sentences(line)) if with_sentences or with_first else []
        if with_sentences:
            yield from pairwise(filter(is_long, sentences))
        if with_first and is_long(sentences[0]) and is_long(rest := " ".join(sentences[1:])):
            yield sentences[0], rest
        previous = line
    if with_title and n_titles == 1 and n_bodies > MAX_LONE_TITLE:
        raise CorpusError(
            f"{name} has a single title for {n_bodies} paragraphs; title-body requires a blank line between documents"
        )


def is_long(text: str) -> bool:
    """Whether a paragraph or sentence is long enough for a pair."""
    return len(text) >= MIN_BYTES or len(text.encode()) >= MIN_BYTES


def document_lines(blocks: Iterable[TextBlock], name: str) -> Iterator[Line]:
    """Yield the lines of documents that are not blank: titles and paragraphs."""
    is_start = True
    for block in text_batches(blocks):
        block.check_text(name, "documents")
        titles = None if block.tags is None else block.tags.to_pylist()
        for number, (start, stop) in enumerate(pairwise(block.starts.tolist())):
            text = block.data[start:stop].decode()
            if not block.parts_are_documents:
                line = text.strip()
                if line:
                    yield is_start, line
                is_start = not line
                continue
            if titles is not None:
                title = titles[number]
                yield True, (title if isinstance(title, str) else " ".join(title or ())).strip()
            paragraphs = [line for line in map(str.strip, text.splitlines()) if line]
            yield from ((titles is None and place == 0, line) for place, line in enumerate(paragraphs))


COLUMNS = "columns"
KINDS = (COLUMNS, *DOCUMENT_PAIRS)
RATING_NAMES = ("score", "rating", "label", "similarity", "relatedness", "similarity_score", "relatedness_score")
OTHER_NAMES = ("id", "_id", "label", "labels", "class", "category")  # of columns of strings that are not texts


@dataclass(frozen=True)
class PairFormat:
    """How pairs of texts are read from sources.

    Arguments:
        kinds: what a pair is, several separated by commas. "columns": a row of a table, or a line of texts separated by
            tabs. Made from documents: "title-body" (the title and each paragraph), "neighbouring-paragraphs",
            "neighbouring-sentences", "neighbours" (both), "first-sentence" (the first sentence of a paragraph and the
            rest of it).
        left: the column of the first text of a pair; by default the first of only two columns of strings, unless one is
            called label, class, category or id.
        right: the column of the second text of a pair; by default the second of two columns of strings.
        negative: the column of a text that is less similar to the first one; by default the third of three columns of
            strings, if there are no others.
        rating: the column of ratings or binary labels; by default a column of numbers called score, rating, label or
            the like, or the third of three columns without names.
        weight: the column of weights, numbers from 0 on: a pair of weight 2 counts twice as much in the loss as one of
            weight 1. By default all pairs have the same weight.
        header: whether the first row of CSV and TSV holds the names of columns, or a pair; by default, unless one of
            its cells is a number. Columns without names have their numbers, "1", "2" and so on, as names.
        title_column: the column of titles of documents in tables. By default the first line of a document is its title.

    Raises:
        SettingError: a kind is unknown, or only one of `left` and `right` is set.
    """

    kinds: str = COLUMNS
    left: str | None = None
    right: str | None = None
    negative: str | None = None
    rating: str | None = None
    weight: str | None = None
    header: bool | None = None
    title_column: str | None = None

    def __post_init__(self) -> None:
        if not set(self.kind_names) <= set(KINDS):
            raise SettingError(f"{S.kinds} must be among {', '.join(KINDS)}, got {self.kinds!r:.80}")
        columns = {"left": self.left, "right": self.right, "negative": self.negative}
        columns |= {"rating": self.rating, "weight": self.weight}
        given = [S[f"{name}_column"] for name, value in columns.items() if value is not None]
        if COLUMNS not in self.kind_names and (given or self.header is not None):
            raise SettingError(f"{[*given, S.header][0]} requires {COLUMNS} among {S.kinds}, got {self.kinds}")
        if (self.left is None) != (self.right is None):
            raise SettingError(f"{S.left_column} and {S.right_column} must be set together")

    @property
    def kind_names(self) -> tuple[str, ...]:
        """The kinds of pairs, each once."""
        return tuple(dict.fromkeys(self.kinds.split(",")))

    def row_reader(self, text_column: str | None) -> "PairReader":
        """Return the reader of pairs; `text_column` is the column of documents in tables."""
        return PairReader(self, ColumnSelection(text_column, column_names(self.title_column)))

    def resolve(self, table: Table) -> Columns:
        """The columns of the pairs of a table; one that is not set is inferred from the names in the table."""
        found = self if self.left is not None else self.inferred(table)
        texts = [name for name in (found.left, found.right, found.negative) if name is not None]
        columns = Columns(texts, rating=found.rating, weight=found.weight)
        log.info("%s: pairs of the columns %s", table.name, ", ".join(name for name, _ in columns.roles))
        return columns

    def inferred(self, table: Table) -> "PairFormat":
        """The format with its columns and those that the names in a table tell."""
        named = (self.negative, self.rating, self.weight)
        texts = [name for name in table.text_columns if name not in named]
        if table.is_text and len(others := [name for name in table.columns if name not in named]) == 2:
            texts = others  # although the first rows of one have only numbers
        negative = self.negative
        if len(texts) == 3 and len(table.columns) == 3 and self.rating is None and negative is None:
            negative = texts.pop()
        if len(texts) != 2:
            number = f"{len(texts)} columns of text" if len(texts) > 1 else "one column of text" if texts else "no text"
            remedy = f"set {S.left_column} and set {S.right_column}; its columns: {format_names(table.columns)}"
            if len(texts) == 1:
                remedy += "; to make pairs from documents, use --pairs neighbours, in Python PairFormat('neighbours')"
            raise CorpusError(f"{table.name} has {number}, but a pair has two: {remedy}")
        for name in (*texts, negative):
            if name is not None and name != self.negative and name.lower() in OTHER_NAMES:
                raise CorpusError(
                    f"{table.name} has no pairs of texts by the names of its columns, {format_names(table.columns)}: "
                    f"if {name!r} is a text of a pair, set {S.left_column} and {S.right_column}"
                )
        rating = self.rating
        if rating is None and negative is None:
            numbers = [name for name in table.number_columns if name not in named]
            ratings = [name for name in numbers if name.lower() in RATING_NAMES or not table.has_names]
            rating = ratings[0] if len(ratings) == 1 and table.columns[2:] else None
        return replace(self, left=texts[0], right=texts[1], negative=negative, rating=rating)


class PairReader(RowReader):
    """Reads pairs without those with an empty side.

    Arguments:
        documents: the columns of tables that hold documents.
    """

    def __init__(self, pairs: PairFormat, documents: ColumnSelection) -> None:
        self.has_columns, self.documents = COLUMNS in pairs.kind_names, documents
        self.document_kinds = [kind for kind in pairs.kind_names if kind != COLUMNS]
        reason = f"no document has {' or '.join(self.document_kinds)}; {RULE}" if self.document_kinds else "it is empty"
        super().__init__(pairs.resolve, "pairs of texts", pairs.header, reason)
        self.n_texts = 2

    def read_source(self, reader: SourceReader, source: Source) -> Iterator[Rows]:
        """Yield the pairs of a source: rows of a table, or made from documents.

        In plain text, blank lines separate documents; each row of a table and each string of an iterable is a document.
        The first line is the title, unless a column has the titles. Other lines are paragraphs.
        """
        has_rows = not self.document_kinds or (self.has_columns and is_table(source, reader.encoding, reader.opener))
        return super().read_source(reader, source) if has_rows else self.document_pairs(reader, source)

    def document_pairs(self, reader: SourceReader, source: Source) -> Iterator[Rows]:
        """Yield the pairs made from the documents of a source."""
        documents = replace(reader, columns=self.documents, rows=None)
        pairs = line_pairs(document_lines(documents.read(source), source.name), self.document_kinds, source.name)
        done = 0
        for batch in batches_of(pairs, BATCH_PAIRS):
            texts = [to_string_array(side) for side in zip(*batch, strict=True)]
            rows = self.filled(Rows(texts, lambda row, first=done: f"{source.name}, pair {first + row + 1}"))  # type: ignore[misc]
            done += len(batch)
            if len(rows):
                yield rows
        reader.done, reader.errors, reader.error_positions = documents.done, documents.errors, documents.error_positions

    def read(self, table: Table) -> Iterator[Rows]:
        """Yield the pairs of a table."""
        before = self.n_rows
        yield from super().read(table)
        if self.n_rows == before and table.is_text and table.has_names and table.columns:
            self.reason = "its only row is read as column names; add a row of names above it"

    def filled(self, rows: Rows) -> Rows:
        """Return rows without pairs with an empty side."""
        self.n_texts = len(rows.texts)
        return super().filled(rows)


PAIR_SIDES = "pair_sides"  # in the description of a corpus: how many texts a pair has
