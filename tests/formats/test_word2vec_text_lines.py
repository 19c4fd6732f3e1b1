"""Delimited text in memory that belongs to Arrow."""

import io

import pyarrow as pa
import pytest

from embeddings.formats import word2vec_text
from embeddings.formats.word2vec_text import arrow_buffer, read_columns


def test_arrow_parses_memory_of_its_own_which_its_threads_release_without_the_interpreter() -> None:
    data = b"x" * 100_000
    before = pa.total_allocated_bytes()
    buffer = arrow_buffer(data)
    assert pa.total_allocated_bytes() - before >= len(data)
    assert buffer.to_pybytes() == data


def test_lines_with_an_error_are_parsed_from_such_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(
        word2vec_text.pa, "BufferReader", lambda buffer, make=pa.BufferReader: made.append(buffer) or make(buffer)
    )
    with pytest.raises(pa.ArrowException):
        list(read_columns(io.BytesIO(b"a 1\nb\n"), [pa.string(), pa.float32()], max_line=100))
    assert made
    assert all(isinstance(buffer, pa.Buffer) for buffer in made)  # never bytes of Python
