"""Tables: each row is a document; all file types, block sizes and compressions give the same corpus."""

import gzip
import tracemalloc
from itertools import islice

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from naive_corpora import check, decoded, encode, naive_lines, naive_tokens
from table_files import WRITERS, dictionary_table, parquet, stream

from embeddings.corpora.reading import arrow_tables
from embeddings.corpora.reading.column_selection import ColumnSelection
from embeddings.corpora.reading.reader import SourceReader
from embeddings.corpora.reading.sources import File
from embeddings.errors import CorpusError


def expected(cells):
    """Sentences and documents of these rows."""
    lines = [naive_lines(cell or "") or [""] for cell in cells]
    sentences = [naive_tokens(line, "words", "lower") for document in lines for line in document]
    return sentences, [sum(map(len, lines[:i])) for i in range(len(lines) + 1)]


def test_dotted_paths_select_nested_fields_unless_a_field_has_that_name(tmp_path):
    path = tmp_path / "f.jsonl"
    path.write_text('{"a": {"b": {"c": "deep"}}}\n\n{"a.b.c": "flat", "a": 1}\n{"a": null}\n{"a": {"b": {"c": null}}}')
    with encode(path, text_column="a.b.c") as encoded:
        check(encoded, [["deep"], ["flat"], [], []], [0, 1, 2, 3, 4])


def test_the_only_column_of_strings_is_used_and_recorded(tmp_path):
    for name, write in WRITERS.items():
        table = pa.table({"body": ["one"]} if "sv" in name else {"n": [1], "body": ["one"]})
        write(tmp_path / name, table)
        with encode(tmp_path / name) as encoded:
            check(encoded, [["one"]], [0, 1])
            assert encoded.meta["columns"] == {str(tmp_path / name): "body"}
            assert encoded.tags is None


@pytest.mark.parametrize("name", WRITERS)
def test_column_errors_list_the_columns(tmp_path, name):
    WRITERS[name](tmp_path / name, pa.table({"n": [1, 2], "title": ["one", "two"], "body": ["x", "y"]}))
    names = "n, title, body" if "sv" in name else "title, body"
    with pytest.raises(CorpusError, match=rf"{name} .*text_column: {names}$"):
        encode(tmp_path / name)
    with pytest.raises(CorpusError, match=r"(no column|no field) 'texte'; .*: n, title, body$"):
        encode(tmp_path / name, text_column="texte")
    with pytest.raises(CorpusError, match=r"(no column|no field) 'lang'; .*: n, title, body$"):
        encode(tmp_path / name, text_column="body", tag_column="lang")
    if "sv" not in name:  # whose cells are strings
        with pytest.raises(CorpusError, match=r"'n' must be a string"):
            encode(tmp_path / name, text_column="n")
    with encode(tmp_path / name, text_column="body", tag_column="n") as encoded:
        assert encoded.tags.to_pylist() == ["1", "2"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a"', ".*Expecting ',' delimiter at column 13"),
        ("[" * 100_000, ".*nested too deeply"),
        ('{"text": ' + '{"a":' * 100_000, ".*nested too deeply"),
        ("[1]", ".*object.*type list.*"),
        ('"a"', ".*object.*type str.*"),
        ('{"text": {"a": 1}}', ".*'text'.*string.*type dict.*"),
        ('{"text": [1]}', ".*'text'.*string.*number 1"),
        ('{"text": true}', ".*'text'.*string.*type bool.*"),
        ('{"text": 1' + "0" * 5000 + "}", r".*'text'.*string.*number 10{19}"),
        ("\0", ".*Expecting value at column 1"),
    ],
)
@pytest.mark.parametrize("size", [5, 1 << 18])
def test_invalid_json_is_reported_with_its_line(tmp_path, line, message, size):
    path = tmp_path / "f.jsonl"
    path.write_text('{"text": "fine"}\n\n' + line + '\n{"text": "fine"}\n')
    with pytest.raises(CorpusError, match=rf"f\.jsonl, line 3: {message}$"):
        encode(path, text_column="text", block_size=size)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,x\n2,y,z\n", r"line 3: .*3 cells.*2$"),
        ('a,b\n1,"x\n\ny"\n2\n', r"line 5: .*1 cells.*2$"),
        ('a,b\n1,"x" y\n', "line 2: text after the closing quote"),
        ('a,b\n1,x\n2,"y\n3,z\n', "line 3: .*never closed"),
        ("b,b\n1,x\n", "2 columns.*'b'"),
        ('"b"c,a\n1,x\n', "line 1: text after the closing quote"),
        ("a,b\n1,x\ry\n", "line 3: .*1 cells.*2$"),
        ("b,a\n\n", "no words found"),
    ],
)
@pytest.mark.parametrize("size", [1, 1 << 18])
def test_invalid_csv_is_reported_with_its_line(tmp_path, text, message, size):
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(CorpusError, match=message):
        encode(tmp_path / "f.csv", text_column="b" if "b" in text else None, block_size=size)


