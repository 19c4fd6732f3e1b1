"""Rows of CSV files."""

import csv
import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from parsed_rows import read_rows

from embeddings.corpora.reading import csv_table, text_block
from embeddings.corpora.reading.column_selection import ColumnSelection
from embeddings.corpora.reading.csv_table import CsvTable
from embeddings.corpora.reading.encodings import Utf8Decoder

CELL = st.text(st.sampled_from('aB é\n\r",\t\0\ufeff\U0001f600'), max_size=9)


def written(rows, quoting, end):
    """Rows as the standard library writes them."""
    out = io.StringIO()
    csv.writer(out, quoting=quoting, lineterminator=end).writerows(rows)
    return out.getvalue()


TABLE = st.text(st.sampled_from('ab1é\n\n\r"",,,\t\0\U0001f600'), max_size=40) | st.builds(
    written,
    st.lists(st.tuples(CELL, CELL), max_size=8),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
)
SIZES = st.sampled_from([1, 2, 3, 7, 30, 1 << 18])


def read_csv(data, size, columns, delimiter=",", *, with_arrow=True):
    """The rows of a CSV file, read by Arrow where it can, or by the standard library only."""
    with pytest.MonkeyPatch.context() as patch:
        if not with_arrow:
            patch.setattr(csv_table, "parse_cells", lambda *_, **__: None)
        return read_rows(
            lambda blocks: CsvTable(blocks, "f", delimiter, Utf8Decoder("strict", "f")),
            data,
            size,
            columns,
        )


@settings(deadline=None, max_examples=200)
@given(header=st.sampled_from(["a,b\n", '"a",b\r\n', "a,b\r", "a,b", "b\n"]), body=TABLE, size=SIZES)
@example(header="a,b\n", body='x,"y', size=1 << 18)
@example(header="a,b\n", body='\n\nx,y\r\r\n"1\n2","3"4,\n', size=2)
@example(header="a,b\n", body='a"b,"c,d"\n"x",5" disk\n', size=7)
@example(header="a,b\n", body='x,y\na,"b""', size=3)
@example(header="a,b\n", body="null,NA\nNaN,NULL\n#N/A,nan\n", size=1 << 18)
@example(header="a,b\n", body="\ufeffx,\ufeff\n", size=2)
@example(header="a,b\n", body="x,y\n" + '"' + "word, " * 2000 + '","' + "z" * 5000 + '"\nu,v\n', size=100)
def test_any_csv_gives_the_same_rows_and_the_same_error(header, body, size):
    data = (header + body).encode()
    columns = ColumnSelection("b", ("a",) if "a" in header else (), None)
    expected, error = read_csv(data, 1 << 18, columns, with_arrow=False)
    rows, parsed_error = read_csv(data, size, columns)
    assert parsed_error == error
    if error is None:
        assert rows == expected
        names, *cells = filter(None, csv.reader(io.StringIO(header + body, newline="")))
        assert [text.decode() for text, _, _ in rows] == [row[names.index("b")] for row in cells]
    else:
        assert len(rows) >= len(expected) or not rows  # the number of rows before the error may differ


def test_a_row_longer_than_a_block_is_read_and_one_beyond_the_limit_refused(monkeypatch):
    for module in (csv_table, text_block):
        monkeypatch.setattr(module, "MAX_ROW", 5000)
    columns = ColumnSelection("b")
    rows, error = read_csv(b'b\nx\n"' + b"y\n" * 2000 + b'"\nz\n', 100, columns)
    assert error is None
    assert [text for text, _, _ in rows] == [b"x", b"y\n" * 2000, b"z"]
    rows, error = read_csv(b'b\nx\n"' + b"y\n" * 4000 + b'"\nz\n', 100, columns)
    assert error == "f, line 3: the row that starts here is longer than 5000 characters; is a quote never closed?"


def test_a_cell_may_be_longer_than_the_limit_of_the_standard_library():
    cell = b"y" * (csv.field_size_limit() + 1)
    rows, error = read_csv(b"b\nx\n" + cell + b"\n", 1 << 18, ColumnSelection("b"), with_arrow=False)
    assert (error, [text for text, _, _ in rows]) == (None, [b"x", cell])


def test_common_csv_is_parsed_by_arrow(monkeypatch):
    """All but the column names, and the rows of a block with something odd."""
    parse, counts = csv_table.CsvTable.parsed_rows, []

    def counted(table, limit=None):
        rows = parse(table, limit)
        counts.append(len(rows))
        return rows

    monkeypatch.setattr(csv_table.CsvTable, "parsed_rows", counted)
    rows = [(f"t{i}", f'text "{i}", of\nlines') for i in range(20_000)]
    out = io.StringIO()
    csv.writer(out).writerows([("tag", "text"), *rows])
    data = out.getvalue().rstrip().encode()
    for odd, count in ((b"", 1), (b'odd,5" disk\r\n', 2500)):
        counts.clear()
        found, error = read_csv(odd.join([data[:10], data[10:]]), 1 << 15, ColumnSelection(None, ("tag",)))
        assert error is None
        assert [(tag, text.decode()) for text, tag, _ in found][bool(odd) :] == rows
        assert sum(counts) <= count
