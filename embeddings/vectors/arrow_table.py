"""Vectors as Arrow tables: columns word (string), count (int64, where counts are known) and vector (a list of floats).

Vectors in 8 bits are lists of int8 and a column scale, of floats: a vector is the list times the scale.

What Parquet, Arrow IPC, pandas and polars hand over goes through the same checks.
"""

from typing import Any

import numpy as np

from embeddings.errors import FormatError, SettingError
from embeddings.support.arrow_arrays import array, joined, numbers, strings
from embeddings.vectors.precision import packed, restored
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_encoding import check_dim

WORD, COUNT, VECTOR, SCALE = "word", "count", "vector", "scale"
LARGE = 1 << 31  # bytes of strings that are too many for 32-bit offsets
FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}  # what Arrow calls them


def to_table(vectors: Vectors, *, dtype: str = "float32") -> Any:
    """A pyarrow table; a float32 matrix is not copied.

    Raises:
        FormatError: a word is no valid Unicode, or a vector holds a NaN.
    """
    import pyarrow as pa

    matrix, scales = packed(vectors, dtype)
    try:
        words = strings(vectors.words)
    except UnicodeEncodeError as error:
        raise FormatError(f"an Arrow table cannot hold the word {error.object!r:.80}: not valid Unicode") from None
    columns = {WORD: words.cast(pa.string()) if words.nbytes < LARGE else words}
    if vectors.counts is not None:
        columns[COUNT] = array(vectors.counts)
    columns[VECTOR] = pa.FixedSizeListArray.from_arrays(array(matrix.ravel()), vectors.dim)
    if scales is not None:
        columns[SCALE] = array(scales)
    return pa.table(columns)


def check_schema(schema: Any) -> None:
    """Refuse columns that are missing or of another type.

    Raises:
        FormatError: naming the column, its type and what it must be.
    """
    import pyarrow.types as kinds

    found = {name: schema.field(name).type for name in set(schema.names)} if unique(schema.names) else {}
    word, count, vector = (found.get(name) for name in (WORD, COUNT, VECTOR))
    if word is None or vector is None:
        listed = ", ".join(schema.names[:10]) or "none"
        raise FormatError(f"it needs the columns {WORD} and {VECTOR}, each once, and has {listed}")
    text = kinds.is_string(word) or kinds.is_large_string(word) or kinds.is_string_view(word)
    text = text or (kinds.is_dictionary(word) and kinds.is_string(word.value_type))
    if not text:
        raise FormatError(f"the column {WORD} must be of strings, not {word}")
    listed = kinds.is_fixed_size_list(vector) or kinds.is_list(vector) or kinds.is_large_list(vector)
    if not listed or not (kinds.is_floating(vector.value_type) or is_packed(schema)):
        raise FormatError(f"the column {VECTOR} must be of lists of floats, not {vector}")
    if count is not None and not kinds.is_integer(count):
        raise FormatError(f"the column {COUNT} must be of integers, not {count}")


def is_packed(schema: Any) -> bool:
    """Whether the vectors are lists of int8, and a column of floats holds their scales."""
    import pyarrow as pa

    scale = schema.field(SCALE).type if SCALE in schema.names else None
    return bool(schema.field(VECTOR).type.value_type == pa.int8() and scale is not None and pa.types.is_floating(scale))


def unique(names: list[str]) -> bool:
    """Whether no name stands twice."""
    return len(set(names)) == len(names)


def from_table(table: Any) -> Vectors:
    """The vectors of a table or record batch; float32 in one piece is not copied.

    Raises:
        FormatError: columns are missing, of other types, or hold nulls; lists of different lengths; a word that
            stands twice; a NaN or an infinity.
    """
    import pyarrow as pa

    check_schema(table.schema)
    try:
        table.validate(full=True)
        words = column(table, WORD).to_pylist()
        matrix = matrix_of(table)
        counts = counts_of(table)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise FormatError(f"it is broken: {' '.join(str(error).split()):.200}") from error
    try:
        vectors = Vectors(words, matrix, counts=counts)
        vectors.check_finite()
    except SettingError as error:
        raise FormatError(str(error)) from None
    return vectors


def described(schema: Any, rows: int | None) -> dict[str, Any]:
    """What a schema says of vectors; of a table without them its columns."""
    found = {"words": rows, "counts": COUNT in schema.names}
    if VECTOR not in schema.names:
        return found | {"columns": {field.name: str(field.type) for field in schema}}
    kind = schema.field(VECTOR).type
    each = str(getattr(kind, "value_type", kind))
    return found | {"dim": getattr(kind, "list_size", None), "dtype": FLOATS.get(each, each)}


def column(table: Any, name: str) -> Any:
    """A column in one piece.

    Raises:
        FormatError: it holds nulls.
    """
    found = table.column(name)
    if found.null_count:
        raise FormatError(f"the column {name} holds {found.null_count} nulls")
    return joined(found)


def counts_of(table: Any) -> np.ndarray | None:
    """The counts; None where there is no such column or it is of nulls only.

    Raises:
        FormatError: some are null, or too large.
    """
    import pyarrow as pa

    if COUNT not in table.schema.names or table.column(COUNT).null_count == table.num_rows:
        return None
    try:
        counts: np.ndarray = numbers(column(table, COUNT).cast(pa.int64()))
    except pa.ArrowInvalid as error:
        raise FormatError(f"the column {COUNT} does not fit 64 bits: {error}") from None
    return counts


def matrix_of(table: Any) -> np.ndarray:
    """The matrix of the vectors of a table or record batch, (words, dim) float32.

    Raises:
        FormatError: lists of different lengths or none, or nulls.
    """
    rows = rows_of(column(table, VECTOR))
    if not is_packed(table.schema):
        return rows
    with np.errstate(over="ignore"):
        return restored(rows, numbers(column(table, SCALE)).astype(np.float32))


def rows_of(lists: Any) -> np.ndarray:
    """The numbers of a column of lists, (words, dim) float32.

    Raises:
        FormatError: lists of different lengths or none, or a null within one.
    """
    import pyarrow as pa

    flat = lists.flatten()
    if flat.null_count:
        raise FormatError(f"the column {VECTOR} holds nulls")
    if pa.types.is_fixed_size_list(lists.type):
        dim = lists.type.list_size
    else:
        sizes = np.diff(numbers(lists.offsets))
        dim = int(sizes[0]) if len(sizes) else 0
        if (sizes != dim).any():
            raise FormatError(f"vectors of {dim} and of {int(sizes[sizes != dim][0])} components")
    if dim < 1:
        raise FormatError("vectors of no components")
    check_dim(dim, f"the column {VECTOR}")
    with np.errstate(over="ignore"):  # becomes infinity, which is refused by name
        flat = numbers(flat).astype(np.float32, copy=False)
    return np.asarray(flat.reshape(len(lists), dim))
