"""The study of retrieval: its table, and a run on a small set."""

import json

import numpy as np
from studies.grid import append_rows
from studies.retrieval_study import Retrieval
from study import main

import embeddings as em

ROWS = [
    ("a", "one", "english", "vectors", 20.0), ("a", "one", "english", "lexical", 30.0),
    ("a", "one", "english", "fused", 36.0), ("a", "one", "english", "p", 0.01),
    ("a", "two", "english", "vectors", 10.0), ("a", "two", "english", "lexical", 30.0),
    ("a", "two", "english", "fused", 32.0), ("a", "two", "english", "p", 0.2),
]  # fmt: skip
TABLE = """| vectors | one: vectors / words / both | two | mean |
| --- | ---: | ---: | ---: |
| a | 20.0 / 30.0 / 36.0* | 10.0 / 30.0 / 32.0 | 15.0 / 30.0 / 34.0 |
"""


def test_the_table_has_all_rankings_and_means_over_sets(tmp_path):
    append_rows(tmp_path / "results.tsv", (*Retrieval.keys, *Retrieval.values), ROWS)
    main(["retrieval", "--only-table", "--out", str(tmp_path / "results")])
    assert (tmp_path / "results.md").read_text(encoding="utf-8").startswith(TABLE)


def test_a_run_on_a_small_set(tmp_path):
    words = [f"w{number}" for number in range(12)]
    em.Vectors(words, np.eye(12), counts=range(24, 12, -1)).save(tmp_path / "v.parquet")
    for name in ("corpus", "queries"):
        rows = [json.dumps({"_id": word, "text": f"{word} 42"}) + "\n" for word in words]
        (tmp_path / f"{name}.jsonl").write_text("".join(rows))
    (tmp_path / "qrels.tsv").write_text("".join(f"{word}\t{word}\t1\n" for word in words))
    options = ["--models", f"v={tmp_path}/v.parquet,sif", "--sets", f"s={tmp_path}", "--stemming", "none"]
    main(["retrieval", *options, "--out", str(tmp_path / "results")])
    lines = (tmp_path / "results.md").read_text(encoding="utf-8").splitlines()
    assert lines[2] == "| v | 100.0 / 100.0 / 100.0 | 100.0 / 100.0 / 100.0 |"
