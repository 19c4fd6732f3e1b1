"""`embeddings index MODEL TEXTS`, `index add`, `remove` and `compact`, and `embeddings search`."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest
from commands import expect, refused, table

import embeddings as em

ROWS = [
    {"key": 1, "body": "a red car", "year": 1999},
    {"key": 2, "body": "the bus\nis late", "year": 2005},
    {"key": 3, "body": "red 42", "year": 2010},
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    em.Vectors(["red", "car", "bus"], np.eye(3), counts=[3, 2, 1]).save("v.parquet")
    write("rows.jsonl", ROWS)
    return tmp_path


def write(name, rows):
    with open(name, "w") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)


COLUMNS = ("--text-column", "body", "--id-column", "key")


def build(*options):
    return expect("index", "v.parquet", "rows.jsonl", *COLUMNS, "-o", "docs.index", *options)


def test_two_commands_search_a_table(folder):
    assert "indexed 3 texts in docs.index" in build().stderr
    rows = table(expect("search", "docs.index", "car", "--top", "1").stdout)
    assert [*rows[0]] == ["id", "score", "cosine", "bm25", "text", "year"]
    assert (rows[0]["id"], rows[0]["score"], rows[0]["text"], rows[0]["year"]) == ("1", "1.414", "a red car", "1999")
    result = expect("search", "docs.index", "42", "bus", "--method", "lexical", "--json").stdout
    assert [(hit["query"], hit["id"], hit["text"]) for hit in json.loads(result)] == [
        ("42", "3", "red 42"),
        ("bus", "2", "the bus\nis late"),
    ]
    assert {hit["cosine"] for hit in json.loads(result)} == {None}
    assert "no text" in expect("search", "docs.index", "red", "--min-cosine", ".99", "--where", 'id == "1"').stderr
    assert table(expect("search", "docs.index", "red", "--where", "year > 2000").stdout)[0]["id"] == "3"


def test_queries_from_a_file_and_from_standard_input(folder):
    build()
    (folder / "queries.txt").write_text("car\n\nbus\n")
    for result in (
        expect("search", "docs.index", "--queries", "queries.txt", "--top", "1"),
        expect("search", "docs.index", "--top", "1", stdin=b"car\nbus\n"),
    ):
        assert [(row["query"], row["id"]) for row in table(result.stdout)] == [("car", "1"), ("bus", "2")]


def test_a_query_without_hits_is_reported(folder):
    build()
    result = expect("search", "docs.index", "zebra")
    assert result.stdout == ""
    assert "no text" in result.stderr
    assert "zebra" in result.stderr
    assert json.loads(expect("search", "docs.index", "zebra", "--json").stdout) == []


def test_an_index_grows(folder):
    build()
    write("more.jsonl", [{"key": 3, "body": "a blue bus", "year": 2011}, {"key": 4, "body": "car 77", "year": 2012}])
    error = refused("index", "add", "docs.index", "more.jsonl", *COLUMNS, code=1)
    assert "'3'" in error
    assert "--replace" in error
    summary = json.loads(expect("index", "add", "docs.index", "more.jsonl", *COLUMNS, "--replace", "--json").stdout)
    assert (summary["added"], summary["texts"], summary["segments"]) == (2, 4, 1)
    assert "removed 2 texts" in expect("index", "remove", "docs.index", "1", "2").stderr
    assert "no-such-id" in refused("index", "remove", "docs.index", "no-such-id", code=2)
    assert json.loads(expect("index", "compact", "docs.index", "--json").stdout)["removed"] == 0
    hits = json.loads(
        expect("search", "docs.index", "bus", "car", "--method", "vectors", "--top", "1", "--json").stdout
    )
    assert [hit["id"] for hit in hits] == ["3", "4"]


def test_duplicates_are_written_as_pairs_or_as_groups(folder):
    write(
        "rows.jsonl", [*ROWS, {"key": 4, "body": "car, red", "year": 1}, {"key": 5, "body": "42 a red car", "year": 1}]
    )
    build()
    assert (
        "3 pairs among 5 texts" in expect("duplicates", "docs.index", "-o", "pairs.csv", "--min-cosine", "0.99").stderr
    )
    with open("pairs.csv", newline="") as stream:
        pairs = list(csv.DictReader(stream))
    assert [*pairs[0]] == ["first", "first_text", "second", "second_text", "cosine"]
    assert {(pair["first"], pair["second"]) for pair in pairs} == {("1", "4"), ("1", "5"), ("4", "5")}
    assert pairs[0]["first_text"] == "a red car"
    groups = json.loads(expect("duplicates", "docs.index", "--groups", "--json").stdout)
    assert [(row["group"], row["id"]) for row in groups] == [(1, "1"), (1, "4"), (1, "5")]
    assert ".csv" in refused("duplicates", "docs.index", "-o", "pairs.txt", code=1)


def test_empty_queries_are_reported(folder):
    build()
    (folder / "blank.txt").write_text("\n  \n")
    (folder / "empty.txt").write_text("")
    for arguments in ([""], [" ", ""], ["--queries", "blank.txt"], ["--queries", "empty.txt"]):
        result = expect("search", "docs.index", *arguments)
        assert result.stderr.count("queries are empty") == 1, arguments
        assert len(result.stderr.splitlines()) == 1
    assert "empty" not in expect("search", "docs.index", "car", "").stderr


def test_a_prompt_asks_for_queries_on_a_terminal(folder):
    pty = pytest.importorskip("pty")
    build()
    import os

    parent, child = pty.openpty()
    command = [sys.executable, "-m", "embeddings", "search", "docs.index", "--top", "1"]
    with subprocess.Popen(command, stdin=child, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        os.close(child)
        os.write(parent, b"car\n\n")
        output, _ = process.communicate(timeout=120)
        os.close(parent)
    assert process.returncode == 0
    assert b"a red car" in output


def test_an_index_of_many_texts_advises_a_faster_kind(folder, monkeypatch):
    monkeypatch.setattr("embeddings.cli.index.MANY_TEXTS", 3)
    assert "--kind lsh:rerank=800" in build().stderr
    for options in (["--kind", "lsh"], ["--dtype", "int8"], ["--quiet"]):
        assert "--kind" not in build("--force", *options).stderr
