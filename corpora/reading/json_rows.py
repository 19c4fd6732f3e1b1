"""Rows of JSON lines: compiled code reads common lines of large files, the standard library everything else."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.encodings import Utf8Decoder
from embeddings.corpora.reading.record_rows import (
    DECODER,
    RecordCollector,
    json_records,
    parse_object,
    record_rows,
)
from embeddings.corpora.reading.text_rows import MAX_ROW, AnyRows, ColumnSelection, Rows, merge_tags

MIN_COMPILED = 1 << 22  # bytes, from which on lines are parsed by compiled code
MAX_ROWS = 4096  # at a time


def json_rows(
    blocks: Iterable[bytes], file: str, columns: ColumnSelection, decoder: Utf8Decoder, size: int
) -> Iterator[AnyRows]:
    """Yield the objects of JSON lines that come in blocks of valid UTF-8 as rows (see `RecordCollector`)."""
    blocks, head, length = iter(blocks), list[bytes](), 0
    while length < MIN_COMPILED and (block := next(blocks, b"")):
        head.append(block)
        length += len(block)
    collector, n_lines = RecordCollector(file, columns, decoder), 0
    if length >= MIN_COMPILED:
        lines, head = divide_lines(head)
        n_lines = sum(block.count(b"\n") for block in lines)
        yield from record_rows(json_records(lines, file), file, columns, decoder, size, collector)
    blocks = chain(head, blocks)
    if collector.are_plain and not columns.keeps_columns:
        compiled = CompiledLines(blocks, collector, n_lines)
        yield from compiled
        blocks, n_lines = chain([compiled.rest], blocks), compiled.n_lines
    yield from record_rows(json_records(blocks, file, n_lines), file, columns, decoder, size, collector)


def divide_lines(blocks: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Return the blocks up to the last line end, and what follows."""
    number = next((number for number in reversed(range(len(blocks))) if b"\n" in blocks[number]), None)
    if number is None:
        return [], blocks
    stop = blocks[number].rindex(b"\n") + 1
    return [*blocks[:number], blocks[number][:stop]], [blocks[number][stop:], *blocks[number + 1 :]]


class CompiledLines:
    """Reads complete lines block by block, up to one that is very long, or whose text is a list of tokens.

    Attributes:
        rest: after the end, the text that was not read.
        n_lines: the number of lines before it.
    """

    def __init__(self, blocks: Iterable[bytes], collector: RecordCollector, n_lines: int) -> None:
        self.blocks = blocks
        self.collector = collector
        self.rest = b""
        self.n_lines = n_lines

    def __iter__(self) -> Iterator[AnyRows]:
        from embeddings.corpora.reading.json_kernel import END, IS_UNUSUAL, N_LINES, find_lines

        columns = [name.encode("utf-8", "replace") for name in self.collector.names]
        names: Any = np.frombuffer(b"".join(columns), np.uint8)
        ends = np.array([*accumulate(map(len, columns))], np.int64)
        spans, state = np.empty((MAX_ROWS, len(columns), 3), np.int64), np.zeros(3, np.int64)
        for block in self.blocks:
            text = self.rest + block
            array, start, is_complete = np.frombuffer(text, np.uint8), 0, False
            while not is_complete and not self.collector.is_tokens:
                state[N_LINES] = self.n_lines
                n_rows = find_lines(array, start, names, ends, spans, state)
                start, self.n_lines = int(state[END]), int(state[N_LINES])
                if n_rows:
                    yield self.convert(text, spans[:n_rows])
                if state[IS_UNUSUAL]:
                    stop = text.index(b"\n", start)
                    self.add_line(text[start:stop].decode())
                    yield from self.collector.take()
                    start = stop + 1
                is_complete = n_rows < MAX_ROWS and not state[IS_UNUSUAL]
            self.rest = text[start:]
            if self.collector.is_tokens or len(self.rest) > MAX_ROW:
                return

    def add_line(self, line: str) -> None:
        """Add a line that the compiled code does not read."""
        self.n_lines += 1
        position = f"{self.collector.file}, line {self.n_lines}"
        if not line.isspace():
            self.collector.add(position, parse_object(line, position))

    def convert(self, text: bytes, spans: NDArray[np.int64]) -> Rows:
        """Return the lines that were found, as rows."""
        from embeddings.corpora.reading.json_kernel import KIND, NULL, START, STOP, copy_strings

        if self.collector.is_tokens is None and (spans[:, 0, KIND] != NULL).any():
            self.collector.is_tokens = False
        out = np.empty(int((spans[:, 0, STOP] - spans[:, 0, START]).sum()), np.uint8)
        ends = np.empty(len(spans), np.int64)
        size = copy_strings(np.frombuffer(text, np.uint8), spans, 0, out, ends)
        columns = [tag_strings(text, spans[:, column].tolist()) for column in range(1, spans.shape[1])]
        tags = [merge_tags(values) for values in zip(*columns, strict=True)] if columns else None
        return Rows(out[:size].tobytes(), ends, tags)


def tag_strings(text: bytes, spans: Sequence[Sequence[int]]) -> list[str | None]:
    """Return the strings of a column, and numbers as written."""
    from embeddings.corpora.reading.json_kernel import ESCAPED, NULL

    values: list[str | None] = []
    for start, stop, kind in spans:
        value = DECODER.decode(text[start - 1 : stop + 1].decode()) if kind == ESCAPED else text[start:stop].decode()
        values.append(None if kind == NULL else value)
    return values
