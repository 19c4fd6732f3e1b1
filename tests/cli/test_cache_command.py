"""`embeddings cache`: lists, checks and empties the cache."""

import json

from commands import expect, table


def test_the_cache_is_listed_and_emptied(folder, own_cache):
    assert expect("cache").stdout == ""
    for source in ("rows.jsonl", "more.csv", "sample"):
        column = ["--text-column", "text"] if source == "rows.jsonl" else []
        expect("vocabulary", source, "-o", f"{source}.txt", *column)
    entries = json.loads(expect("cache", "--json").stdout)
    assert [entry["sources"] for entry in entries][:2] == [["rows.jsonl"], ["more.csv"]]
    assert (entries[0]["tokens"], entries[0]["types"]) == (350, 55)
    assert 0 <= entries[0]["age"] < 600
    rows = table(expect("cache").stdout)
    assert list(rows[0]) == ["name", "size", "age", "tokens", "types", "sources"]
    assert rows[0]["sources"] == "rows.jsonl"
    assert rows[2]["size"].endswith(" MB")
    assert expect("cache", "--limit", "10MB").stderr == ""
    removed = json.loads(expect("cache", "--limit", "9MB", "--json").stdout)
    assert removed[0] == {"name": entries[0]["name"], "size": entries[0]["size"]}
    expect("vocabulary", "more.csv", "-o", "again.txt")
    assert entries[1]["name"] in expect("cache", "--limit", "0").stderr
    assert expect("cache").stdout == ""


def test_a_damaged_corpus_is_listed_and_encoded_again(folder, own_cache):
    expect("vocabulary", "more.csv", "-o", "more.csv.txt")
    entry = folder / "cache" / "corpora" / json.loads(expect("cache", "--json").stdout)[0]["name"]
    flip_bit(entry / "ids.npy")
    result = expect("vocabulary", "more.csv", "-o", "again.txt")
    assert f"warning: the text is encoded again: {entry} is damaged: ids.npy" in result.stderr
    assert (folder / "again.txt").read_text() == (folder / "more.csv.txt").read_text()
    (entry / "meta.json").write_text('{"format": 1}')
    assert [one["sources"] for one in json.loads(expect("cache", "--json").stdout)] == [None]


def flip_bit(path):
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)


def test_without_a_cache_json_is_an_empty_list(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("EMBEDDINGS_CACHE", str(tmp_path / "file" / "cache"))
    assert json.loads(expect("cache", "--json").stdout) == []
