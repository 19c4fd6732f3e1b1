"""The measurement of search on small vectors, and its choice of indexes by hand."""

import json

import numpy as np
import pytest
from studies import search_speed
from studies.grid import collect, read_rows
from study import main

import embeddings as em

INDEXES = [
    {"index": "slow", "recall": 0.96, "bytes": 1000, "rows": 100, "dim": 2, "per_second": 10.0},
    {"index": "fast", "recall": 0.92, "bytes": 1000, "rows": 100, "dim": 2, "per_second": 20.0},
    {"index": "large", "recall": 1.0, "bytes": 60_000, "rows": 100, "dim": 2, "per_second": 12345.0},
]


CONTENT = {"machine": {"date": "today"}, "grids": [{"grid": "speed", "results": INDEXES}]}


def test_the_fastest_index_that_fits_is_chosen(tmp_path):
    assert search_speed.LIMITS == (20, 40, 80, 500, 1000)
    (tmp_path / "n.json").write_text(json.dumps(CONTENT))
    rows = search_speed.choice_table(tmp_path / "n.json").splitlines()[4:]
    assert [row.strip("| ").split(" | ") for row in rows] == [
        ["0.9", *["`fast` 20"] * 4, "`large` 12,300"],
        ["0.95", *["`slow` 10"] * 4, "`large` 12,300"],
        ["0.99", *["-"] * 4, "`large` 12,300"],
    ]


def test_the_tables(tmp_path):
    pytest.importorskip("faiss")
    words = ["athens", "greece", "paris", "france", *(f"w{number}" for number in range(40))]
    em.Vectors(words, np.random.default_rng(1).normal(size=(44, 8)).astype(np.float32)).save(tmp_path / "v.bin")
    neighbours, out = tmp_path / "n.json", tmp_path / "out"
    neighbours.write_text(json.dumps(CONTENT))
    arguments = ["--vectors", str(tmp_path / "v.bin"), "--rounds", "1", "--calls", "2", "--words", "60"]
    main(["search", *arguments, "--neighbours", str(neighbours), "--out", str(out)])
    values, text = collect(read_rows(tmp_path / "out.tsv"), "queries", "run"), (tmp_path / "out.md").read_text()
    analogies = values.pop(("analogies", "analogies"))
    assert list(values) == [(queries, kind) for queries in ("1", "64", "1000") for kind in ("exact", "FAISS")]
    assert (analogies["words"], analogies["questions"]) == ([60], [2])
    assert all(seconds >= 0 for times in values.values() for one in times.values() for seconds in one)
    assert text.count("\n| ") == (2 + 3) + (2 + 1) + (2 + 3)
