"""Summaries of run logs, also of interrupted runs."""

import json
import math

from embeddings.training.run_log import summarize_log


def test_summary_from_the_ends_of_a_log(tmp_path):
    path = tmp_path / "run.jsonl"
    start = {"event": "begin", "time": "t0", "words": 0, "trainer": "cbow", "seed": 5, "settings": {"dim": 3}}
    progress = [
        {"event": "progress", "time": f"t{n}", "words": n, "loss": 1.5, "learning_rate": math.nan}
        for n in range(1, 9000)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in (start, *progress)) + '{"event": "progr')
    summary = summarize_log(path)
    assert (
        summary | {"trainer": "cbow", "words": 8999, "loss": 1.5, "learning_rate": None, "last": "t8999", "seed": 5}
        == summary
    )
    assert summary["state"] == "running, or killed"
    full = summarize_log(path, full=True)
    assert full == summary | {"runs": 1, "checkpoints": 0, "interrupts": 0}
    with path.open("a") as stream:
        stream.write("\n" + json.dumps({**start, "seed": 6}) + "\n")
    summary = summarize_log(path)
    assert (summary["seed"], summary["words"], summary["loss"]) == (6, 0, None)
    path.write_text('{"event": "begin", "trainer": [[')
    assert summarize_log(path)["trainer"] is None
    path.write_text('{"event": "begin", "trainer": "cbow", "seed": NaN, "words": 1e999}')
    assert summarize_log(path) | {"trainer": "cbow", "seed": None, "words": None} == summarize_log(path)


def test_summary_of_the_last_run_between_the_ends_of_a_log(tmp_path):
    path = tmp_path / "run.jsonl"
    start = {"event": "begin", "time": "t0", "words": 0, "trainer": "cbow", "seed": 5}
    progress = [{"event": "progress", "time": "t1", "words": n, "loss": 1.5} for n in range(5000)]
    runs = [start, *progress, {**start, "seed": 6, "time": "t2"}, *progress]
    path.write_text("".join(json.dumps(line) + "\n" for line in runs))
    summary = summarize_log(path)
    assert (summary["seed"], summary["started"]) == (6, "t2")
    assert summary == {name: value for name, value in summarize_log(path, full=True).items() if name in summary}


def test_summary_of_a_log_with_a_long_last_line(tmp_path):
    path = tmp_path / "run.jsonl"
    lines = [{"event": "begin", "trainer": "cbow"}, {"event": "progress", "words": 7}]
    end = {"event": "end", "time": "t3", "loss_by_epoch": [1.25] * 50_000}
    path.write_text("".join(json.dumps(line) + "\n" for line in (*lines, end)))
    assert (summarize_log(path)["state"], summarize_log(path)["last"]) == ("ended", "t3")
