"""Columns of Arrow arrays: their types, the sizes of their values, and their strings as valid UTF-8."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.text_rows import Tag
from embeddings.corpora.reading.utf8 import Utf8Decoder
from embeddings.support.arrow_arrays import to_numpy


def row_sizes(array: Any) -> NDArray[np.int64]:
    """Return the bytes of each string (n,), after decoding a dictionary; 8 for an integer; the sum for a list."""
    import pyarrow
    import pyarrow.compute as pc

    if is_list_type(array.type):
        sums, ends = np.cumsum([0, *row_sizes(array.flatten())]), np.cumsum([0, *list_lengths(array)])
        sums_of_lists: NDArray[np.int64] = np.diff(sums[ends])
        return sums_of_lists
    if pyarrow.types.is_integer(array.type):
        return np.full(len(array), 8, np.int64)
    is_dictionary = pyarrow.types.is_dictionary(array.type)
    sizes = pc.binary_length((array.dictionary if is_dictionary else array).cast(pyarrow.large_binary()))
    if is_dictionary:
        sizes = sizes.take(array.indices)
    result: NDArray[np.int64] = to_numpy(pc.fill_null(sizes, 0)).astype(np.int64)
    return result


def is_list_type(kind: Any) -> bool:
    """Whether a pyarrow type is a list type."""
    from pyarrow import types

    return bool(types.is_list(kind) or types.is_large_list(kind))


def list_lengths(array: Any) -> NDArray[np.int64]:
    """Return the length of each list (n,), 0 for null."""
    import pyarrow.compute as pc

    lengths: NDArray[np.int64] = to_numpy(pc.fill_null(pc.list_value_length(array), 0)).astype(np.int64)
    return lengths


def is_string_type(kind: Any) -> bool:
    """Whether a pyarrow type is a string type, dictionary-encoded or not."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def tag_values(array: Any, is_valid: bool, name: str, start: int, decoder: Utf8Decoder) -> list[Tag]:
    """Return the tags of a column: strings, None for null, or lists without nulls."""
    if not is_list_type(array.type):
        values, _ = clean_strings(array, is_valid, name, start, decoder)
        return [None if value is None else value.decode() for value in values]
    if is_valid:
        values, _ = clean_strings(array.flatten(), True, name, start, decoder)
        items = iter(values)
        return [decode_all(islice(items, length)) for length in list_lengths(array).tolist()]
    rows = (array.slice(row, 1).flatten() for row in range(len(array)))
    return [decode_all(clean_strings(row, False, name, start + n, decoder)[0]) for n, row in enumerate(rows)]


def column_values(array: Any, start: int, decoder: Utf8Decoder) -> list[Any]:
    """Return the values of a column from row `start` on; the decoder handles strings that are not UTF-8."""
    try:
        values: list[Any] = array.to_pylist()
    except UnicodeDecodeError:
        cells, _ = clean_strings(array, False, decoder.name, start, decoder)
        values = [None if cell is None else cell.decode() for cell in cells]
    return values


def decode_all(values: Iterable[bytes | None]) -> list[str]:
    """Return the strings that are not null."""
    return [value.decode() for value in values if value is not None]


def clean_strings(
    array: Any, is_valid: bool, name: str, start: int, decoder: Utf8Decoder
) -> tuple[Iterable[bytes | None], Any]:
    """Return strings as valid UTF-8, with None for null, and as a pyarrow array without nulls if all were valid."""
    import pyarrow
    import pyarrow.compute

    if pyarrow.types.is_integer(array.type):
        array = array.cast(pyarrow.string())
    if pyarrow.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    array = array.cast(pyarrow.large_binary())
    if is_valid:
        values = (value.as_py() for value in array)
        return values, pyarrow.compute.fill_null(array, b"") if array.null_count else array
    cells = []
    for number, cell in enumerate(array.to_pylist(), start + 1):
        row = Utf8Decoder(decoder.policy, f"{name}, row {number}")
        cells.append(None if cell is None else row.clean(cell, final=True))
        decoder.add_errors_of(row)
    return cells, None


def is_valid_utf8(array: Any) -> bool:
    """Whether all strings of a pyarrow array are UTF-8; raises ArrowInvalid if the array is otherwise broken."""
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
