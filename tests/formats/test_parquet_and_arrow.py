"""Parquet and Arrow IPC: exact round trips, read by pyarrow and pandas, memory-mapped; wrong columns are refused."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from embeddings.cli.info import describe
from embeddings.errors import FormatError
from embeddings.models.loading import load
from embeddings.vectors.vectors import Vectors

EXTENSIONS = [".parquet", ".arrow"]


@pytest.fixture
def small():
    return Vectors(["the", "new\nyork", ""], np.array([[1, -0.5], [0.25, 8], [0, 1e-7]], "f4"), counts=[9, 5, 5])


def write_table(table, path):
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return path


@pytest.mark.reads("parquet", "pyarrow", "`read_table`: a column of lists of fixed size")
@pytest.mark.reads("arrow", "pandas", "`read_feather`: columns, words, counts, every component")
@pytest.mark.reads("parquet", "pandas", "`read_parquet`: columns, words, counts, every component")
def test_what_pandas_and_pyarrow_see(tmp_path, small):
    import pandas as pd

    small.save(tmp_path / "v.parquet")
    small.save(tmp_path / "v.arrow")
    for frame in (pd.read_parquet(tmp_path / "v.parquet"), pd.read_feather(tmp_path / "v.arrow")):
        assert list(frame.columns) == ["word", "count", "vector"]
        assert frame["word"].tolist() == small.words
        assert frame["count"].tolist() == [9, 5, 5]
        assert np.array_equal(np.stack(frame["vector"]), small.matrix)
    schema = parquet.read_table(tmp_path / "v.parquet").schema
    assert schema.field("vector").type == pa.list_(pa.float32(), 2)


def test_arrow_is_memory_mapped(tmp_path, small):
    small.save(tmp_path / "v.arrow")
    before = pa.total_allocated_bytes()
    again = load(tmp_path / "v.arrow")
    assert pa.total_allocated_bytes() == before
    assert not again.matrix.flags.writeable
    assert again.similarity("the", "new\nyork") == pytest.approx(small.similarity("the", "new\nyork"))


@pytest.mark.writes("arrow", "pyarrow", "tables with other names and types of columns")
@pytest.mark.writes("parquet", "pyarrow", "tables with other names and types of columns")
@pytest.mark.parametrize("extension", EXTENSIONS)
def test_tables_of_other_tools(tmp_path, small, extension):
    """Lists of float64, in several chunks, with further columns and no counts, as other tools write them."""
    columns = {"rank": [1, 2, 3], "vector": small.matrix.astype(float).tolist(), "word": small.words}
    table = pa.table(columns)
    again = load(write_table(pa.concat_tables([table.slice(0, 2), table.slice(2)]), tmp_path / f"v{extension}"))
    assert again.words == small.words
    assert np.array_equal(again.matrix, small.matrix)
    assert again.counts is None


@pytest.mark.writes("parquet", "pandas", "`to_parquet`: words and vectors")
def test_parquet_written_by_pandas(tmp_path, small):
    import pandas as pd

    frame = pd.DataFrame({"word": small.words, "vector": list(small.matrix), "count": [9, 5, 5]})
    frame.to_parquet(tmp_path / "v.parquet")
    again = load(tmp_path / "v.parquet")
    assert np.array_equal(again.matrix, small.matrix)
    assert again.counts.tolist() == [9, 5, 5]


GOOD = {"word": pa.array(["a", "b"]), "vector": pa.array([[1.0, 2], [3, 4]], pa.list_(pa.float32(), 2))}


def table(**changes):
    return pa.table({name: value for name, value in (GOOD | changes).items() if value is not None})


INT8 = {"vector": pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2))}
BROKEN = [
    (table(**INT8), "column vector.*int8"),
    (table(**INT8, scale=pa.array([1, 2])), "column vector.*int8"),
    (table(**INT8, scale=pa.array([1.0, None])), "column scale.*1 null"),
    (table(**INT8, scale=pa.array([1.0, np.inf])), "'b'.*NaN"),
    (table(vector=pa.array([[1, 2], [0, 4]], pa.list_(pa.int8(), 2)), scale=pa.array([1.0, np.inf])), "'b'.*NaN"),
    (table(word=None), "word and vector.*: vector"),
    (table(vector=None), "word and vector.*: word"),
    (table(word=pa.array([1, 2])), "column word.*int64"),
    (table(vector=pa.array([1.0, 2])), "column vector.*double"),
    (table(vector=pa.array([[1, 2], [3, 4]])), "column vector.*list<.*int64"),
    (table(vector=pa.array([["x"], ["y"]])), "column vector.*list<.*string"),
    (table(count=pa.array(["x", "y"])), "column count.*string"),
    (table(count=pa.array([1, None])), "column count.*1 null"),
    (table(count=pa.array([2**64 - 1, 1], pa.uint64())), "18446744073709551615"),
    (table(word=pa.array(["a", None])), "column word.*1 null"),
    (table(word=pa.array(["a", "a"])), "'a'"),
    (table(vector=pa.array([[1.0, 2], None], pa.list_(pa.float32(), 2))), "column vector.*1 null|size=2"),
    (table(vector=pa.array([[1.0, None], [3, 4]], pa.list_(pa.float32(), 2))), "column vector.*null"),
    (table(vector=pa.array([[1.0, 2], [3]])), "2 and 1 components"),
    (table(vector=pa.array([[], []], pa.list_(pa.float32()))), "component.*0"),
    (table(vector=pa.array([[1.0, 2], [3, np.nan]])), "'b'.*NaN"),
    (table(vector=pa.array([[1.0, 2], [3, 1e99]])), "'b'.*NaN"),
]


@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize(("content", "message"), BROKEN, ids=[message for _, message in BROKEN])
def test_broken_tables(tmp_path, extension, content, message):
    path = write_table(content, tmp_path / f"v{extension}")
    with pytest.raises(FormatError, match=message) as caught:
        load(path)
    assert str(caught.value).startswith((f"{path}: ", f"{path} is "))
    assert "\n" not in str(caught.value)


def test_null_counts_are_unknown_counts(tmp_path):
    path = write_table(table(count=pa.array([None, None], pa.int64())), tmp_path / "v.parquet")
    assert load(path).counts is None


def test_parquet_bombs_are_refused(tmp_path):
    """A column that repeats one number takes a few bytes for billions of them."""
    same = pa.array(np.zeros(1 << 21, "f4"))
    lists = pa.FixedSizeListArray.from_arrays(same, 1 << 20)
    content = pa.table({"word": ["a", "b"], "vector": lists})
    parquet.write_table(content, tmp_path / "v.parquet", compression="zstd")
    assert (tmp_path / "v.parquet").stat().st_size < 10_000
    assert load(tmp_path / "v.parquet").dim == 1 << 20
    many = pa.table({"word": [str(i) for i in range(40)], "vector": pa.FixedSizeListArray.from_arrays(
        pa.array(np.zeros(40 << 19, "f4")), 1 << 19)})  # fmt: skip
    parquet.write_table(many, tmp_path / "w.parquet", compression="zstd")
    with pytest.raises(FormatError, match=r"w\.parquet.* 83886"):
        load(tmp_path / "w.parquet")


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_column_names_that_are_not_text(tmp_path, small, extension):
    path = tmp_path / f"v{extension}"
    small.save(path)
    path.write_bytes(path.read_bytes().replace(b"count", b"co\xffnt"))
    for function in (load, describe):
        with pytest.raises(FormatError, match="broken"):
            function(path)


def test_a_table_with_two_columns_of_vectors_is_described_but_not_read(tmp_path):
    table = pa.table({"word": ["a"], "vector": pa.array([[1.0]], pa.list_(pa.float32(), 1))})
    path = write_table(table.append_column("vector", table.column("vector")), tmp_path / "v.arrow")
    assert "vector" in describe(path)["columns"]
    with pytest.raises(FormatError, match=r"word and vector are required, once each"):
        load(path)


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_description_of_columns_of_other_types(tmp_path, extension):
    path = write_table(pa.table({"word": ["a"], "vector": [1]}), tmp_path / f"v{extension}")
    assert describe(path)["dtype"] == "int64"
    small = write_table(
        pa.table({"word": ["a"], "vector": pa.array([[1.0]], pa.list_(pa.float16()))}), tmp_path / f"w{extension}"
    )
    assert describe(small)["dtype"] == "float16"
