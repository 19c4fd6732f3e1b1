"""Rows of Parquet and Arrow files, a few hundred at a time, the columns that are needed only."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.file_types import Form, Peeked
from embeddings.corpora.reading.text_rows import Columns, Rows, from_cells
from embeddings.corpora.reading.utf8 import Utf8
from embeddings.errors import CorpusError

SIZE = 1 << 21  # bytes of rows at a time, about;
MOST = 4096  # no more rows than that
BUFFER = 1 << 20  # bytes of a column that are read at a time

Progress = Callable[[float], None]  # is given the share of the file that was read


def untold(share: float) -> None:
    """Nothing."""


@contextmanager
def told(name: str, form: Form) -> Iterator[None]:
    """A block whose pyarrow errors are told in a line that names the file."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:  # of a name of a column, the last
        reason = " ".join(str(error).split())
        raise CorpusError(f"{name} is truncated or corrupt {form.value}: {reason}") from error


def parquet(path: Path, name: str, columns: Columns, decoder: Utf8, progress: Progress) -> Iterator[Rows]:
    """The rows of a Parquet file.

    Raises:
        CorpusError: it is broken, the columns are missing or of other types, or a text is not UTF-8.
    """
    import pyarrow.parquet

    with told(name, Form.PARQUET), pyarrow.parquet.ParquetFile(path, buffer_size=BUFFER) as file:
        chosen = choose(columns, file.schema_arrow, name)
        done, of = 0, file.metadata.num_rows
        wanted = [column for column in dict.fromkeys(chosen) if column is not None]
        for batch in file.iter_batches(few(file.metadata), columns=wanted, use_threads=False):
            yield from_batch(batch, chosen, name, done, decoder)
            done += len(batch)
            progress(done / of)


def arrow(
    source: Path | Peeked, name: str, columns: Columns, decoder: Utf8, progress: Progress = untold
) -> Iterator[Rows]:
    """The rows of an Arrow IPC file, given its path, or of an IPC stream.

    Raises:
        CorpusError: as `parquet`.
    """
    import pyarrow

    with told(name, Form.ARROW_STREAM if isinstance(source, Peeked) else Form.ARROW_FILE):
        if isinstance(source, Peeked):
            with pyarrow.ipc.open_stream(pyarrow.PythonFile(source, mode="r")) as stream:
                chosen = choose(columns, stream.schema, name)
                yield from from_batches(stream, chosen, name, decoder)
        else:
            with pyarrow.memory_map(str(source)) as mapped:
                chosen, file = opened(mapped, columns, name)
                of = file.num_record_batches
                batches = (file.get_batch(number) for number in range(of))
                yield from from_batches(batches, chosen, name, decoder, lambda number: progress(number / of))


def opened(mapped: Any, columns: Columns, name: str) -> tuple[tuple[str, str | None], Any]:
    """The names of the columns, and an IPC file that reads no others."""
    import pyarrow

    schema = pyarrow.ipc.open_file(mapped).schema
    chosen = choose(columns, schema, name)
    fields = sorted({schema.get_field_index(column) for column in chosen if column is not None})
    options = pyarrow.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
    return chosen, pyarrow.ipc.open_file(mapped, options=options)


def from_batches(
    batches: Any, chosen: tuple[str, str | None], name: str, decoder: Utf8, progress: Progress = untold
) -> Iterator[Rows]:
    """The rows of batches of any length."""
    done = 0
    for number, batch in enumerate(batches, 1):
        step = so_many(batch.column(chosen[0]).nbytes, len(batch))
        for start in range(0, len(batch), step):
            yield from_batch(batch.slice(start, step), chosen, name, done + start, decoder)
        done += len(batch)
        progress(number)


def few(metadata: Any) -> int:
    """How many rows of a Parquet file to read at a time: rows may be long.

    By the size of all columns: where a file claims that one is encrypted, to ask for its own ends the process.
    """
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    return min((so_many(group.total_byte_size, group.num_rows) for group in groups), default=MOST)


def so_many(size: int, rows: int) -> int:
    """How many rows at a time, if all are so long."""
    return max(1, min(MOST, SIZE * rows // max(size, 1)))


def choose(columns: Columns, schema: Any, name: str) -> tuple[str, str | None]:
    """The columns of texts and of tags.

    Raises:
        CorpusError: they are missing or hold neither strings nor, for tags, whole numbers.
    """
    from pyarrow.types import is_integer

    strings = [field.name for field in schema if of_strings(field.type)]
    text, tag = columns.choose(name, strings, schema.names), columns.tags(name, schema.names)
    for column, also in ((text, False), (tag, True)):
        if column is not None and column not in strings:
            kind = schema.field(column).type
            if not (also and is_integer(kind)):
                raise CorpusError(f"the column {column!r} of {name} holds {kind}, not strings")
    return text, tag


def of_strings(kind: Any) -> bool:
    """Whether a pyarrow type is one of strings."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def from_batch(batch: Any, chosen: tuple[str, str | None], name: str, start: int, decoder: Utf8) -> Rows:
    """The rows of a batch; `start` rows of the file came before."""
    text, tag = chosen
    tags = None
    if tag is not None:
        values, _ = clean(batch.column(tag), name, start, decoder)
        tags = [None if value is None else value.decode() for value in values]
    cells, array = clean(batch.column(text), name, start, decoder)
    if array is None:
        return from_cells([cell or b"" for cell in cells], tags)
    offsets = np.frombuffer(array.buffers()[1], np.int64, len(array) + 1, array.offset * 8)
    first, last = int(offsets[0]), int(offsets[-1])
    data = array.buffers()[2].slice(first, last - first).to_pybytes() if last > first else b""
    return Rows(data, offsets[1:] - first, tags)


def clean(array: Any, name: str, start: int, decoder: Utf8) -> tuple[Any, Any]:
    """The strings as UTF-8, an iterable over bytes or None; and as a pyarrow array, if they needed no mending.

    In the array null strings are empty.

    Raises:
        CorpusError: one is not UTF-8 under the policy `strict`.
    """
    import pyarrow
    import pyarrow.compute

    if pyarrow.types.is_integer(array.type):
        array = array.cast(pyarrow.string())
    whole = is_utf8(array)
    if pyarrow.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    array = array.cast(pyarrow.large_binary())
    if whole:
        values = (value.as_py() for value in array)
        return values, pyarrow.compute.fill_null(array, b"") if array.null_count else array
    cells = []
    for number, cell in enumerate(array.to_pylist(), start + 1):
        row = Utf8(decoder.policy, f"{name}, row {number}")
        cells.append(None if cell is None else row.clean(cell, final=True))
        decoder.errors += row.errors
    return cells, None


def is_utf8(array: Any) -> bool:
    """Whether all strings of a pyarrow array are UTF-8.

    Raises:
        ArrowInvalid: the array is broken in another way.
    """
    import pyarrow

    try:
        array.validate(full=True)
        if pyarrow.types.is_dictionary(array.type):
            array.dictionary.validate(full=True)
    except pyarrow.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        return False
    return True
