"""Summaries of run logs, also of interrupted runs."""

import json
import math

from embeddings.training.run_log import summarize_log


def test_summary_of_the_last_run_of_a_log(tmp_path):
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
    assert (summary["runs"], summary["checkpoints"], summary["interrupts"]) == (1, 0, 0)
    with path.open("a") as stream:
        stream.write("\n" + json.dumps({**start, "seed": 6}) + "\n")
    summary = summarize_log(path)
    assert (summary["seed"], summary["words"], summary["loss"]) == (6, 0, None)
    path.write_text('{"event": "begin", "trainer": [[')
    assert summarize_log(path)["trainer"] is None
    path.write_text('{"event": "begin", "trainer": "cbow", "seed": NaN, "words": 1e999}')
    assert summarize_log(path) | {"trainer": "cbow", "seed": None, "words": None} == summarize_log(path)
