"""Rows of CSV files."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import encode

from embeddings.corpora.reading import csv_rows, record_rows, text_rows
from embeddings.errors import CorpusError

CELL = st.text(st.sampled_from('aB é\n\r",\t\0\ufeff\U0001f600'), max_size=9)
SIZES = st.sampled_from([1, 2, 3, 7, 30, 1 << 18])


@settings(deadline=None, max_examples=80)
@given(
    rows=st.lists(st.tuples(CELL, CELL), max_size=8),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n"]),
    size=SIZES,
)
def test_csv_is_parsed_like_the_standard_library(rows, quoting, end, size):
    if quoting == csv.QUOTE_MINIMAL and end == "\n":  # older writers do not quote a lone carriage return, a line end
        rows = [(one.replace("\r", ""), other.replace("\r", "")) for one, other in rows]
    out = io.StringIO()
    writer = csv.writer(out, quoting=quoting, lineterminator=end)
    writer.writerows([("a", "b"), *rows])
    data = out.getvalue().encode()
    blocks = [data[start : start + size] for start in range(0, len(data), size)]
    parts = list(csv_rows.csv_rows(blocks, "f", csv_rows.ColumnSelection("b", "a"), ","))
    cells = [part.data[a:b].decode() for part in parts for a, b in zip([0, *part.parts], part.parts, strict=False)]
    read = list(csv.reader(io.StringIO(out.getvalue(), newline="")))[1:]
    assert cells == [row[1] for row in read if row]
    assert [tag for part in parts for tag in part.tags] == [row[0] for row in read if row]


def test_an_unterminated_row_is_refused_before_it_fills_memory(tmp_path, monkeypatch):
    for module in (csv_rows, record_rows, text_rows):
        monkeypatch.setattr(module, "MAX_ROW", 1000)
    (tmp_path / "f.csv").write_text('b\nx\n"' + "y " * 2000)
    with pytest.raises(CorpusError, match=r"line 3: .*longer than 1000 .*quote"):
        encode(tmp_path / "f.csv", block_size=100)
    (tmp_path / "f.jsonl").write_text('{"b": "x"}\n{"b": "' + "y " * 2000)
    with pytest.raises(CorpusError, match="line 2: longer than 1000"):
        encode(tmp_path / "f.jsonl", block_size=100)
