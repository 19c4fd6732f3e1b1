"""The study of retrieval: its table, and a run on a small set."""

import json

import numpy as np
import pytest
from study import main

import embeddings as em


def test_a_run_on_two_small_sets(tmp_path):
    pytest.importorskip("Stemmer")
    words = [f"w{number}" for number in range(12)]
    em.Vectors(words, np.eye(12), counts=range(24, 12, -1)).save(tmp_path / "v.parquet")
    for name, first in (("corpus", "d"), ("queries", "q")):  # a document with the id of the query would be left out
        rows = [json.dumps({"_id": first + word, "text": f"{word} 42"}) + "\n" for word in words]
        (tmp_path / f"{name}.jsonl").write_text("".join(rows))
    (tmp_path / "qrels.tsv").write_text("".join(f"q{word}\td{word}\t1\n" for word in words))
    options = ["--models", f"v={tmp_path}/v.parquet,sif,0", "--sets", f"one={tmp_path}", f"two={tmp_path}"]
    main(["retrieval", *options, "--out", str(tmp_path / "results")])
    table = (tmp_path / "results.md").read_text(encoding="utf-8").splitlines()
    assert table[0] == "| vectors | one: vectors / words / both | two | mean |"
    assert table[2] == "| v | 100.0 / 100.0 / 100.0 | 100.0 / 100.0 / 100.0 | 100.0 / 100.0 / 100.0 |"
