"""Corpora on the command line: tables, vocabularies, the cache."""

import json
from pathlib import Path

import pytest
from commands import expect, run

import embeddings as em

SMALL = ["--dim", "4", "--epochs", "1", "--threads", "1", "--min-count", "1"]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBEDDINGS_CACHE", str(tmp_path / "cache"))
    rows = [{"id": i, "text": f"the cat number{i} sat\non the mat", "lang": "en"} for i in range(50)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "more.csv").write_text("body\n" + "the dog\n" * 10)
    return tmp_path


def test_columns_rows_and_tags(table: Path) -> None:
    done = expect("train", "cbow", "rows.jsonl", "-o", "v", *SMALL, "--text-column", "text", "--rows", "7")
    assert "read 49 words, 12 different, in 14 lines" in done.stderr
    assert len(em.load(table / "v")) == 12
    done = expect("train", "cbow", "more.csv", "-o", "w", *SMALL, "--tokenizer", "characters", "--shuffle")
    assert "text taken from the column 'body' of more.csv" in done.stderr
    assert sorted(em.load(table / "w").words) == sorted("thedog")
    assert em.Model.load(table / "w").settings["shuffle"] is True
    done = run("train", "cbow", "rows.jsonl", "-o", "x", "--text-column", "txt", "--tag-column", "lang")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "Error: rows.jsonl, line 1: no field 'txt'; there are: id, text, lang\n"


def test_a_vocabulary_is_counted_saved_merged_and_trained(table: Path) -> None:
    done = expect("vocabulary", "rows.jsonl", "--text-column", "text", "-o", "v.txt", "--top", "2", "--min-count", "2")
    assert done.stdout == "word\tcount\nthe\t100\ncat\t50\n"
    assert (table / "v.txt").read_text() == "the 100\ncat 50\nmat 50\non 50\nsat 50\n"
    done = expect("vocabulary", "more.csv", "--merge", "v.txt", "-o", "both.arrow", "--json", "--top", "1")
    assert json.loads(done.stdout) == [{"word": "the", "count": 110}]
    done = expect("train", "skipgram", "more.csv", "-o", "m", "--vocab", "both.arrow", "--dim", "4", "--epochs", "1")
    assert "not in the vocabulary" not in done.stderr
    assert list(em.load(table / "m").words) == ["the", "cat", "mat", "on", "sat", "dog"]
    done = expect("train", "skipgram", "more.csv", "-o", "n", "--vocab", "v.txt", "--dim", "4", "--epochs", "1")
    assert "not in the vocabulary: 10 words\n" in done.stderr
    expect("train", "skipgram", "more.csv", "-o", "k", "--vocab", "m", "--dim", "4", "--epochs", "1")
    done = run("train", "skipgram", "more.csv", "-o", "l", "--vocab", "m", "--min-count", "3")
    assert (done.exit_code, done.stderr) == (2, "Error: --vocab trains all its words: leave out --min-count\n")
    done = run("vocabulary", "more.csv", "-o", "v.csv")
    assert (done.exit_code, done.stderr) == (
        1,
        "Error: a vocabulary is written to a name that ends in .arrow or .txt, not v.csv\n",
    )


def test_what_a_small_table_of_types_missed_is_told(table: Path) -> None:
    done = expect("vocabulary", "rows.jsonl", "--text-column", "text", "-o", "v.txt", "--max-types", "12")
    assert "--max-types: counts may be low by" in done.stderr
    assert "not in the vocabulary: " in done.stderr
    assert done.stdout.startswith("word\tcount\nthe\t100\n")


def test_the_cache_is_listed_and_emptied(table: Path) -> None:
    assert expect("cache").stdout == ""
    for source in ("rows.jsonl", "more.csv", "sample"):
        column = ["--text-column", "text"] if source == "rows.jsonl" else []
        expect("vocabulary", source, "-o", f"{source}.txt", *column)
    rows = json.loads(expect("cache", "--json").stdout)
    assert [row["sources"] for row in rows][:2] == [["rows.jsonl"], ["more.csv"]]
    assert (rows[0]["tokens"], rows[0]["types"]) == (350, 55)
    assert 0 <= rows[0]["age"] < 600
    lines = expect("cache").stdout.splitlines()
    assert lines[0] == "name\tsize\tage\ttokens\ttypes\tsources"
    assert lines[1].split("\t")[-1] == "rows.jsonl"
    assert lines[3].split("\t")[1].endswith(" MB")
    assert run("cache", "--remove", "nonsense").stderr == (
        "Error: no cached corpora have a name that starts with 'nonsense'\n"
    )
    assert expect("cache", "--remove", rows[1]["name"][:12]).stderr.startswith(f"removed {rows[1]['name']}, ")
    assert expect("cache", "--limit", "10MB").stderr.startswith(f"removed {rows[0]['name']}, ") is False
    assert expect("cache", "--limit", "9MB").stderr.startswith(f"removed {rows[0]['name']}, ")
    assert expect("cache", "--remove", "all").stderr.startswith("removed ") is False
    assert expect("cache").stdout == ""
    assert run("cache", "--limit", "much").stderr == "Error: a size must be like 500MB or 20GB, not 'much'\n"
