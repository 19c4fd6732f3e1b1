"""Tables: each row a document, the same numbers from every form, block size and compression."""

import csv
import gzip
import io
import json
import re
import tempfile
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import check, decoded, encode, naive_lines, naive_tokens

from embeddings.corpora import Corpus
from embeddings.corpora.reading import csv_rows, record_rows
from embeddings.errors import CorpusError

CELL = st.text(st.sampled_from('aB é\n\r",\t\0\ufeff\U0001f600'), max_size=9)
SIZES = st.sampled_from([1, 2, 3, 7, 30, 1 << 18])


def parquet(path, table):
    pq.write_table(table, path, row_group_size=3)


def arrow(path, table):
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=4)


def stream(path, table):
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


def jsonl(path, table):
    path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()), encoding="utf-8")


def written(table, delimiter):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(table.column_names)
    writer.writerows([cell or "" for cell in row.values()] for row in table.to_pylist())
    return out.getvalue().encode()


FORMS = {
    "t.parquet": parquet,
    "t.arrow": arrow,
    "t.feather": stream,
    "t.jsonl": jsonl,
    "t.csv": lambda path, table: path.write_bytes(written(table, ",")),
    "t.tsv": lambda path, table: path.write_bytes(written(table, "\t")),
    "t.csv.gz": lambda path, table: path.write_bytes(gzip.compress(written(table, ","))),
}


def expected(cells):
    """Sentences and documents of these rows."""
    lines = [naive_lines(cell or "") or [""] for cell in cells]
    sentences = [naive_tokens(line, "words", "lower") for document in lines for line in document]
    return sentences, [sum(map(len, lines[:i])) for i in range(len(lines) + 1)]


@settings(deadline=None, max_examples=120)
@given(cells=st.lists(CELL | st.none(), max_size=12), size=SIZES, form=st.sampled_from(list(FORMS)))
def test_each_row_is_a_document_in_every_form(cells, size, form):
    cells = [*cells, "end"]
    tags = [
        None if cell is None and "csv" not in form and "tsv" not in form else f"<{i}>" for i, cell in enumerate(cells)
    ]
    table = pa.table({"x": range(len(cells)), "tag": tags, "body": cells})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, form)
        FORMS[form](path, table)
        with encode(path, text_column="body", tag_column="tag", block_size=size) as encoded:
            check(encoded, *expected(cells))
            assert encoded.tags.to_pylist() == tags
            assert encoded.tags.type == pa.large_string()


@settings(deadline=None, max_examples=150)
@given(
    rows=st.lists(st.tuples(CELL, CELL), max_size=8),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n"]),
    size=SIZES,
)
def test_csv_is_cut_as_by_the_standard_library(rows, quoting, end, size):
    if quoting == csv.QUOTE_MINIMAL and end == "\n":  # there a lone return, which is no line end here, is not quoted
        rows = [(one.replace("\r", ""), other.replace("\r", "")) for one, other in rows]
    out = io.StringIO()
    writer = csv.writer(out, quoting=quoting, lineterminator=end)
    writer.writerows([("a", "b"), *rows])
    data = out.getvalue().encode()
    blocks = [data[start : start + size] for start in range(0, len(data), size)]
    parts = list(csv_rows.csv_rows(blocks, "f", csv_rows.ColumnSelection("b", "a"), ","))
    cells = [part.data[a:b].decode() for part in parts for a, b in zip([0, *part.ends], part.ends, strict=False)]
    read = list(csv.reader(io.StringIO(out.getvalue(), newline="")))[1:]
    assert cells == [row[1] for row in read if row]
    assert [tag for part in parts for tag in part.tags] == [row[0] for row in read if row]


def test_dotted_paths_reach_into_json_and_a_field_of_that_name_wins(tmp_path):
    path = tmp_path / "f.jsonl"
    path.write_text('{"a": {"b": {"c": "deep"}}}\n\n{"a.b.c": "flat", "a": 1}\n{"a": null}\n{"a": {"b": {"c": null}}}')
    with encode(path, text_column="a.b.c") as encoded:
        check(encoded, [["deep"], ["flat"], [], []], [0, 1, 2, 3, 4])


