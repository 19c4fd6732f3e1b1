"""Lines of fields as columns, by Arrow's CSV reader.

It is given whole lines that lie in memory: a reader of Arrow that reads on by itself goes on, in threads of its own,
in a file that was closed because an earlier line was broken.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from embeddings.support.arrow_arrays import numbers

BLOCK = 1 << 22
BOM = b"\xef\xbb\xbf"


class LongLineError(ValueError):
    """A line is longer than it may be."""


def read_columns(stream: BinaryIO, kinds: list[Any], *, delimiter: str, longest: int) -> Iterator[Any]:
    """Record batches with columns of these types, a few MB of lines at most; nothing is quoted or null.

    Raises:
        pyarrow.ArrowException: a line has another number of fields, or one is not of its type.
        LongLineError: a line takes more than `longest` bytes.
    """
    import pyarrow as pa
    from pyarrow import csv

    names = [str(column) for column in range(len(kinds))]
    parse = csv.ParseOptions(delimiter=delimiter, quote_char=False, double_quote=False, ignore_empty_lines=False)
    convert = csv.ConvertOptions(column_types=dict(zip(names, kinds, strict=True)), null_values=[], check_utf8=False)
    for lines in whole_lines(stream, longest):
        lines = BOM + lines if lines.startswith(BOM) else lines  # Arrow drops one; it is part of the first field
        read = csv.ReadOptions(column_names=names, block_size=max(1 << 20, min(2 * longest, len(lines))))
        yield from csv.read_csv(pa.BufferReader(lines), read, parse, convert).to_batches()


def side_by_side(columns: list[Any]) -> np.ndarray:
    """Columns of numbers as a matrix (rows, columns) of their type."""
    return np.stack([numbers(column) for column in columns], axis=1)


def whole_lines(stream: BinaryIO, longest: int) -> Iterator[bytes]:
    """The bytes of a stream in parts that end where a line ends.

    Raises:
        LongLineError: a line takes more than `longest` bytes.
    """
    rest: list[bytes] = []
    while data := stream.read(BLOCK):
        end = data.rfind(b"\n") + 1
        if end:
            yield b"".join([*rest, data[:end]])
            rest = []
        rest.append(data[end:])
        if sum(map(len, rest)) > longest + BLOCK:
            raise LongLineError(f"a line is longer than {longest} bytes")
    if any(rest):
        yield b"".join(rest)
