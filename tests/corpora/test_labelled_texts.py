"""Texts with labels from lines, tables and Python mappings, compared with a naive reader."""

import json
import re

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

from embeddings.corpora.reading.labelled_texts import LabelFormat
from embeddings.corpora.reading.sources import resolve_source
from embeddings.errors import CorpusError

WORDS = st.sampled_from(["a", "film", "__label__x", "__label__y", "x__label__z", "__label", "北海道", "__label__ü"])
LINES = st.lists(st.lists(st.tuples(WORDS, st.sampled_from(" \t\0\v\f\r")), max_size=6), max_size=8)


def naive(line):
    words = [word for word in re.split("[ \t\r\v\f\0\n]", line) if word]
    labels = [word.removeprefix("__label__") for word in words if word.startswith("__label__")]
    return [word for word in words if not word.startswith("__label__")], list(dict.fromkeys(labels))


def read(source, size=1 << 20, rows=None, **form):
    batches = LabelFormat(**form).read(resolve_source(source), size=size, rows=rows)
    return [
        (batch.data[batch.starts[n] : batch.starts[n + 1]].decode(), batch.labels[n], batch.position(n))
        for batch in batches
        for n in range(len(batch))
    ]


def labels_of(source, **form):
    return [labels for _, labels, _ in read(source, **form)]


@settings(max_examples=150, deadline=None)
@given(LINES, st.integers(1, 40), st.booleans())
def test_lines(tmp_path_factory, lines, size, is_closed):
    lines = ["".join(word + space for word, space in line) for line in lines]
    path = tmp_path_factory.mktemp("lines") / "train.txt"
    content = "\n".join(lines) + "\n" * is_closed
    path.write_bytes(content.encode())
    content = content if "\n" in content else content.replace("\r", "\n")
    *expected, last = content.split("\n")
    expected += [last] if last else []
    texts = read(path, size)
    assert [(naive(text)[0], labels) for text, labels, _ in texts] == [naive(line) for line in expected]
    assert [position for *_, position in texts] == [f"{path}, line {n + 1}" for n in range(len(expected))]


def test_items_do_not_run_into_each_other():
    items = ["__label__x", "__label__y b", "c __label", "__z", "", "d"]
    assert [(text.split(), labels) for text, labels, _ in read(items)] == [naive(item) for item in items]


def test_prefix(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("#good a __label__b\n")
    assert [(text.split(), labels) for text, labels, _ in read(path, prefix="#")] == [(["a", "__label__b"], ["good"])]


def test_label_without_name(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("a __label__x\nb\nc __label__ d\n")
    with pytest.raises(CorpusError, match=r"train.txt, line 3: the label __label__ has no name"):
        read(path, size=8)


ROWS = [
    {"text": "a __label__q", "label": ["x", "y", "x"], "id": "1"},
    {"text": "", "label": [], "id": "2"},
    {"text": "c", "label": None, "id": "3"},
    {"text": "d\ne", "label": ["__label__z", " x "], "id": "4"},
]
EXPECTED = [["x", "y"], [], [], ["z", "x"]]


@pytest.mark.parametrize("size", [1, 1 << 20])
@pytest.mark.parametrize("kind", ["jsonl", "parquet", "arrow", "large", "mappings"])
def test_lists(tmp_path, kind, size):
    path = tmp_path / f"train.{kind if kind != 'large' else 'parquet'}"
    table = pa.Table.from_pylist(ROWS)
    if kind == "large":
        table = table.cast(
            pa.schema([("text", pa.large_string()), ("label", pa.large_list(pa.string())), ("id", "string")])
        )
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    elif kind == "arrow":
        feather.write_feather(table, path)
    elif kind != "mappings":
        parquet.write_table(table, path)
    texts = read(ROWS if kind == "mappings" else path, size, text_column="text", label_column="label")
    assert [text for text, *_ in texts] == [row["text"] for row in ROWS]
    assert [labels for _, labels, _ in texts] == EXPECTED
    assert texts[3][2].endswith(", row 4")


def test_columns(tmp_path):
    path = tmp_path / "train.csv"
    path.write_text("topic,title,label\n3,good,x;y\n,bad,\n")
    assert labels_of(path, text_column="title", separator=";") == [["x", "y"], []]
    assert labels_of(path, text_column="title", label_column="topic") == [["3"], []]
    with pytest.raises(CorpusError, match="text_column"):
        read(path)
    path.write_text("topic,title\n3,good\n")
    with pytest.raises(CorpusError, match="label_column"):
        read(path)
    path.write_text("label,title\n3,good\n")
    assert read(path) == [("good", ["3"], f"{path}, row 1")]


@pytest.mark.parametrize("value", [0.5, True, {"a": 1}, [["x"]], [0.5]])
def test_refused_labels(tmp_path, value):
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps({"text": "a", "label": value}) + "\n")
    if value in (0.5, [0.5]):  # numbers of JSON are taken as they are written
        assert labels_of(path) == [["0.5"]]
    else:
        with pytest.raises(CorpusError, match="line 1"):
            read(path)
    parquet.write_table(pa.Table.from_pylist([{"text": "a", "label": value}]), tmp_path / "a.parquet")
    with pytest.raises(CorpusError, match=r"row 1: .*must be a string or integer|must hold"):
        read(tmp_path / "a.parquet")