@pytest.mark.parametrize("name", ["f.csv", "f.jsonl"])
def test_a_row_that_never_ends_takes_limited_memory(tmp_path, name):
    start = b'b\nx\n"' if name == "f.csv" else b'{"b": "x"}\n{"b": "'
    with gzip.open(tmp_path / f"{name}.gz", "wb") as stream:
        stream.write(start)
        stream.writelines(b"word " * 100_000 + (b"\n" if name == "f.csv" else b"") for _ in range(300))
    tracemalloc.start()
    with pytest.raises(CorpusError, match=r"longer than 16777216 characters"):
        encode(tmp_path / f"{name}.gz")
    assert tracemalloc.get_traced_memory()[1] < 1 << 28
    tracemalloc.stop()


def test_rows_that_share_a_long_text_take_limited_memory(tmp_path):
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink:
        table = dictionary_table(["a " * (1 << 19), "b", None], [0] * 300 + [1, 2])
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    largest = 0
    for block in SourceReader("strict", columns=ColumnSelection("text")).read(File(tmp_path / "t.arrow")):
        largest = max(largest, pa.total_allocated_bytes())
        assert len(block.data) <= 1 << 20  # one row
    assert largest < 1 << 25


@pytest.mark.parametrize("others", [[], ["a b", "c"]])
def test_long_values_that_a_parquet_file_repeats_are_decoded_a_few_at_a_time(tmp_path, monkeypatch, others):
    """A file of a few hundred bytes stands for gigabytes of text."""
    values = ["word " * 20_000, *others]
    column = dictionary_table(values, [0] * 5000)["text"]
    pq.write_table(pa.table({"text": column}), tmp_path / "t", store_schema=False, compression="zstd")
    assert (tmp_path / "t").stat().st_size < 1000
    monkeypatch.setattr(arrow_tables, "MAX_DECODED", 1 << 20)
    with pq.ParquetFile(tmp_path / "t") as file:
        batches = arrow_tables.parquet_batches(file, tmp_path / "t", ["text"])
        assert [len(batch) for batch in islice(batches, 3)] == [10 if others else arrow_tables.FEW_ROWS] * 3


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.feather"])
def test_invalid_utf8_is_reported_with_its_row_or_repaired(tmp_path, name):
    offsets = pa.py_buffer(b"".join(n.to_bytes(4, "little") for n in (0, 1, 3, 4)))
    column = pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"ab\xffc")])
    WRITERS[name](tmp_path / name, pa.table({"text": column}))
    with pytest.raises(CorpusError, match=rf"{name}, row 2 is not UTF-8 at byte 1 \(0xff\)"):
        encode(tmp_path / name)
    with encode(tmp_path / name, encoding_errors="ignore") as encoded:
        assert decoded(encoded) == [["a"], ["b"], ["c"]]
        assert encoded.decoding_errors == 1


