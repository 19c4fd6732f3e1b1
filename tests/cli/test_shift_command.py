"""`embeddings shift`."""

import csv
import json
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from commands import expect

from embeddings.cli.shift import split_groups

SETTINGS = ["--dim", 6, "--min-count", 1, "--subsample", 0, "--epochs", 3, "--threads", 1, "--occurrences", 5]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    rows = [
        {"text": " ".join(random.choice([f"w{i}" for i in range(12)], 20).tolist()), "period": period, "year": year}
        for period, year in (("old", 900), ("new", 1000), ("newest", None))
        for _ in range(25)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for period in ("old", "new"):
        texts = [row["text"] for row in rows if row["period"] == period]
        (tmp_path / f"{period}.txt").write_text("\n\n".join(texts) + "\n")
    return tmp_path


def test_two_files_and_two_groups_of_a_table_give_the_same(folder):
    options = ["--permutations", 4, "--top", 3, *SETTINGS]
    result = expect("shift", "old.txt", "new.txt", "--lines", 1, *options)
    words, lines = (part.splitlines() for part in result.stdout.split("\n\n"))
    assert words[0].split("\t")[:6] == ["word", "change", "expected", "z", "p", "q"]
    assert (len(words), len(lines)) == (4, 7)
    assert [line.split("\t")[5] for line in lines[1:]] == ["old.txt", "new.txt"] * 3
    assert "12 words compared in 25 and 25 documents" in result.stderr
    columns = ["--text-column", "text", "--tag-column", "period", "--groups", "old,new"]
    table = json.loads(expect("shift", "rows.jsonl", *columns, *options, "--json").stdout)
    assert table["documents"] == [25, 25]
    assert table["n_words"] == 12
    columns = ["--text-column", "text", "--tag-column", "year", "--split-at", 1000]
    for file in ("old", "new"):
        (folder / "novels" / file).mkdir(parents=True)
        (folder / f"{file}.txt").rename(folder / "novels" / file / "1.txt")
    table_file = folder / "words.csv"
    by_folder = expect("shift", "novels", "--groups", "old,new", *options, "-o", table_file)
    assert "25 and 25 documents: those that occur 5 times" in by_folder.stderr
    assert len(by_folder.stdout.splitlines()) == 4
    rows = list(csv.DictReader(table_file.read_text(encoding="utf-8").splitlines()))
    assert [one["word"] for one in rows[:3]] == [line.split("\t")[0] for line in by_folder.stdout.splitlines()[1:]]
    assert (len(rows), len(rows[0]["neighbours_1"].split())) == (12, 5)
    refused = expect("shift", "novels", "--groups", "old,new", *options, "--documents", "files", code=1)
    assert "too few" in refused.stderr
    split = json.loads(expect("shift", "rows.jsonl", *columns, *options, "--json").stdout)
    assert [(one["word"], one["z"]) for one in split["words"]] == [(one["word"], one["z"]) for one in table["words"]]


def test_tags_are_compared_as_numbers_or_as_text():
    for tags, value, expected in (
        (["900", "1000", None], "1000", [0, 1, -1]),
        (["1951-03-02", "1951-04", "2000"], "1951-04", [0, 1, 1]),
        (["900", "1000", "x"], "1000", [1, 1, 1]),
    ):
        encoded = SimpleNamespace(tags=pa.array(tags), single_tags=pa.array(tags))
        assert split_groups(encoded, value).tolist() == expected
