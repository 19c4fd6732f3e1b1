"""Data of other libraries as sources: pandas, polars, Arrow, Dask, DuckDB and Hugging Face data sets.

They are recognised by their attributes, so that none of these libraries is imported. Rows are read in batches; columns
in Arrow's memory layout are not copied.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from embeddings.errors import CorpusError, EmbeddingsError
from embeddings.support.arrow import pa

BATCH_ROWS = 4096
N_SAMPLED = 1000  # rows of a pandas column that decide its type
COLUMN = "text"  # the name given to an unnamed column


ReadBatches = Callable[[list[str]], Iterable[Any]]  # yields record batches with at least these columns; called once
OpenedTable = tuple[Any, ReadBatches]  # a pyarrow schema, and the function that reads batches


@dataclass(frozen=True)
class DataTable:
    """A table, column or data set of another library."""

    data: Any
    open_with: Callable[[Any], OpenedTable]

    @property
    def name(self) -> str:
        """The type of the data for messages, such as "a pandas DataFrame"."""
        return f"a {type(self.data).__module__.split('.')[0]} {type(self.data).__name__}"


@contextmanager
def conversion_errors(name: str) -> Iterator[None]:
    """Convert errors of pyarrow and of the other library to a CorpusError of one line."""
    try:
        yield
    except (EmbeddingsError, MemoryError):
        raise
    except Exception as error:
        raise CorpusError(f"{name} cannot be read: {' '.join(str(error).split())}") from error


def as_table(source: Any) -> DataTable | None:
    """Return a table, column or data set of another library as a source; None if it is something else."""
    openers = (open_with for attributes, open_with in OPENERS if has_attributes(source, *attributes))
    return next((DataTable(source, open_with) for open_with in openers), None)


def has_attributes(source: Any, *names: str) -> bool:
    """Whether an object, not a class, has all these attributes."""
    return not isinstance(source, type) and all(hasattr(source, name) for name in names)


def open_hugging_face(data: Any) -> OpenedTable:
    """Open a `datasets.Dataset` or `IterableDataset`, whose selections and shuffles are kept."""

    def pieces(data: Any) -> Iterator[Any]:
        return iter(data.with_format("arrow").iter(batch_size=BATCH_ROWS))

    if data.features is not None:
        return data.features.arrow_schema, lambda names: batches_of(pieces(data.select_columns(names)))
    iterator = pieces(data)
    first = list(islice(iterator, 1))
    schema = first[0].schema if first else empty_schema()
    return schema, lambda names: batches_of(piece.select(names) for piece in chain(first, iterator))


def open_frames(frames: Iterable[Any]) -> OpenedTable:
    """Open pandas data frames or series with the same columns."""
    iterator = (
        data if hasattr(data, "columns") else data.to_frame(COLUMN if data.name is None else data.name)
        for data in frames
    )
    first = list(islice(iterator, 1))
    if not first:
        return empty_schema(), lambda names: []
    columns = [(str(name), first[0].iloc[:, place]) for place, name in enumerate(first[0].columns)]
    schema = pa.schema([(name, column_type(column)) for name, column in columns])
    places = {name: place for place, (name, _) in enumerate(columns)}

    def batches(names: list[str]) -> Iterator[Any]:
        selection = pa.schema([schema.field(name) for name in names])
        for frame in chain(first, iterator):
            for start in range(0, len(frame), BATCH_ROWS):
                part = frame.iloc[start : start + BATCH_ROWS]
                arrays = [to_array(part.iloc[:, places[field.name]], field.type) for field in selection]
                yield pa.record_batch(arrays, selection)

    return schema, batches


def column_type(column: Any) -> Any:
    """Infer the Arrow type of a pandas column from its first rows; an empty column is a string column."""
    try:
        kind = pa.array(column.iloc[:N_SAMPLED], from_pandas=True).type
    except UnicodeEncodeError:  # a lone surrogate
        return pa.large_string()
    return pa.large_string() if pa.types.is_null(kind) or pa.types.is_string(kind) else kind


def to_array(column: Any, kind: Any) -> Any:
    """Convert a pandas column to an Arrow array; a lone surrogate becomes invalid UTF-8, an error in later decoding."""
    try:
        array = pa.array(column, kind, from_pandas=True)
    except UnicodeEncodeError:
        cells = [cell.encode("utf-8", "surrogatepass") if isinstance(cell, str) else cell for cell in column]
        binary = pa.array(cells, pa.large_binary(), from_pandas=True)
        return pa.LargeStringArray.from_buffers(len(binary), *binary.buffers()[1:], binary.buffers()[0])
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def open_stream(data: Any) -> OpenedTable:
    """Open a table or column that exports Arrow data, such as a table of pyarrow, polars or DuckDB."""
    if isinstance(data, pa.Table):  # not as a stream, in which some versions of pyarrow crash on string_view
        return data.schema, lambda names: data.select(names).to_batches()
    if hasattr(data, "schema") or hasattr(data, "columns"):
        reader = pa.RecordBatchReader.from_stream(data)
        return reader.schema, lambda names: (batch.select(names) for batch in reader)
    table = pa.table({getattr(data, "name", None) or COLUMN: pa.chunked_array(data)})
    return table.schema, lambda names: table.to_batches()


def open_array(data: Any) -> OpenedTable:
    """Open a pyarrow record batch or array."""
    batch = data if hasattr(data, "schema") else pa.record_batch([pa.array(data)], [COLUMN])
    return batch.schema, lambda names: [batch.select(names)]


def batches_of(tables: Iterable[Any]) -> Iterator[Any]:
    """Yield the record batches of pyarrow tables."""
    for table in tables:
        yield from table.to_batches()


def empty_schema() -> Any:
    """Return the schema of a table without rows."""
    return pa.schema([(COLUMN, pa.large_string())])


# attributes that identify a type, and what opens it; the first match is used
OPENERS: tuple[tuple[tuple[str, ...], Callable[[Any], OpenedTable]], ...] = (
    (("with_format", "select_columns", "features"), open_hugging_face),
    (
        ("npartitions", "partitions", "compute"),
        lambda data: open_frames(data.partitions[n].compute() for n in range(data.npartitions)),
    ),
    (("iloc", "to_numpy"), lambda data: open_frames([data])),
    (
        ("scanner", "to_batches", "schema"),
        lambda data: (data.schema, lambda names: data.to_batches(columns=names, batch_size=BATCH_ROWS)),
    ),
    (
        ("collect_schema", "collect"),
        lambda data: (
            open_stream(data.head(0).collect())[0],
            lambda names: open_stream(data.select(names).collect())[1](names),
        ),
    ),
    (("__arrow_c_stream__",), open_stream),
    (("__arrow_c_array__",), open_array),
)