def test_the_only_column_of_strings_is_taken_and_told(tmp_path):
    for form, write in FORMS.items():
        table = pa.table({"body": ["one"]} if "sv" in form else {"n": [1], "body": ["one"]})
        write(tmp_path / form, table)
        with encode(tmp_path / form) as encoded:
            check(encoded, [["one"]], [0, 1])
            assert encoded.meta["columns"] == {str(tmp_path / form): "body"}
            assert encoded.tags is None


@pytest.mark.parametrize("form", FORMS)
def test_faults_of_columns_are_told_with_those_there_are(tmp_path, form):
    FORMS[form](tmp_path / form, pa.table({"n": [1, 2], "title": ["one", "two"], "body": ["x", "y"]}))
    names = "n, title, body" if "sv" in form else "title, body"
    with pytest.raises(CorpusError, match=rf"{form} has columns; choose one with --text-column: {names}$"):
        encode(tmp_path / form)
    with pytest.raises(CorpusError, match=r"(no column|no field) 'texte'; .*: n, title, body$"):
        encode(tmp_path / form, text_column="texte")
    with pytest.raises(CorpusError, match=r"(no column|no field) 'lang'; .*: n, title, body$"):
        encode(tmp_path / form, text_column="body", tag_column="lang")
    with pytest.raises(
        CorpusError, match=r"holds int64, not strings$|'n' is a number \(1\), not a string|holds numbers"
    ):
        encode(tmp_path / form, text_column="n")
    with encode(tmp_path / form, text_column="body", tag_column="n") as encoded:
        assert encoded.tags.to_pylist() == ["1", "2"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a"', "broken JSON: Expecting ',' delimiter at column 13"),
        ("[" * 100_000, "JSON nested too deep"),
        ('{"text": ' + '{"a":' * 100_000, "JSON nested too deep"),
        ("[1]", "a list, not an object"),
        ('"a"', "a string, not an object"),
        ('{"text": {"a": 1}}', "'text' is an object, not a string"),
        ('{"text": ["a"]}', "'text' is a list, not a string"),
        ('{"text": true}', "'text' is true or false, not a string"),
        ('{"text": 1' + "0" * 5000 + "}", r"'text' is a number \(10{19}\), not a string"),
        ('{"txt": "a", "n": 1}', "no field 'text'; there are: txt, n"),
        ("\0", "broken JSON: Expecting value at column 1"),
    ],
)
@pytest.mark.parametrize("size", [5, 1 << 18])
def test_a_broken_line_of_json_is_told_by_its_number(tmp_path, line, message, size):
    path = tmp_path / "f.jsonl"
    path.write_text('{"text": "fine"}\n\n' + line + '\n{"text": "fine"}\n')
    with pytest.raises(CorpusError, match=rf"f\.jsonl, line 3: {message}$"):
        encode(path, text_column="text", block_size=size)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,x\n2,y,z\n", "line 3: 3 cells in the row, 2 in the first"),
        ('a,b\n1,"x\n\ny"\n2\n', "line 5: 1 cells in the row, 2 in the first"),
        ('a,b\n1,"x" y\n', 'line 2: text after the closing quote of a cell; a quote within is written ""'),
        ('a,b\n1,x\n2,"y\n3,z\n', "line 3: a quoted cell of the row that starts here is never closed"),
        ("a,b\n1,2\n2,3e5\n3,-4.5\n", "holds numbers, not text"),
        ("b,b\n1,x\n", "has 2 columns called 'b'"),
        ("b,a\n\n", "no words found in"),
    ],
)
@pytest.mark.parametrize("size", [1, 1 << 18])
def test_a_broken_csv_is_told_by_its_line(tmp_path, text, message, size):
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(CorpusError, match=re.escape(message)):
        encode(tmp_path / "f.csv", text_column="b" if "b" in text else None, block_size=size)


