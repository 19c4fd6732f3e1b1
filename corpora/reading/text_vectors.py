"""Texts with vectors: columns of a table, read in batches, and encoded as documents of one sentence."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.columns import Columns
from embeddings.corpora.reading.data_tables import DataTable, open_stream
from embeddings.corpora.reading.reader import open_table
from embeddings.corpora.reading.rows import RowReader
from embeddings.corpora.reading.sources import File, RemoteFile, Source
from embeddings.corpora.reading.tables import Table
from embeddings.errors import CorpusError, S
from embeddings.printable import format_names
from embeddings.settings import check_value
from embeddings.support.arrow import pa, to_arrow

TEXT_NAMES = ("text", "sentence", "word")
VECTOR_NAMES = ("embedding", "embeddings", "vector", "vectors")


def text_vectors(texts: Any, vectors: Any) -> Any:
    """Texts and their vectors as an Arrow table, which `Corpus` reads with `vectors=VectorFormat()`.

    >>> import embeddings as em
    >>> import numpy as np
    >>> em.corpora.text_vectors(["a cat", "a dog"], np.ones((2, 3), np.float32)).column_names
    ['text', 'embedding']

    Arguments:
        texts: strings, or an Arrow column of strings.
        vectors: an array (texts, dim) of float16, float32 or float64, which may be memory-mapped and is not copied if
            its rows are contiguous; or an Arrow column of lists of numbers.

    Raises:
        CorpusError: the vectors are not (texts, dim), with one for each text, or a text is not valid Unicode.
    """
    shape = np.shape(vectors) if isinstance(vectors, np.ndarray) else (len(vectors), 1)
    problem, table = f"expected a list of one text for each of {len(vectors)} vectors, got {len(texts)}, {shape}", None
    if not isinstance(texts, str) and len(shape) == 2 and len(texts) == shape[0]:
        if isinstance(vectors, np.ndarray):
            flat = to_arrow(np.ascontiguousarray(vectors).reshape(-1))
            vectors = pa.FixedSizeListArray.from_arrays(flat, shape[1])
        try:
            table = pa.table({TEXT_NAMES[0]: texts, VECTOR_NAMES[0]: vectors})
        except UnicodeEncodeError as error:
            problem = f"a text is not valid Unicode: {error.object!r:.80}"
    if table is None:
        raise CorpusError(problem)
    return table


def read_text_vectors(source: Source, rows: RowReader | None = None) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
    """Yield the texts of a table that are not empty, and their vectors, (texts, dim), a few thousand rows at a time."""
    rows = rows or VectorFormat().row_reader(None)
    with open_table(source) as table:
        for part in rows.read(table):
            assert part.vectors is not None
            yield part.texts[0].to_pylist(), part.vectors


def choose_column(table: Table, names: tuple[str, ...], candidates: list[str], setting: str) -> str:
    """The column with a name in `names`, or else the only candidate."""
    chosen = next((name for name in names if name in table.columns), None)
    if chosen is None and len(candidates) != 1:
        problem = f"has no vectors of texts like an output of embeddings teach: set {setting}"
        raise CorpusError(f"{table.name} {problem}; its columns: {format_names(table.columns) or 'none'}")
    return chosen or candidates[0]


VECTOR_DIM = "vector_dim"  # in the description of a corpus: the dimension of the vectors of its texts
TEACHERS = b"teachers"  # in the metadata of a Parquet schema: the name and weight of each teacher, as JSON
WEIGHTED = re.compile(r"(.+):(-?[0-9]*\.?[0-9]+)")
MAX_WEIGHT = 1000.0


@dataclass(frozen=True)
class VectorFormat:
    """How texts with vectors are read from the tables of a corpus.

    The loss of a text counts by the weight of its source: the path of a source may end with a colon and its weight, as
    in "more.parquet:3"; other sources are tuples such as `(table, 3)`.

    Arguments:
        vector_column: the column of vectors, lists of numbers. The default is embedding, vector, or the only column of
            lists.
    """

    vector_column: str | None = None

    def row_reader(self, text_column: str | None) -> RowReader:
        """Return the reader of texts with vectors."""

        def resolve(table: Table) -> Columns:
            text = text_column or choose_column(table, TEXT_NAMES, table.text_columns, S.text_column)
            others = [name for name in table.columns if name not in (*table.text_columns, *table.number_columns)]
            vector = self.vector_column or choose_column(table, VECTOR_NAMES, others, S.vector_column)
            return Columns([text], vector=vector)

        return RowReader(resolve, "texts with vectors")


def split_weights(sources: Iterable[Any]) -> tuple[list[Any], list[float]]:
    """The sources and their weights, 1 for a source without one."""
    plain, weights = list[Any](), list[float]()
    for source in sources:
        weight: Any = 1.0
        if isinstance(source, tuple) and len(source) == 2 and isinstance(source[1], int | float):
            source, weight = source
        elif isinstance(source, str) and not os.path.exists(source) and (match := WEIGHTED.fullmatch(source)):
            source, weight = match[1], float(match[2])
        name = f"weight of {source}" if isinstance(source, str) else "weight"
        weights.append(check_value(name, weight, float, {"gt": 0, "le": MAX_WEIGHT}))
        plain.append(source)
    return plain, weights


def weighted(vectors: NDArray[np.float32], weight: float) -> NDArray[np.float32]:
    """Return vectors with a norm that is the weight of their source or teacher, (texts, dim)."""
    norms: NDArray[np.float32] = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors * (np.float32(weight) / norms)


def teachers_of(source: Source) -> dict[str, float]:
    """The weights of the teachers by name that `teach` has recorded in a local Parquet file; empty for others."""
    if not isinstance(source, File) or isinstance(source, RemoteFile) or not source.is_regular:
        return {}
    try:
        recorded = json.loads((pa.parquet.read_schema(source.path).metadata or {})[TEACHERS])
        return {str(name): float(weight) for name, weight in recorded.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, pa.ArrowException):
        return {}  # a table of another program, or of another type


def join_teachers(
    sources: list[Source], weights: list[float], vectors: VectorFormat | None = None, text_column: str | None = None
) -> tuple[list[Source], list[float], dict[str, float]]:
    """The sources of vectors, their weights and their teachers; sources of different teachers become one table.

    It has for each text the unit vectors of all teachers side by side, each times the weight of its source.
    """
    groups: dict[tuple[tuple[str, float], ...], list[int]] = {}
    for number, source in enumerate(sources):
        groups.setdefault(tuple(teachers_of(source).items()), []).append(number)
    if len(groups) < 2:
        return sources, weights, dict(next(iter(groups), ()))
    form, by_name = vectors or VectorFormat(), dict[str, float]()
    for known, (first, *_) in groups.items():
        by_name |= {name: weight * weights[first] for name, weight in known or [(sources[first].name, 1.0)]}

    def open_joined(groups: Sequence[list[int]]) -> Any:
        texts: list[list[str]] = []
        parts = []
        for numbers in groups:
            rows = form.row_reader(text_column)
            batches = [(one, weights[number]) for number in numbers for one in read_text_vectors(sources[number], rows)]
            texts.append([text for (some, _), _ in batches for text in some])
            units = [weighted(matrix, weight).astype(np.float16) for (_, matrix), weight in batches]
            parts.append(np.concatenate(units or [np.empty((0, 1), np.float16)]))
            if texts[-1] != texts[0]:
                row = next(row for row, (a, b) in enumerate(zip_longest(texts[0], texts[-1])) if a != b)
                problem = f"are of different teachers, which must have the same texts: number {row + 1:,} differs"
                raise CorpusError(f"{sources[groups[0][0]].name} and {sources[numbers[0]].name} {problem}")
        names_of = [text_column or TEXT_NAMES[0], form.vector_column or VECTOR_NAMES[0]]
        return open_stream(text_vectors(texts[0], np.hstack(parts)).rename_columns(names_of))

    return [JoinedTeachers([*groups.values()], open_joined)], [1.0], by_name


class JoinedTeachers(DataTable):
    """Texts with the vectors of several teachers, which are read when the table is opened."""

    @property
    def name(self) -> str:
        """What the source is, for messages."""
        return f"the joined vectors of {len(self.data)} teachers"
