"""`embeddings embed`: inputs, outputs, kept columns and errors."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from commands import expect, refused

import embeddings as em

TEXTS = ["red car", "", "a RED house", "naïve 北海道", "car car"]


@pytest.fixture(scope="module")
def vectors():
    words = ["red", "car", "house", "naïve"]
    return em.Vectors(words, np.random.default_rng(1).standard_normal((4, 5)), counts=[9, 5, 3, 1])


@pytest.fixture
def file(vectors, tmp_path):
    vectors.save(tmp_path / "v.parquet")
    return tmp_path / "v.parquet"


def read(path):
    """The columns except vectors, and the vectors."""
    if path.suffix == ".npy":
        return {}, np.load(path)
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        table = {name: [row[name] for row in rows] for name in rows[0]}
    else:
        table = pq.read_table(path).to_pydict()
    return {name: values for name, values in table.items() if name != "vector"}, np.array(table["vector"])


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "npy"])
def test_lines_to_every_format(file, vectors, tmp_path, ending):
    """An array has no texts; the rows are those of the Python function."""
    out = tmp_path / f"out.{ending}"
    for dtype in ("float32", "float16", "int8"):
        stdin = "\n".join(TEXTS).encode()
        result = expect("embed", file, "-o", out, "--pool", "sif", "--dtype", dtype, "--force", stdin=stdin)
        assert "2 of 9 words" in result.stderr
        assert "1 text without" in result.stderr
        columns, rows = read(out)
        assert columns == ({} if ending == "npy" else {"text": TEXTS})
        expected = em.embed(vectors, TEXTS, pool="sif", dtype=dtype)
        np.testing.assert_allclose(rows.astype(np.float64), expected.astype(np.float64), rtol=1e-6)
        if ending in ("parquet", "npy"):
            assert (
                np.load(out) if ending == "npy" else pq.read_table(out)["vector"].chunk(0).flatten().to_numpy()
            ).dtype == dtype


def test_columns_and_types_of_ids_are_kept(file, vectors, tmp_path):
    ids = [10**15, 2, 3, 4, 5]
    table = pa.table({
        "id": ids, "body": [*TEXTS[:3], None, TEXTS[4]], "day": pa.array([0, 1, 2, 3, None], pa.date32()),
        "parts": [["a"], [], None, ["b", "c"], []],
    })  # fmt: skip
    pq.write_table(table, tmp_path / "t.parquet")
    pyarrow.feather.write_feather(table, tmp_path / "t.arrow", "uncompressed")
    (tmp_path / "t.jsonl").write_text(
        "".join(json.dumps(row, default=str) + "\n" for row in table.to_pylist()), encoding="utf-8"
    )
    expected = em.embed(vectors, [text or "" for text in table["body"].to_pylist()])
    for source in ("t.parquet", "t.arrow", "t.jsonl"):
        out = tmp_path / "out.parquet"
        expect("embed", file, tmp_path / source, "--text-column", "body", "-o", out, "--force")
        result = pq.read_table(out)
        np.testing.assert_array_equal(np.array(result["vector"].to_pylist()), expected)
        assert result["id"].to_pylist() == ids
        assert result.schema.field("id").type == pa.int64()
        assert result["parts"].to_pylist() == table["parts"].to_pylist()
        if source != "t.jsonl":
            assert result.drop_columns("vector").cast(table.schema).equals(table)
    expect("embed", file, tmp_path / "t.parquet", "--text-column", "body", "--columns", "id", "-o", out, "--force")
    assert pq.read_table(out).column_names == ["id", "vector"]
    expect("embed", file, tmp_path / "t.parquet", "--text-column", "body", "-o", tmp_path / "out.jsonl")
    columns, _ = read(tmp_path / "out.jsonl")
    assert columns["id"] == ids
    assert columns["day"][1] == "1970-01-02"


def test_many_batches_and_threads(file, vectors, tmp_path, monkeypatch):
    monkeypatch.setattr("embeddings.corpora.reading.reader.BATCH_SIZE", 100)
    texts = [f"red {'car ' * (number % 7)}x" for number in range(500)]
    pq.write_table(pa.table({"id": range(500), "body": texts}), tmp_path / "t.parquet", row_group_size=37)
    for threads in (1, 3):
        out = tmp_path / f"{threads}.parquet"
        options = ("--text-column", "body", "--threads", threads, "--rows", 450, "--remove-components", 1)
        expect("embed", file, tmp_path / "t.parquet", "-o", out, *options)
        columns, rows = read(out)
        assert columns == {"id": [*range(450)], "body": texts[:450]}
        np.testing.assert_allclose(rows, em.embed(vectors, texts[:450], remove_components=1), atol=1e-6)


def test_statistics_and_an_empty_input(file, tmp_path):
    result = expect("embed", file, "-o", tmp_path / "out.parquet", "--json", "--quiet", stdin=b"")
    printed = json.loads(result.stdout)
    assert (printed["texts"], printed["words"], printed["dim"]) == (0, 0, 5)
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 0


def test_refusals(file, tmp_path):
    empty = pa.table({"text": ["red"], "nothing": pa.array([{}], pa.struct([]))})
    pyarrow.feather.write_feather(empty, tmp_path / "t.arrow", "uncompressed")
    message = refused("embed", file, tmp_path / "t.arrow", "-o", tmp_path / "o.parquet", code=1)
    assert all(fact in message for fact in ("'nothing'", "--columns"))
    (tmp_path / "t.csv").write_text("vector,body\n1,red car\n")
    source, named = ("embed", file, tmp_path / "t.csv", "-o"), ("--text-column", "body")
    assert "--vector-column" in refused(*source, tmp_path / "o.parquet", *named, code=1)
    assert "'x'" in refused(*source, tmp_path / "o.npy", *named, "--columns", "x", code=1)
    (tmp_path / "m.jsonl").write_text('{"id": 1, "t": "red"}\n{"id": "x", "t": "car"}\n')
    mixed = ("embed", file, tmp_path / "m.jsonl", "--text-column", "t", "-o", tmp_path / "n.npy")
    assert "'id'" in refused(*mixed, code=1)
    expect(*mixed, "--columns", "none")
    (tmp_path / "w.csv").write_text(",".join(f"c{i}" for i in range(300)) + "\n" + "red," * 299 + "red\n")
    other = ("embed", file, tmp_path / "w.csv", tmp_path / "x.csv", "--text-column", "c0", "-o", tmp_path / "w.parquet")
    (tmp_path / "x.csv").write_text("c0\nred\n")
    message = refused(*other, code=1)
    assert "280 more" in message
    assert "c250" not in message


def test_columns_of_json_hold_all_values(file, tmp_path, monkeypatch):
    """Whatever the first rows have, also in another file; what does not fit what is written already is refused."""
    first, last = {"text": "red", "n": 1, "m": None, "empty": None}, {"text": "car", "n": 1.5, "m": 2, "empty": None}
    for name, rows in (("a", [first] * 300 + [last] * 100), ("b", [last] * 9), ("c", [first] * 300)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    expect("embed", file, *(tmp_path / f"{name}.jsonl" for name in "cab"), "-o", tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table["n"].to_pylist() == [1] * 600 + [1.5] * 109
    assert table["m"].to_pylist() == [None] * 600 + [2] * 109
    assert table.schema.field("empty").type == pa.string()
    monkeypatch.setattr("embeddings.cli.embed.ROW_GROUP_BYTES", 1)
    refused("embed", file, *(tmp_path / f"{name}.jsonl" for name in "cb"), "-o", tmp_path / "new.parquet", code=1)


def test_vectors_on_standard_output_are_lines_of_json(file, vectors):
    result = expect("embed", file, "-o", "-", stdin="\n".join(TEXTS).encode())
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["text"] for row in rows] == TEXTS
    np.testing.assert_allclose([row["vector"] for row in rows], em.embed(vectors, TEXTS), atol=1e-6)
    assert "--json" in refused("embed", file, "-o", "-", "--json", code=2)
    assert "--force" in refused("embed", file, "-o", "-", "--force", code=2)
