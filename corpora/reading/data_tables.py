"""Data of other libraries as sources: pandas, polars, Arrow, Dask, Ray and Hugging Face data sets.

They are recognised by their attributes, so that none of these libraries is imported. Rows are read in batches; columns
in Arrow's memory layout are not copied.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from embeddings.errors import CorpusError

BATCH_ROWS = 4096
N_SAMPLED = 1000  # rows of a pandas column that decide its type
COLUMN = "text"  # of a table that is made of one unnamed column


@dataclass(frozen=True)
class OpenTable:
    """A pyarrow schema, and a function from names of columns to record batches with at least these."""

    schema: Any
    batches: Callable[[Sequence[str]], Iterable[Any]]


@dataclass(frozen=True)
class DataTable:
    """A table, column or data set of another library."""

    data: Any
    open_with: Callable[[Any], OpenTable]

    @property
    def name(self) -> str:
        """Its name for messages, such as "a pandas DataFrame"."""
        return f"a {type(self.data).__module__.split('.')[0]} {type(self.data).__name__}"

    def open(self) -> OpenTable:
        """Return its schema and its batches.

        Raises:
            CorpusError: it cannot be converted to Arrow.
        """
        with conversion_errors(self.name):
            table = self.open_with(self.data)

        def batches(names: Sequence[str]) -> Iterator[Any]:
            iterator = iter(table.batches(names))
            while True:
                with conversion_errors(self.name):
                    batch = next(iterator, None)
                if batch is None:
                    return
                yield batch

        return OpenTable(table.schema, batches)


@contextmanager
def conversion_errors(name: str) -> Iterator[None]:
    """Convert errors of pyarrow and of the other library to a CorpusError of one line."""
    try:
        yield
    except (CorpusError, MemoryError):
        raise
    except Exception as error:
        raise CorpusError(f"{name} cannot be read: {' '.join(str(error).split())}") from error


def as_table(source: Any) -> DataTable | None:
    """Return a table, column or data set of another library as a source; None if it is something else."""
    for attributes, open_with in OPENERS:
        if not isinstance(source, type) and all(hasattr(source, name) for name in attributes):
            return DataTable(source, open_with)
    return None


def open_hugging_face(data: Any) -> OpenTable:
    """Open a `datasets.Dataset` or `IterableDataset`, whose selections and shuffles are kept."""

    def pieces(data: Any) -> Iterator[Any]:
        return iter(data.with_format("arrow").iter(batch_size=BATCH_ROWS))

    if data.features is not None:
        return OpenTable(data.features.arrow_schema, lambda names: batches_of(pieces(data.select_columns(list(names)))))
    iterator = pieces(data)
    first = list(islice(iterator, 1))
    schema = first[0].schema if first else empty_schema()
    return OpenTable(schema, lambda names: batches_of(piece.select(list(names)) for piece in chain(first, iterator)))


def open_dask(data: Any) -> OpenTable:
    """Open a Dask DataFrame or Series, a partition at a time."""
    return open_frames(data.partitions[number].compute() for number in range(data.npartitions))


@dataclass(frozen=True)
class Partitions:
    """The items of a Dask Bag, a partition at a time."""

    bag: Any

    def __iter__(self) -> Iterator[Any]:
        for partition in self.bag.to_delayed():
            with conversion_errors("a Dask Bag"):
                items = iter(partition.compute())
            yield from items


def is_bag(data: Any) -> bool:
    """Whether data are a Dask Bag."""
    return not isinstance(data, type) and all(hasattr(data, name) for name in ("npartitions", "to_delayed", "topk"))


def open_ray(data: Any) -> OpenTable:
    """Open a Ray Dataset, of which only the selected columns are computed, a batch at a time."""
    import pyarrow as pa

    def batches(names: Sequence[str]) -> Iterator[Any]:
        rows = data.select_columns(list(dict.fromkeys(names)))
        return batches_of(rows.iter_batches(batch_size=BATCH_ROWS, batch_format="pyarrow"))

    known = data.schema()
    if known is None:
        return OpenTable(empty_schema(), lambda names: [])
    schema = known.base_schema
    if not isinstance(schema, pa.Schema):  # of pandas
        schema = next(iter(data.iter_batches(batch_size=N_SAMPLED, batch_format="pyarrow"))).schema
    return OpenTable(schema, batches)


def open_pandas(data: Any) -> OpenTable:
    """Open a pandas DataFrame or Series."""
    return open_frames([data])


def open_frames(frames: Iterable[Any]) -> OpenTable:
    """Open pandas data frames or series with the same columns."""
    import pyarrow as pa

    iterator = map(to_frame, frames)
    first = list(islice(iterator, 1))
    if not first:
        return OpenTable(empty_schema(), lambda names: [])
    columns = [(str(name), first[0].iloc[:, place]) for place, name in enumerate(first[0].columns)]
    schema = pa.schema([(name, column_type(column)) for name, column in columns])
    places = {name: place for place, (name, _) in enumerate(columns)}

    def batches(names: Sequence[str]) -> Iterator[Any]:
        selection = pa.schema([schema.field(name) for name in dict.fromkeys(names)])
        for frame in chain(first, iterator):
            for start in range(0, len(frame), BATCH_ROWS):
                part = frame.iloc[start : start + BATCH_ROWS]
                arrays = [to_array(part.iloc[:, places[field.name]], field.type) for field in selection]
                yield pa.record_batch(arrays, selection)

    return OpenTable(schema, batches)


def to_frame(data: Any) -> Any:
    """Return a pandas Series as a data frame of one column."""
    return data if hasattr(data, "columns") else data.to_frame(COLUMN if data.name is None else data.name)


def column_type(column: Any) -> Any:
    """Return the Arrow type of a pandas column by its first rows; of an empty one it is a string."""
    import pyarrow as pa

    try:
        kind = pa.array(column.iloc[:N_SAMPLED], from_pandas=True)
    except UnicodeEncodeError:  # a lone surrogate
        return pa.large_string()
    kind = kind.type
    return pa.large_string() if pa.types.is_null(kind) or pa.types.is_string(kind) else kind


def to_array(column: Any, kind: Any) -> Any:
    """Return a pandas column as an Arrow array; lone surrogates become invalid UTF-8, which is an error of the text."""
    import pyarrow as pa

    try:
        array = pa.array(column, kind, from_pandas=True)
    except UnicodeEncodeError:
        cells = [cell.encode("utf-8", "surrogatepass") if isinstance(cell, str) else None for cell in column]
        binary = pa.array(cells, pa.large_binary())
        return pa.LargeStringArray.from_buffers(len(binary), *binary.buffers()[1:], binary.buffers()[0])
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def open_dataset(data: Any) -> OpenTable:
    """Open a pyarrow Dataset, of which only the selected columns are read."""
    return OpenTable(data.schema, lambda names: data.to_batches(columns=list(names), batch_size=BATCH_ROWS))


def open_lazy_frame(data: Any) -> OpenTable:
    """Open a polars LazyFrame, of which only the selected columns are computed."""
    schema = open_stream(data.head(0).collect()).schema
    return OpenTable(schema, lambda names: open_stream(data.select(list(names)).collect()).batches(names))


def open_stream(data: Any) -> OpenTable:
    """Open what exports itself as Arrow data: tables of pyarrow, polars, DuckDB and others, and columns."""
    import pyarrow as pa

    if hasattr(data, "schema") or hasattr(data, "columns"):
        reader = pa.RecordBatchReader.from_stream(data)
        return OpenTable(reader.schema, lambda names: (batch.select(list(names)) for batch in reader))
    table = pa.table({getattr(data, "name", None) or COLUMN: pa.chunked_array(data)})
    return OpenTable(table.schema, lambda names: batches_of([table]))


def open_array(data: Any) -> OpenTable:
    """Open a pyarrow record batch or array."""
    import pyarrow as pa

    batch = data if hasattr(data, "schema") else pa.record_batch([pa.array(data)], [COLUMN])
    return OpenTable(batch.schema, lambda names: [batch.select(list(names))])


def batches_of(tables: Iterable[Any]) -> Iterator[Any]:
    """Yield the record batches of pyarrow tables."""
    for table in tables:
        yield from table.to_batches()


def empty_schema() -> Any:
    """Return the schema of a table without rows."""
    import pyarrow as pa

    return pa.schema([(COLUMN, pa.large_string())])


OPENERS: tuple[tuple[tuple[str, ...], Callable[[Any], OpenTable]], ...] = (  # attributes that all must be there
    (("with_format", "select_columns", "features"), open_hugging_face),
    (("npartitions", "partitions", "compute"), open_dask),
    (("iter_batches", "select_columns", "schema"), open_ray),
    (("iloc", "to_numpy"), open_pandas),
    (("scanner", "to_batches", "schema"), open_dataset),
    (("collect_schema", "collect"), open_lazy_frame),
    (("__arrow_c_stream__",), open_stream),
    (("__arrow_c_array__",), open_array),
)
