"""Texts and the other columns of tables as segments of an index."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from embeddings import registry
from embeddings.corpora.reading.reader import read_texts
from embeddings.corpora.reading.rows import list_rows
from embeddings.corpora.reading.text_block import TextBlock
from embeddings.corpora.text_scanner import ScannedTexts
from embeddings.errors import CorpusError, S, SettingError
from embeddings.models.embed import text_count, text_sources
from embeddings.models.text_embedder import TextEmbedder
from embeddings.printable import format_names
from embeddings.support.arrow import (
    as_first_columns,
    combine_chunks,
    concatenate_tables,
    to_arrow,
    to_string_array,
    wider_schema,
    with_null_as_string,
)
from embeddings.support.logs import log
from embeddings.support.progress_display import ProgressOption, showing
from embeddings.text_search.index_folder import ID, TEXT, VECTORS, Segment, write_segment
from embeddings.text_search.lexical import Lexicon
from embeddings.text_search.stored_vectors import StoredVectors, store
from embeddings.vectors.index import parse_spec

SEGMENT_ROWS = 1_000_000  # of a segment at most
Part = tuple[dict[str, np.ndarray], ScannedTexts | None]  # the vectors of a block, and the tokens if they are known
ENGINE = "engine."  # the prefix of the arrays of an index of nearest neighbours


def engine_arrays(record: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of the index of nearest neighbours for vectors; none if there are few, or the kind is exact."""
    if not has_engine(record, len(arrays[VECTORS])):
        return {}
    engine = registry.create("index", *parse_spec(record["kind"])).build(StoredVectors.of(arrays)[:])
    return {ENGINE + name: array for name, array in engine.arrays().items()}


def has_engine(record: Mapping[str, Any], rows: int) -> bool:
    """Whether a segment of so many rows has an index of nearest neighbours."""
    return rows >= int(record["index_from"]) and parse_spec(record["kind"])[0] != "exact"


