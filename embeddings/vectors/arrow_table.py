"""Vectors as Arrow tables: columns word (string), count (int64, if counts are known) and vector (a list of floats).

int8 vectors are lists of int8 with a further column scale of floats; a vector is its list times its scale. Parquet,
Arrow IPC, pandas and polars data pass the same checks.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from embeddings.errors import FormatError
from embeddings.support.arrow import combine_chunks, pa, to_arrow, to_numpy, to_string_array
from embeddings.support.foreign_files import format_errors
from embeddings.vectors.compact_rows import from_int8
from embeddings.vectors.file_format import TEXT_POOL, check_dim, stored_pool
from embeddings.vectors.precision import encode_matrix
from embeddings.vectors.word_vectors import WordVectors

WORD, COUNT, VECTOR, SCALE = "word", "count", "vector", "scale"
MAX_32BIT_BYTES = 1 << 31  # of a column of strings
FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}  # Arrow's names for them
V = TypeVar("V")


def to_table(vectors: WordVectors, *, dtype: str = "float32") -> Any:
    """A pyarrow table; a float32 matrix is not copied."""
    matrix, scales = encode_matrix(vectors, dtype)
    try:
        words = to_string_array(vectors.words)
    except UnicodeEncodeError as error:
        raise FormatError(f"an Arrow table cannot store the word {error.object!r:.80}: not valid Unicode") from None
    columns = {WORD: words.cast(pa.string()) if words.nbytes < MAX_32BIT_BYTES else words}
    if vectors.counts is not None:
        columns[COUNT] = to_arrow(vectors.counts)
    columns[VECTOR] = pa.FixedSizeListArray.from_arrays(to_arrow(matrix.ravel()), vectors.dim)
    if scales is not None:
        columns[SCALE] = to_arrow(scales)
    pool = stored_pool(vectors)
    return pa.table(columns, metadata=None if pool is None else {TEXT_POOL: pool})


def from_table(table: Any, vectors_class: Callable[..., V]) -> V:
    """The vectors of a table or record batch, as `vectors_class`; a contiguous float32 matrix is not copied."""
    with format_errors("the table"):
        check_schema(table.schema)
        table.validate(full=True)
        words, matrix, counts = get_column(table, WORD).to_pylist(), read_matrix(table), read_counts(table)
        vectors: Any = vectors_class(words, matrix, counts=counts)
        vectors.text_pool = read_pool(table.schema)
        return cast(V, vectors.check_finite())


def read_pool(schema: Any) -> str | None:
    """How vectors of texts are pooled by default, from the metadata of a table; None if it is not stored."""
    pool = (schema.metadata or {}).get(TEXT_POOL.encode())
    return None if pool is None else pool.decode("utf-8", "replace")


def check_schema(schema: Any) -> None:
    """Refuse missing columns and wrong types, naming column and type."""
    is_unique = len(set(schema.names)) == len(schema.names)
    column_types = {name: schema.field(name).type for name in schema.names} if is_unique else {}
    word, count, vector = (column_types.get(name) for name in (WORD, COUNT, VECTOR))
    if word is None or vector is None:
        names = ", ".join(schema.names[:10]) or "none"
        advice = "" if names != "text, embedding" else ": to load texts as words, rename them"
        raise FormatError(f"the columns {WORD} and {VECTOR} are required, once each; the columns are: {names}{advice}")
    text = word.value_type if pa.types.is_dictionary(word) else word
    is_text = pa.types.is_string(text) or pa.types.is_large_string(text) or pa.types.is_string_view(text)
    is_list = pa.types.is_fixed_size_list(vector) or pa.types.is_list(vector) or pa.types.is_large_list(vector)
    is_vector = is_list and (pa.types.is_floating(vector.value_type) or is_quantised(schema))
    for name, expected, is_right in (
        (WORD, "strings", is_text),
        (VECTOR, "lists of floats", is_vector),
        (COUNT, "integers", count is None or pa.types.is_integer(count)),
    ):
        if not is_right:
            raise FormatError(f"the column {name} must contain {expected}, not {column_types[name]}")


def is_quantised(schema: Any) -> bool:
    """Whether the vectors are lists of int8 with a column of float scales."""
    scale = schema.field(SCALE).type if SCALE in schema.names else None
    return bool(schema.field(VECTOR).type.value_type == pa.int8() and scale is not None and pa.types.is_floating(scale))


def describe_schema(schema: Any, rows: int | None) -> dict[str, Any]:
    """Properties of vectors from their schema; the columns if the table has no vectors."""
    properties = {"words": rows, "counts": COUNT in schema.names}
    if schema.names.count(VECTOR) != 1:
        return properties | {"columns": {field.name: str(field.type) for field in schema}}
    vector = schema.field(VECTOR).type
    item = str(getattr(vector, "value_type", vector))
    return properties | {"dim": getattr(vector, "list_size", None), "dtype": FLOATS.get(item, item)}


def get_column(table: Any, name: str) -> Any:
    """A column as one contiguous array; refuses nulls."""
    column = table.column(name)
    if column.null_count:
        raise FormatError(f"the column {name} contains {column.null_count} nulls")
    return combine_chunks(column)


def read_counts(table: Any) -> np.ndarray | None:
    """The counts as int64; None if there is no such column or it contains only nulls."""
    if COUNT not in table.schema.names or table.column(COUNT).null_count == table.num_rows:
        return None
    counts: np.ndarray = to_numpy(get_column(table, COUNT).cast(pa.int64()))
    return counts


def read_matrix(table: Any) -> np.ndarray:
    """The vectors of a table or record batch, (words, dim) float32."""
    rows = read_lists(get_column(table, VECTOR))
    if not is_quantised(table.schema):
        return rows
    with np.errstate(over="ignore"):
        return from_int8(rows, to_numpy(get_column(table, SCALE)).astype(np.float32))


def read_lists(lists: Any) -> np.ndarray:
    """A column of lists of equal length as a matrix (words, dim) float32; refuses nulls."""
    flat = lists.flatten()
    if pa.types.is_fixed_size_list(lists.type):
        dim = lists.type.list_size
    else:
        sizes = np.diff(to_numpy(lists.offsets))
        dim = int(sizes[0]) if len(sizes) else 0
        if (sizes != dim).any():
            raise FormatError(f"vectors of different lengths: {dim} and {int(sizes[sizes != dim][0])} components")
    if dim < 1 or flat.null_count:
        raise FormatError(f"the column {VECTOR} must hold vectors without nulls, of at least 1 component, got {dim}")
    check_dim(dim, f"the column {VECTOR}")
    with np.errstate(over="ignore"):  # overflow becomes infinity, which a later check refuses, naming the word
        flat = to_numpy(flat).astype(np.float32, copy=False)
    return np.asarray(flat.reshape(len(lists), dim))