@pytest.mark.parametrize("name", ["t.arrow", "t.feather"])
def test_values_under_nulls_are_not_read(tmp_path, name):
    offsets = pa.py_buffer(b"".join(n.to_bytes(4, "little") for n in (0, 1, 3, 4)))
    column = pa.Array.from_buffers(pa.string(), 3, [pa.py_buffer(b"\5"), offsets, pa.py_buffer(b"axxc")])
    WRITERS[name](tmp_path / name, pa.table({"text": column}))
    with encode(tmp_path / name) as encoded:
        check(encoded, [["a"], [], ["c"]], [0, 1, 2, 3])


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.feather"])
def test_truncated_and_corrupt_tables_are_reported_in_one_line(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path, pa.table({"text": ["one two three"] * 1000}))
    data = path.read_bytes()
    for length in (9, 100, len(data) // 2, len(data) - 20):
        path.write_bytes(data[:length])
        with pytest.raises(CorpusError, match=rf"{name} is truncated or corrupt [^\n]*$"):
            encode(path)
    path.write_bytes(b"words")
    with pytest.raises(CorpusError, match=rf"{name} is broken"):
        encode(path)


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_huge_size_claimed_by_an_arrow_message_is_not_allocated(tmp_path, compress):
    stream(tmp_path / "t", pa.table({"text": ["one two"]}))
    data = (tmp_path / "t").read_bytes()
    (tmp_path / "t").write_bytes(compress(data[:4] + (2**31 - 8).to_bytes(4, "little") + data[8:]))
    tracemalloc.start()
    with pytest.raises(CorpusError, match=r"t is truncated or corrupt [^\n]*$"):
        encode(tmp_path / "t")
    assert tracemalloc.get_traced_memory()[1] < 1 << 26
    tracemalloc.stop()


def test_compressed_parquet_is_refused(tmp_path):
    parquet(tmp_path / "t", pa.table({"text": ["a"]}))
    (tmp_path / "t.gz").write_bytes(gzip.compress((tmp_path / "t").read_bytes()))
    with pytest.raises(CorpusError, match=r"t.gz is Parquet.*without compression"):
        encode(tmp_path / "t.gz")
    with encode(tmp_path / "t") as encoded:
        assert decoded(encoded) == [["a"]]


def test_columns_of_sources_without_columns_are_refused(tmp_path):
    (tmp_path / "f.txt").write_text("plain")
    with pytest.raises(CorpusError, match=r"f.txt is plain text.*'text'.*.jsonl"):
        encode(tmp_path / "f.txt", text_column="text")
    with pytest.raises(CorpusError, match=r"f.txt is plain text.*'tag'"):
        encode(tmp_path / "f.txt", tag_column="tag")
    with pytest.raises(CorpusError, match=r"an iterable \(list\) has no column 'text'"):
        encode(["a"], text_column="text")
    (tmp_path / "any").write_text('{"text": "detected by its brace"}')
    with encode(tmp_path / "any", text_column="text") as encoded:
        assert decoded(encoded) == [["detected", "by", "its", "brace"]]


@pytest.mark.parametrize("size", [3, 1 << 18])
@pytest.mark.parametrize("rows", range(1, 9))
def test_the_first_rows_of_the_whole_corpus(tmp_path, rows, size):
    (tmp_path / "1.jsonl").write_text('{"t": "a\\nb"}\n{"t": "c"}\n')
    parquet(tmp_path / "2.parquet", pa.table({"t": ["d", "e e", None]}))
    (tmp_path / "3.csv").write_text("t\nf\ng\nh")
    cells = ["a\nb", "c", "d", "e e", "", "f", "g", "h"][:rows]
    with encode(tmp_path, text_column="t", rows=rows, block_size=size) as encoded:
        check(encoded, *expected(cells))


@pytest.mark.parametrize("name", WRITERS)
def test_a_tag_column_is_not_the_text_by_default(tmp_path, name):
    WRITERS[name](tmp_path / name, pa.table({"x": ["a b", "c"], "label": ["p", "q"]}))
    with encode(tmp_path / name, tag_column="label") as encoded:
        assert encoded.vocabulary.words == ["a", "b", "c"]