def test_a_csv_without_line_ends_is_refused(tmp_path):
    (tmp_path / "f.csv").write_text("a" * (1 << 22))
    with pytest.raises(CorpusError, match=r"f.csv is no CSV: its first row is longer than 1048576 bytes"):
        encode(tmp_path / "f.csv")
    (tmp_path / "f.csv").write_text("a" * (1 << 18))
    with pytest.raises(CorpusError, match="names of its columns, in the first row, cannot be read: field larger"):
        encode(tmp_path / "f.csv")


def test_texts_that_are_partly_numbers_and_empty_ones_are_texts(tmp_path):
    (tmp_path / "f.csv").write_text("b\n1\n" + '""\n' * 150 + "2\nx\n")
    with encode(tmp_path / "f.csv") as encoded:
        check(encoded, [["1"], *[[]] * 150, ["2"], ["x"]], list(range(154)))


def test_a_row_without_end_is_refused_before_it_fills_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_rows, "MAX_ROW", 1000)
    monkeypatch.setattr(record_rows, "MAX_ROW", 1000)
    (tmp_path / "f.csv").write_text('b\nx\n"' + "y " * 2000)
    with pytest.raises(
        CorpusError, match=r"line 3: the row that starts here is longer than 1000 bytes; is a quote never"
    ):
        encode(tmp_path / "f.csv", block_size=100)
    (tmp_path / "f.jsonl").write_text('{"b": "x"}\n{"b": "' + "y " * 2000)
    with pytest.raises(CorpusError, match="line 2: longer than 1000 characters"):
        encode(tmp_path / "f.jsonl", block_size=100)


@pytest.mark.parametrize("form", ["t.parquet", "t.arrow", "t.feather"])
def test_texts_that_are_not_utf8_are_told_by_row_or_mended(tmp_path, form):
    offsets = pa.py_buffer(b"".join(n.to_bytes(4, "little") for n in (0, 1, 3, 4)))
    column = pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"ab\xffc")])
    FORMS[form](tmp_path / form, pa.table({"text": column}))
    with pytest.raises(CorpusError, match=rf"{form}, row 2 is not UTF-8 at byte 1 \(0xff\)"):
        encode(tmp_path / form)
    with encode(tmp_path / form, encoding_errors="ignore") as encoded:
        assert decoded(encoded) == [["a"], ["b"], ["c"]]
        assert encoded.decoding_errors == 1


@pytest.mark.parametrize("form", ["t.arrow", "t.feather"])
def test_what_lies_under_a_null_is_not_read(tmp_path, form):
    offsets = pa.py_buffer(b"".join(n.to_bytes(4, "little") for n in (0, 1, 3, 4)))
    column = pa.Array.from_buffers(pa.string(), 3, [pa.py_buffer(b"\5"), offsets, pa.py_buffer(b"axxc")])
    FORMS[form](tmp_path / form, pa.table({"text": column}))
    with encode(tmp_path / form) as encoded:
        check(encoded, [["a"], [], ["c"]], [0, 1, 2, 3])


