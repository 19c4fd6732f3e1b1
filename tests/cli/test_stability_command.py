"""`embeddings stability` and `embeddings neighbours --confidence`."""

import json

from commands import SMALL, TEXT, expect, refused, table


def test_neighbours_with_confidence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text(TEXT.replace("\n", "\n\n"))  # each line is a document
    expect("train", "skipgram", "corpus.txt", "-o", "model", "--subsample", 0, *SMALL)
    options = ["-o", "replicates", "--resamples", 3, "--seeds", 2, "--threads", 1]
    result = expect("stability", "model", "corpus.txt", *options, "--json")
    summary = json.loads(result.stdout)
    assert (summary["resamples"], summary["seeds"], summary["interrupted"]) == (3, 2, False)
    assert "5 trainings" in result.stderr
    assert "another text" not in result.stderr
    assert "exists" in refused("stability", "model", "corpus.txt", *options, code=1)
    result = expect("neighbours", "model", "King", "dog", "--top", 2, "--confidence", "replicates")
    assert result.stderr.count("over 3 resamples of documents") == result.stderr.count("few resamples") == 1
    assert "selection" in result.stderr
    rows = table(result.stdout)
    assert [row["word"] for row in rows] == ["King", "King", "dog", "dog"]
    for row in rows:
        assert -1 <= float(row["low"]) <= float(row["high"]) <= 1
        assert 0 <= float(row["in_top"]) <= 1
        assert 1 <= int(row["rank_low"]) <= int(row["rank_high"])
    columns = ["low", "high", "in_top", "rank_low", "rank_high", "pair_low", "pair_high", "data_sd", "seed_sd"]
    answers = table(expect("analogy", "model", "king", "rules", "dog", "--top", 2, "--confidence", "replicates").stdout)
    assert list(answers[0]) == ["word", "score", *columns]
    pairs = table(expect("similarity", "model", "king", "queen", "dog", "--confidence", "replicates").stdout)
    assert next(row["difference"] for row in pairs) == "-"
    assert float(pairs[1]["difference_low"]) <= float(pairs[1]["difference"]) <= float(pairs[1]["difference_high"])
    assert list(table(expect("similarity", "model", "king", "queen").stdout)[0]) == ["word", "other", "cosine"]
    expect("train", "skipgram", "corpus.txt", "-o", "other", "--seed", 2, "--subsample", 0, *SMALL)
    assert "replicates" in refused("neighbours", "other", "king", "--confidence", "replicates", code=2)
    (tmp_path / "one.txt").write_text(TEXT)
    message = expect("stability", "model", "one.txt", "-o", "r2", "--quiet", code=1).stderr
    assert all(fact in message for fact in ("another text", "documents", "--resample-by"))
    result = expect("stability", "model", "one.txt", *options, "--force", "--resample-by", "lines")
    assert "another text" in result.stderr


def test_the_corpus_is_read_as_in_training(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{line} n{number}" for number, line in enumerate(filter(None, TEXT.splitlines()))]
    wrapped = "\n\n".join("\n".join(lines[start : start + 3]) for start in range(0, len(lines), 3))
    (tmp_path / "corpus.txt").write_text(f"{wrapped}\n\n{wrapped} caf\xe9\n", encoding="cp1252")
    reading = ["--lines", "paragraph", "--encoding", "cp1252"]
    expect("train", "skipgram", "corpus.txt", "-o", "model", "--subsample", 0, *reading, *SMALL)
    options = ["--resamples", 2, "--seeds", 2, "--threads", 1]
    for command in (["stability", "model", "corpus.txt", "-o", "r", *options], ["explain", "model", "corpus.txt"]):
        words = ["king", "queen"] * (command[0] == "explain")
        assert "another text" not in expect(*command, *words).stderr
        other = ["--lines" if command[0] == "stability" else "--text-lines", "separate", *["--force"] * (not words)]
        assert "another text" in expect(*command, *words, *other).stderr
