"""`embeddings predict`: inputs, outputs and errors."""

import gzip
import json

import pyarrow.parquet as pq
import pytest
from commands import expect
from supervised_models import supervised_model

import embeddings as em

TEXTS = ["the where", "", "naïve a a", "北海道 unknown", "a <b>"]


@pytest.fixture
def model(tmp_path):
    (tmp_path / "m.ftz").write_bytes(supervised_model(quantised=True, pruned=11).data)
    return tmp_path / "m.ftz"


@pytest.fixture
def expected(model):
    """The labels and probabilities of the texts, two for each."""
    labels, probabilities = em.load_classifier(model).predict(TEXTS, k=2)
    return [list(zip(*row, strict=True)) for row in zip(labels.tolist(), probabilities.tolist(), strict=True)]


def parse(stdout):
    """The labels and probabilities in lines of text."""
    rows = [line.split(" ") for line in stdout.splitlines()]
    return [[(label, float(p)) for label, p in zip(row[::2], row[1::2], strict=True)] for row in rows]


def check_close(rows, expected):
    assert [[label for label, _ in row] for row in rows] == [[label for label, _ in row] for row in expected]
    for row, exact in zip(rows, expected, strict=True):
        assert [p for _, p in row] == pytest.approx([p for _, p in exact], rel=1e-5)


CONTENTS = {
    "text": "\n".join(TEXTS) + "\n",
    "without a last line feed": "\n".join(TEXTS),
    "carriage returns": "\r\n".join(TEXTS) + "\r\n",
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_lines_of_a_file_and_of_standard_input(model, tmp_path, expected, content, monkeypatch):
    (tmp_path / "t.txt").write_bytes(content.encode())
    (tmp_path / "t.gz").write_bytes(gzip.compress(content.encode()))
    for source in (tmp_path / "t.txt", tmp_path / "t.gz"):
        check_close(parse(expect("predict", model, source, "-k", 2).stdout), expected)
    for arguments in ((), ("-",)):
        check_close(parse(expect("predict", model, *arguments, "-k", 2, stdin=content.encode()).stdout), expected)
    for setting, value in (("classifier.classifier.MAX_PREDICTIONS", 7), ("corpora.reading.reader.BATCH_SIZE", 3)):
        monkeypatch.setattr(f"embeddings.{setting}", value)
        for threads in (1, 3):
            result = expect("predict", model, tmp_path / "t.txt", "-k", 2, "--threads", threads)
            check_close(parse(result.stdout), expected)


@pytest.mark.parametrize("batch", [3, 1 << 20])
def test_rows_of_tables(model, tmp_path, expected, monkeypatch, batch):
    monkeypatch.setattr("embeddings.corpora.reading.reader.BATCH_SIZE", batch)
    rows = [json.dumps({"id": "x", "text": text.replace(" ", "\n")}) for text in TEXTS]
    (tmp_path / "t.jsonl").write_text("\n".join(rows))
    for options in [("--text-column", "text"), ()]:
        result = expect("predict", model, tmp_path / "t.jsonl", *options, "-k", 2, "--threads", 1)
        check_close(parse(result.stdout), expected)


def test_a_text_as_argument(model, expected):
    check_close(parse(expect("predict", model, TEXTS[2], "-k", 2).stdout), expected[2:3])
    result = expect("predict", model, "nofile.txt")
    assert "no file is called 'nofile.txt'" in result.stderr


def test_json_and_files(model, tmp_path, expected):
    (tmp_path / "t.txt").write_text("\n".join(TEXTS))
    lines = expect("predict", model, tmp_path / "t.txt", "-k", 2, "--json").stdout.splitlines()
    rows = [list(zip(row["labels"], row["probabilities"], strict=True)) for row in map(json.loads, lines)]
    check_close(rows, expected)
    for name in ("o.txt", "o.jsonl", "o.parquet"):
        result = expect("predict", model, tmp_path / "t.txt", "-k", 2, "-o", tmp_path / name, "--json")
        assert json.loads(result.stdout)["texts"] == len(TEXTS)
        assert "5 texts" in result.stderr
    check_close(parse((tmp_path / "o.txt").read_text()), expected)
    assert (tmp_path / "o.jsonl").read_text().splitlines() == lines
    table = pq.read_table(tmp_path / "o.parquet").to_pylist()
    check_close([list(zip(row["labels"], row["probabilities"], strict=True)) for row in table], expected)


def test_labels_are_printed_without_control_characters(tmp_path):
    labels = ["__label__\x1b[31m", "__label__b"]
    (tmp_path / "m.bin").write_bytes(supervised_model(labels=labels).data)
    assert "\x1b" not in expect("predict", tmp_path / "m.bin", "the", "-k", 2).stdout
    assert "\x1b" not in expect("predict", tmp_path / "m.bin", "the", "-k", 2, "--json").stdout


def test_errors_are_one_line(model, tmp_path):
    text = tmp_path / "t.txt"
    text.write_bytes(b"a\n\xff\n")
    expect("predict", model, text, "--encoding-errors", "replace")
    (tmp_path / "o.txt").write_text("old")
    expect("predict", model, text, "-o", tmp_path / "o.txt", "--force", code=1)
    assert (tmp_path / "o.txt").read_text() == "old"