def check_distinct(segments: Sequence[Segment]) -> Any:
    """The ids of new segments, a pyarrow array; raises CorpusError if one occurs twice."""
    chunks = [chunk for segment in segments for chunk in segment.rows[ID].chunks]
    ids = to_string_array(pa.concat_arrays(chunks) if chunks else [])
    if pc.count_distinct(ids).as_py() < len(ids):
        counts = ids.value_counts()
        twice = counts.filter(pc.greater(counts.field("counts"), 1))[0]["values"].as_py()
        raise CorpusError(f"the id {twice!r:.80} occurs twice: ids must differ")
    return ids


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are texts, ids and vectors; None for the default."""

    text: str | None = None
    ids: str | None = None
    vectors: str | None = None

    def text_of(self, block: TextBlock) -> str | None:
        """The column of the texts of a block; None if there is none, or several could be it."""
        schema = pa.schema([]) if block.columns is None else block.columns.schema
        strings = [one.name for one in schema if pa.types.is_string(one.type) or pa.types.is_large_string(one.type)]
        return self.text or (TEXT if TEXT in schema.names else strings[0] if len(strings) == 1 else None)

    def ids_of(self, block: TextBlock, text: str | None) -> str | None:
        """The column of the ids of a block; None if rows are numbered."""
        names = [] if block.columns is None else block.columns.column_names
        return self.ids or next((name for name in (ID, "_id") if name in names and name != text), None)

    def rows(self, block: TextBlock, start: int, text: str | None) -> tuple[pa.Table, np.ndarray | None]:
        """The rows of a block, as a table of ids, texts and other columns, and their vectors, if they have some.

        Arguments:
            start: the number of the first row, for rows without ids.
            text: the column of the texts, as of the first block: in others, further columns may have only nulls.

        Raises:
            CorpusError: a column is missing, or an id is null.
            CorpusError: vectors are not lists of finite numbers of one length.
        """
        table = block.columns if block.columns is not None else pa.table({})
        names = table.column_names
        for name, flag in ((self.ids, "id_column"), (self.vectors, "vector_column")):
            if name is not None and name not in names:
                known = f"only {format_names(names)}" if names else "as plain text has none"
                raise CorpusError(f"{S[flag]}: there is no column {name!r:.80}, {known}")
        if (ids := self.ids_of(block, text)) is None:
            keys = to_arrow(np.arange(start, start + len(block))).cast(pa.large_string())
        else:
            try:
                keys = combine_chunks(table.column(ids).cast(pa.large_string()))
            except pa.ArrowException:
                kind = table.column(ids).type
                raise CorpusError(f"ids must be strings or numbers, got {kind} in column {ids!r:.80}") from None
            if keys.null_count:
                raise CorpusError(f"the id of row {start + int(pc.index(keys.is_null(), True).as_py()) + 1} is null")
        vectors = None
        if self.vectors is not None:
            column = combine_chunks(table.column(self.vectors))
            vectors = list_rows(
                column, "the texts", self.vectors, lambda row: f"the texts, row {start + row + 1}", 0, has_zeros=True
            )
        others = {name: table.column(name) for name in names if name not in (text, ids, self.vectors)}
        if clash := {ID, TEXT, "score", "cosine", "bm25", "query"} & others.keys():
            raise CorpusError(f"a column must not be called {min(clash)}: rename it")
        return pa.table({ID: keys, TEXT: block.string_array(), **others}), vectors


class SegmentWriter:
    """Writes texts as segments.

    Arguments:
        record: of the index; its `dim` is set to that of the vectors of a column.
        schema: of the rows that there are already.
        n_written: the number of rows that were added before.
        is_of_tables: whether the column of texts applies to tables only.
    """

    def __init__(
        self, folder: Path, record: dict[str, Any], lexicon: Lexicon, embedder: TextEmbedder | None, columns: Columns,
        threads: int | None, schema: "pa.Schema | None" = None, n_written: int = 0,
        is_of_tables: bool = False,
    ) -> None:  # fmt: skip
        self.folder, self.record, self.lexicon, self.embedder = folder, record, lexicon, embedder
        self.columns, self.threads, self.schema, self.n_written = columns, threads, schema, n_written
        self.is_new, self.is_of_tables, self.has_ids = n_written == 0, is_of_tables, False
        self.has_types = schema is not None  # else those of the columns hold all values of the first segment

    def write(self, texts: Any, progress: ProgressOption) -> list[Segment]:
        """The segments of texts, written."""
        segments: list[Segment] = []
        tables: list[pa.Table] = []
        parts: list[Part] = []
        text: str | None = None
        total, done, n_empty = text_count(texts), 0, 0
        sources, text_column = text_sources(texts), self.columns.text
        blocks = read_texts(sources, text_column=text_column, kept=None, is_of_tables=self.is_of_tables)
        with showing(progress, "indexing", "texts") as report:
            encoded_blocks: Any = ((block, None, None) for block in blocks)
            if self.embedder is not None and self.columns.vectors is None:
                encoded_blocks = self.embedder.embed_encoded(blocks, self.threads)
            for block, encoded, vectors in encoded_blocks:
                text = text if done else self.columns.text_of(block)
                table, own = self.columns.rows(block, self.n_written, text)
                self.has_ids |= self.columns.ids_of(block, text) is not None
                vectors = self.fit_dimension(vectors if own is None else own, len(block))
                stored = store(vectors, self.record["dtype"], done)
                parts.append((stored, None if encoded is None else encoded.scanned))
                if not self.has_types:
                    schema = table.schema.remove_metadata()
                    self.schema = schema if self.schema is None else wider_schema(self.schema, schema)
                tables.append(as_first_columns(table, self.schema))
                done += len(block)
                n_empty += pc.equal(table[TEXT], "").combine_chunks().true_count
                self.n_written += len(block)
                if report is not None:
                    report(done, total)
                if sum(map(len, tables)) >= SEGMENT_ROWS:
                    segments.append(self.segment(tables, parts))
                    tables, parts = [], []
            if done and tables:
                segments.append(self.segment(tables, parts))
        if n_empty:
            log.warning("%s of %s texts are empty or null: no query finds them", n_empty, done)
        return segments

    def fit_dimension(self, vectors: np.ndarray | None, size: int) -> np.ndarray:
        """Vectors of the dimension of the index; without any, `size` of none."""
        rows = np.zeros((size, 0), np.float32) if vectors is None else vectors
        if self.is_new and not self.record["dim"]:
            self.record["dim"] = rows.shape[1]
        if rows.shape[1] != self.record["dim"]:
            column = f"set {S.vector_column} to the column of such vectors of the texts"
            raise SettingError(f"vectors must have {self.record['dim']} components, got {rows.shape[1]}: {column}")
        return rows

    def segment(self, tables: list[pa.Table], parts: list[Part]) -> Segment:
        """Write one segment."""
        # the first segment fixes the types of columns: one with only nulls becomes text, which later rows may hold
        rows = with_null_as_string(concatenate_tables(tables))
        self.schema, self.has_types = rows.schema, True
        arrays: dict[str, Any] = {name: [stored[name] for stored, _ in parts] for name in parts[0][0]}
        scanned = [one for _, one in parts]
        if has_engine(self.record, len(rows)):  # else the parts are written one after another
            parts.clear()
            arrays = {name: np.concatenate(arrays.pop(name)) for name in list(arrays)}
        terms, postings = self.lexicon.postings(rows.column(TEXT), scanned, self.threads)
        return write_segment(self.folder, rows, terms, arrays | engine_arrays(self.record, arrays) | postings)
