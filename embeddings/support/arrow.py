"""Arrow arrays to and from Python and numpy, and small Arrow files with a fixed schema.

Much of pyarrow (`array`, `scalar`, `to_numpy`) imports pandas if it is installed, which takes longer than most
conversions here. These functions do not.
"""

import os
from collections.abc import Collection, Sequence, Sized
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import CorpusError, FormatError
from embeddings.printable import format_names
from embeddings.support.foreign_files import check_no_stream, format_errors
from embeddings.support.imports import pa as pa
from embeddings.support.imports import pc as pc

FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}  # names of Arrow that numpy lacks


def arrow_path(path: str | os.PathLike[str]) -> str | bytes:
    """Return a path for Arrow, which would encode a string as UTF-8 whatever the file system uses."""
    return os.fspath(path) if os.name == "nt" else os.fsencode(path)


def starts_of(parts: Collection[Sized]) -> NDArray[np.int64]:
    """Return where each of several parts begins that follow each other, and where the last one ends, (parts + 1,)."""
    starts = np.zeros(len(parts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=starts[1:])
    return starts


def to_string_array(words: Any) -> Any:
    """Convert a sequence of words, or an Arrow array, to an Arrow array of large strings."""
    if hasattr(words, "to_pylist"):
        return words if words.type == pa.large_string() else words.cast(pa.large_string())
    utf8_words = [word.encode() for word in words]
    buffers = map(pa.py_buffer, (starts_of(utf8_words), b"".join(utf8_words)))
    return pa.LargeStringArray.from_buffers(len(utf8_words), *buffers)


def to_nullable_array(words: Sequence[str | None]) -> Any:
    """Convert strings, or None for null, to an Arrow array of large strings."""
    array = to_string_array([word or "" for word in words])
    # Arrow keeps a bit for each value, the first one in the lowest place of a byte
    is_valid = np.packbits(np.array([word is not None for word in words], np.bool_), bitorder="little")
    buffers = [pa.py_buffer(is_valid), *array.buffers()[1:]]
    return pa.Array.from_buffers(array.type, len(array), buffers)


def to_list(column: Any) -> list[Any]:
    """Convert an Arrow array to Python values; dates that Python lacks, such as those after the year 9999, to texts."""
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):
        return list(column.cast(pa.string()).to_pylist())


def string_bytes(array: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the bytes of all strings of an Arrow array without nulls, and where each begins, (n + 1,)."""
    array = to_string_array(array)
    if not len(array):
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    # a slice shares the buffers of the whole array: its offset is applied by hand
    starts = np.frombuffer(array.buffers()[1], np.int64, len(array) + 1, array.offset * 8)
    first, last = int(starts[0]), int(starts[-1])
    text = np.frombuffer(array.buffers()[2], np.uint8, last) if last else np.empty(0, np.uint8)
    return text[first:], starts - first


def string_scalar(word: str) -> Any:
    """Convert a word to an Arrow large-string scalar; raises UnicodeEncodeError for a lone surrogate."""
    return to_string_array([word])[0]


def filled_integers(array: Any, value: int) -> NDArray[np.int64]:
    """Return Arrow integers with a value in place of nulls; `pa.scalar` of the value would import pandas."""
    filled: NDArray[np.int64] = to_numpy(pc.fill_null(array.cast(pa.int64()), to_arrow(np.array([value]))[0]))
    return filled


def find_words(words: Any, column: Any, missing: int) -> NDArray[np.int32]:
    """Return the row (n,) of each word in a column of words; `missing` for a word that is not in it."""
    rows = pc.index_in(to_string_array(words), value_set=to_string_array(column))
    return filled_integers(rows, missing).astype(np.int32)


def to_arrow(values: NDArray[Any]) -> Any:
    """Convert numbers or booleans (n,) to an Arrow array; contiguous numbers are not copied."""
    buffer = np.packbits(values, bitorder="little") if values.dtype == bool else np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(buffer)])


def to_numpy(array: Any) -> NDArray[Any]:
    """Return a read-only view (n,) of a numeric Arrow array without nulls."""
    name = str(array.type)  # its method `to_pandas_dtype` imports pandas in some versions
    dtype = np.dtype(FLOATS.get(name, name))
    if not len(array):
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)


def combine_chunks(column: Any) -> Any:
    """Return a table column as one Arrow array."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    chunks = [chunk for chunk in column.chunks if len(chunk)] or column.chunks
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks) if chunks else pa.nulls(0, column.type)


def concatenate_tables(tables: Sequence[Any]) -> Any:
    """Concatenate tables; each column has the type that holds all its values. Raises CorpusError if there is none."""
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise type_error(error) from None


def type_error(error: Exception) -> CorpusError:
    """Return the error for columns whose types differ from those of earlier rows."""
    return CorpusError(f"columns have other types than before: {' '.join(str(error).split())}")


def wider_schema(schema: Any, other: Any) -> Any:
    """Return a schema that holds the values of a schema with the same columns, too; else `schema` itself."""
    try:
        wider = pa.unify_schemas([schema, other], promote_options="permissive")
    except pa.ArrowException:
        return schema
    return wider if len(wider) == len(schema) else schema


def with_null_as_string(table: Any) -> Any:
    """Return a table whose columns of nulls are columns of strings."""
    fields = [one.with_type(pa.string()) if pa.types.is_null(one.type) else one for one in table.schema]
    return table.cast(pa.schema(fields, table.schema.metadata))


def as_first_columns(table: Any, schema: Any) -> Any:
    """A table with the columns and types of the first one; raises CorpusError if it has others."""
    names = schema.names
    if sorted(names) != sorted(table.column_names):
        raise CorpusError(f"columns differ: expected {format_names(names)}, got {format_names(table.column_names)}")
    try:
        return table.select(names).cast(schema)
    except pa.ArrowException as error:
        raise type_error(error) from None


def write_table(table: Any, path: Path) -> None:
    """Write a pyarrow table as an Arrow IPC file."""
    with path.open("wb") as stream, pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)


def read_table(path: Path, kind: str, schema: Any = None) -> Any:
    """Memory-map a pyarrow table and validate every value and its columns; `kind` names the file in messages."""
    check_no_stream(path)
    with format_errors(f"{path} ({kind})"), pa.memory_map(arrow_path(path)) as source:
        table = pa.ipc.open_file(source).read_all()
        table.validate(full=True)
        own, expected = (
            ", ".join(f"{field.name} ({field.type})" for field in one) for one in (table.schema, schema or ())
        )
        if schema is not None and not table.schema.equals(schema):
            raise FormatError(f"it has {own or 'no columns'}, expected {expected}")
        return table