@pytest.mark.parametrize("form", ["t.parquet", "t.arrow", "t.feather"])
def test_truncated_and_spoilt_tables_are_told_in_a_line(tmp_path, form):
    path = tmp_path / form
    FORMS[form](path, pa.table({"text": ["one two three"] * 1000}))
    data = path.read_bytes()
    for length in (9, 100, len(data) // 2, len(data) - 20):
        path.write_bytes(data[:length])
        with pytest.raises(CorpusError, match=rf"{form} is truncated or corrupt [^\n]*$"):
            encode(path)
    path.write_bytes(b"words")
    with pytest.raises(CorpusError, match=rf"{form} is broken: it does not start as"):
        encode(path)


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_message_of_arrow_that_claims_any_size_is_not_believed(tmp_path, compress):
    stream(tmp_path / "t", pa.table({"text": ["one two"]}))
    data = (tmp_path / "t").read_bytes()
    (tmp_path / "t").write_bytes(compress(data[:4] + (2**31 - 8).to_bytes(4, "little") + data[8:]))
    tracemalloc.start()
    with pytest.raises(CorpusError, match=r"t is truncated or corrupt [^\n]*$"):
        encode(tmp_path / "t")
    assert tracemalloc.get_traced_memory()[1] < 1 << 26
    tracemalloc.stop()


def test_a_column_whose_name_is_not_utf8(tmp_path):
    parquet(tmp_path / "t", pa.table({"namely": ["a"], "text": ["one"]}))
    data = (tmp_path / "t").read_bytes()
    (tmp_path / "t").write_bytes(data.replace(b"namely", b"name\xce\xce"))
    with pytest.raises(CorpusError, match=r"t is truncated or corrupt Parquet[^\n]*$"):
        Corpus(tmp_path / "t", text_column="text").encode()


def test_what_must_be_a_file_is_told(tmp_path):
    parquet(tmp_path / "t", pa.table({"text": ["a"]}))
    (tmp_path / "t.gz").write_bytes(gzip.compress((tmp_path / "t").read_bytes()))
    with pytest.raises(CorpusError, match=r"t.gz holds Parquet, which is read only from a file that is not compressed"):
        encode(tmp_path / "t.gz")
    with encode(tmp_path / "t") as encoded:
        assert decoded(encoded) == [["a"]]


def test_columns_of_other_sources_are_refused(tmp_path):
    (tmp_path / "f.txt").write_text("plain")
    with pytest.raises(
        CorpusError, match=r"f.txt is plain text and has no column 'text'; columns are read from .jsonl"
    ):
        encode(tmp_path / "f.txt", text_column="text")
    with pytest.raises(CorpusError, match=r"f.txt is plain text and has no column 'tag'"):
        encode(tmp_path / "f.txt", tag_column="tag")
    with pytest.raises(CorpusError, match=r"an iterable \(list\) has no column 'text'"):
        encode(["a"], text_column="text")
    (tmp_path / "any").write_text('{"text": "told by its brace"}')
    with encode(tmp_path / "any", text_column="text") as encoded:
        assert decoded(encoded) == [["told", "by", "its", "brace"]]


@pytest.mark.parametrize("size", [3, 1 << 18])
@pytest.mark.parametrize("rows", range(1, 9))
def test_the_first_rows_of_the_whole_corpus(tmp_path, rows, size):
    (tmp_path / "1.jsonl").write_text('{"t": "a\\nb"}\n{"t": "c"}\n')
    parquet(tmp_path / "2.parquet", pa.table({"t": ["d", "e e", None]}))
    (tmp_path / "3.csv").write_text("t\nf\ng\nh")
    cells = ["a\nb", "c", "d", "e e", "", "f", "g", "h"][:rows]
    with encode(tmp_path, text_column="t", rows=rows, block_size=size) as encoded:
        check(encoded, *expected(cells))


def test_memory_does_not_grow_with_a_table(tmp_path):
    import tracemalloc

    rows = ["some words of a row " * 10] * 1000
    with (tmp_path / "t.jsonl").open("w") as out:
        out.writelines(json.dumps({"text": row}) + "\n" for row in rows * 200)
    (tmp_path / "t.csv").write_text("text\n" + "".join(f"{row}\n" for row in rows * 200))
    with pq.ParquetWriter(tmp_path / "t.parquet", pa.schema([("text", pa.string())]), use_dictionary=False) as writer:
        for _ in range(200):
            writer.write_table(pa.table({"text": rows}))
    encode(["some words"]).close()
    for form in ("jsonl", "csv", "parquet"):
        (tmp_path / f"out-{form}").mkdir()
        corpus = Corpus(tmp_path / f"t.{form}")
        tracemalloc.start()
        before = pa.total_allocated_bytes()
        peaks = []

        def report(*_, peaks=peaks):
            peaks.append(pa.total_allocated_bytes())

        try:
            corpus.write_text(tmp_path / f"out-{form}", report, 1 << 18)
            assert tracemalloc.get_traced_memory()[1] < 28 << 20, form
        finally:
            tracemalloc.stop()
        assert max(peaks) - before < 28 << 20, form
