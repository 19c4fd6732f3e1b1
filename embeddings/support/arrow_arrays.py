"""Arrow arrays, from and to what Python and numpy hold.

Much of pyarrow (`array`, `scalar`, `to_numpy`) imports pandas where that is installed, to ask whether it was given
something of its kind. That takes longer than most of what is done here, so that arrays are made of their bytes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def strings(words: Any) -> Any:
    """Words, a sequence of them or an Arrow array, as an Arrow array of large strings.

    Raises:
        UnicodeEncodeError: one holds half of a surrogate pair.
    """
    import pyarrow as pa

    if hasattr(words, "to_pylist"):
        return words.cast(pa.large_string())
    parts = [word.encode() for word in words]
    ends = np.zeros(len(parts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=ends[1:])
    return pa.LargeStringArray.from_buffers(len(parts), pa.py_buffer(ends), pa.py_buffer(b"".join(parts)))


def scalar(word: str) -> Any:
    """A word as an Arrow scalar, a large string.

    Raises:
        UnicodeEncodeError: it holds half of a surrogate pair.
    """
    return strings([word])[0]


def array(values: NDArray[Any]) -> Any:
    """Numbers or truth values (n,) as an Arrow array; numbers that lie side by side are not copied."""
    import pyarrow as pa

    whole = np.packbits(values, bitorder="little") if values.dtype == bool else np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(whole)])


def numbers(array: Any) -> NDArray[Any]:
    """The values (n,) of an Arrow array of numbers without nulls, not copied, read-only."""
    dtype = np.dtype(array.type.to_pandas_dtype())
    if not len(array):
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)


def joined(column: Any) -> Any:
    """A column of a table as one Arrow array."""
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    chunks = [chunk for chunk in column.chunks if len(chunk)] or column.chunks
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks) if chunks else pa.nulls(0, column.type)
