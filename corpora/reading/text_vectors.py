"""Texts with their vectors, batch by batch: a column of texts and a column of vectors of a table."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.arrow_tables import ArrowTable, column_values, is_list_type, list_lengths
from embeddings.corpora.reading.encodings import UTF8, Utf8Decoder
from embeddings.corpora.reading.record_rows import as_python
from embeddings.corpora.reading.sources import Source
from embeddings.corpora.reading.tables import Table, open_table
from embeddings.corpora.reading.text_pairs import clean_texts
from embeddings.errors import CorpusError, S
from embeddings.printable import format_names
from embeddings.support.arrow import to_arrow, to_numpy

TEXT_NAMES = ("text", "sentence", "word")
VECTOR_NAMES = ("embedding", "embeddings", "vector", "vectors")
MAX_ROWS = 4096  # rows at a time


@dataclass(frozen=True)
class VectorBatch:
    """Texts, "" for null, and their vectors, float32 (texts, dim)."""

    texts: list[str]
    vectors: NDArray[np.float32]


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
        CorpusError: there is not one vector for each text.
    """
    import pyarrow

    if isinstance(vectors, np.ndarray):
        if vectors.ndim != 2 or vectors.dtype.kind != "f" or not vectors.shape[1]:
            raise CorpusError(f"vectors must be a float array (texts, dim), got {vectors.dtype} {vectors.shape}")
        flat = to_arrow(np.ascontiguousarray(vectors).reshape(-1))
        vectors = pyarrow.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
    if len(texts) != len(vectors):
        raise CorpusError(f"expected one vector for each of {len(texts)} texts, got {len(vectors)} vectors")
    return pyarrow.table({TEXT_NAMES[0]: texts, VECTOR_NAMES[0]: vectors})


def read_text_vectors(
    source: Source, text_column: str | None = None, vector_column: str | None = None, *, encoding: str = UTF8,
    encoding_errors: str = "strict",
) -> Iterator[VectorBatch]:  # fmt: skip
    """Yield the texts and vectors of a table.

    Raises:
        CorpusError: a column is missing, a vector is null, zero or not finite, or its length differs from the first.
    """
    decoder = Utf8Decoder(encoding_errors, source.name)
    with open_table(source, encoding=encoding, encoding_errors=encoding_errors) as table:
        text = text_column or choose_column(table, TEXT_NAMES, table.texts, S.text_column)
        others = [name for name in table.columns if name not in (*table.texts, *table.numbers)]
        vector = vector_column or choose_column(table, VECTOR_NAMES, others, S.vector_column)
        done = dim = 0
        for cells, vectors in column_batches(table, text, vector, decoder):
            position = f"{source.name}, row"
            dim = dim or vectors.shape[1]
            if vectors.shape[1] != dim:
                raise CorpusError(f"{position} {done + 1}: expected a vector of {dim} numbers, got {vectors.shape[1]}")
            with np.errstate(over="ignore", invalid="ignore"):
                norms = np.linalg.norm(vectors, axis=1)
            if not (is_valid := np.isfinite(norms) & (norms > 0)).all():
                row = int(np.argmin(is_valid))
                problem = "has only zeros" if norms[row] == 0 else "has a number that is not finite"
                raise CorpusError(f"{position} {done + row + 1}: the vector in column {vector!r} {problem}")
            yield VectorBatch(clean_texts(cells, text, source.name, done, decoder), vectors)
            done += len(cells)


def choose_column(table: Table, names: tuple[str, ...], candidates: list[str], setting: str) -> str:
    """The column of one of these names, or the only candidate."""
    chosen = next((name for name in names if name in table.columns), None)
    if chosen is None and len(candidates) != 1:
        raise CorpusError(f"{table.name}: set {setting}; its columns: {format_names(table.columns) or 'none'}")
    return chosen or candidates[0]


def column_batches(
    table: Table, text: str, vector: str, decoder: Utf8Decoder
) -> Iterator[tuple[list[Any], NDArray[np.float32]]]:
    """Yield the values of a column of texts and the vectors of a column, a few thousand rows at a time."""
    done = 0
    if not isinstance(table, ArrowTable):
        for cells, values in table.batches([text, vector]):
            rows = [as_python(value) for value in values]
            for row, value in enumerate(rows, done + 1):
                if not isinstance(value, list | tuple | np.ndarray) or len(value) != len(rows[0]):
                    expected = f"a vector of {len(rows[0])} numbers" if hasattr(rows[0], "__len__") else "a vector"
                    raise CorpusError(f"{table.name}, row {row}: expected {expected} in column {vector!r}")
            try:
                yield cells, np.array(rows, np.float32)
            except (TypeError, ValueError):
                problem = f"a vector in column {vector!r} is not a list of numbers"
                raise CorpusError(f"{table.name}, rows {done + 1} to {done + len(rows)}: {problem}") from None
            done += len(rows)
        return
    for name in (text, vector):
        if name not in table.columns:
            raise CorpusError(f"{table.name} has no column {name!r}; its columns: {format_names(table.columns)}")
    with table.errors():
        for batch in table.read([text, vector]):
            for start in range(0, len(batch), MAX_ROWS):
                part = batch.slice(start, MAX_ROWS)
                cells = column_values(part.column(text), done, decoder)
                yield cells, list_rows(part.column(vector), table.name, vector, done)
                done += len(part)


def list_rows(array: Any, name: str, column: str, start: int) -> NDArray[np.float32]:
    """An Arrow array of lists of numbers as float32 (rows, dim), without Python lists."""
    from pyarrow import types

    kind = array.type
    is_fixed = types.is_fixed_size_list(kind)
    is_number = (is_fixed or is_list_type(kind)) and (
        types.is_floating(kind.value_type) or types.is_integer(kind.value_type)
    )
    if not is_number:
        raise CorpusError(f"the column {column!r} of {name} must hold lists of numbers, got {kind}")
    values = array.flatten()
    if array.null_count or values.null_count:
        row = next((row for row, is_null in enumerate(array.is_null().to_pylist()) if is_null), None)
        where = f"{name}, rows {start + 1} to {start + len(array)}" if row is None else f"{name}, row {start + row + 1}"
        raise CorpusError(f"{where}: null in the vector column {column!r}")
    dim = kind.list_size if is_fixed else int(list_lengths(array[:1])[0])
    if not is_fixed and (differs := np.flatnonzero(list_lengths(array) != dim)).size:
        length = int(list_lengths(array)[differs[0]])
        raise CorpusError(
            f"{name}, row {start + int(differs[0]) + 1}: expected a vector of {dim} numbers, got {length}"
        )
    return to_numpy(values).reshape(len(array), dim).astype(np.float32, copy=False)
