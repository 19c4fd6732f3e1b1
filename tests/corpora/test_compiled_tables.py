"""The compiled parsers of tables give the rows, and the errors, of the standard library."""

import csv
import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from embeddings.corpora.reading import csv_rows
from embeddings.corpora.reading.text_rows import ColumnSelection
from embeddings.errors import CorpusError

TABLE = st.text(st.sampled_from('ab1é\n\n\r"",,,\t\0\U0001f600'), max_size=40)
SIZES = st.sampled_from([1, 2, 3, 7, 30, 1 << 18])


def read_rows(read, data, size, columns):
    """The texts, tags and kept columns of all rows, and the error if there is one."""
    blocks = (data[start : start + size] for start in range(0, len(data), size))
    rows = []
    try:
        for part in read(blocks, columns):
            texts = [part.data[a:b] for a, b in zip([0, *part.ends.tolist()], part.ends.tolist(), strict=False)]
            assert part.ends.tolist() == sorted(part.ends.tolist())
            tags = part.tags if part.tags is not None else [None] * len(texts)
            kept = part.columns.to_pylist() if part.columns is not None else [None] * len(texts)
            rows += zip(texts, tags, kept, strict=True)
    except CorpusError as error:
        return rows, str(error)
    return rows, None


def read_csv(data, size, columns, min_compiled):
    """The rows of a CSV file with compiled code from so many bytes on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_rows, "MIN_COMPILED", min_compiled)
        return read_rows(lambda blocks, columns: csv_rows.csv_rows(blocks, "f", columns, ","), data, size, columns)


@settings(deadline=None, max_examples=300)
@given(header=st.sampled_from(["a,b\n", '"a",b\r\n', "a,b\r", "a,b", "b\n"]), body=TABLE, size=SIZES)
@example(header="a,b\n", body='x,"y', size=1 << 18)
@example(header="a,b\n", body='\n\nx,y\r\r\n"1\n2","3"4,\n', size=2)
def test_any_csv_gives_the_same_rows_and_the_same_error(header, body, size):
    data = (header + body).encode()
    columns = ColumnSelection("b", ("a",) if "a" in header else (), None)
    expected, error = read_csv(data, size, columns, 1 << 18)
    rows, compiled_error = read_csv(data, size, columns, 0)
    assert compiled_error == error
    if error is None:
        assert rows == expected
        assert [text.decode() for text, _, _ in rows] == [
            row[-1] for row in list(csv.reader(io.StringIO(header + body, newline="")))[1:] if row
        ]
    else:
        assert rows[: len(expected)] == expected  # it may read more rows before the error


def test_large_tables_are_parsed_by_compiled_code(monkeypatch):
    """All but the last row, which has no line end."""
    monkeypatch.setattr(csv_rows.CsvReader, "read", counted := CountedRead(csv_rows.CsvReader.read))
    rows = [(f"t{i}", f'text "{i}", of\nlines') for i in range(20_000)]
    out = io.StringIO()
    csv.writer(out).writerows([("tag", "text"), *rows])
    data = out.getvalue().rstrip().encode()
    found, error = read_csv(data, 1 << 18, ColumnSelection(None, ("tag",)), csv_rows.MIN_COMPILED)
    assert error is None
    assert [(tag, text.decode()) for text, tag, _ in found] == rows
    assert counted.rows == 2


class CountedRead:
    """A method that counts the rows that it returns."""

    def __init__(self, read):
        self.read = read
        self.rows = 0

    def __get__(self, reader, kind):
        def read():
            rows = self.read(reader)
            self.rows += len(rows)
            return rows

        return read
