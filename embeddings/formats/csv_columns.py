"""Parses delimited lines into columns with Arrow's CSV reader.

Arrow gets whole lines in memory of its own. If it read the file itself, its threads would continue after an error in an
earlier line had closed the file. If it read bytes of Python, its threads would need the interpreter's lock to release
them, which aborts a program that is about to end (Arrow's issue GH-34314).
"""

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from embeddings.support.arrow_arrays import to_numpy

BLOCK_BYTES = 1 << 22
BOM = b"\xef\xbb\xbf"


class LongLineError(ValueError):
    """A line is longer than the limit."""


def read_columns(stream: BinaryIO, types: list[Any], *, delimiter: str, max_line: int) -> Iterator[Any]:
    """Record batches of a few MB with columns of these types, without quoting or nulls.

    Raises:
        pyarrow.ArrowException: a line has the wrong number of fields, or a field does not parse.
        LongLineError: a line has more than about `max_line` bytes.
    """
    import pyarrow as pa
    from pyarrow import csv

    names = [str(column) for column in range(len(types))]
    parse = csv.ParseOptions(delimiter=delimiter, quote_char=False, double_quote=False, ignore_empty_lines=False)
    convert = csv.ConvertOptions(column_types=dict(zip(names, types, strict=True)), null_values=[], check_utf8=False)
    for lines in read_whole_lines(stream, max_line):
        lines = BOM + lines if lines.startswith(BOM) else lines  # Arrow drops a BOM, but it belongs to the first field
        read = csv.ReadOptions(column_names=names, block_size=max(1 << 20, min(2 * max_line, len(lines))))
        yield from csv.read_csv(pa.BufferReader(arrow_buffer(lines)), read, parse, convert).to_batches()


def arrow_buffer(data: bytes) -> Any:
    """A copy of the bytes that Arrow owns."""
    import pyarrow as pa

    stream = pa.BufferOutputStream()
    stream.write(data)
    return stream.getvalue()


def stack_columns(columns: list[Any]) -> np.ndarray:
    """Columns of numbers as a matrix (rows, columns)."""
    return np.stack([to_numpy(column) for column in columns], axis=1)


def read_whole_lines(stream: BinaryIO, max_line: int) -> Iterator[bytes]:
    """The bytes of a stream in blocks that end at a line break."""
    rest: list[bytes] = []
    while block := stream.read(BLOCK_BYTES):
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join([*rest, block[:end]])
            rest = []
        rest.append(block[end:])
        if sum(map(len, rest)) > max_line + BLOCK_BYTES:
            raise LongLineError(f"a line is longer than {max_line} bytes")
    if any(rest):
        yield b"".join(rest)
