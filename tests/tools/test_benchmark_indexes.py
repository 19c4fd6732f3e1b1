"""Recall and speed of indexes on a few vectors."""

import json

import numpy as np
import pytest
from benchmark_indexes import (
    every_spec,
    families,
    family,
    main,
    markdown_tables,
    measure_indexes,
    search_others,
)
from drawn import drawn_points

from embeddings import registry
from embeddings.vectors.index import as_index, parse_spec
from embeddings.vectors.vectors import Vectors


@pytest.fixture(scope="module")
def vectors():
    matrix = np.random.default_rng(2).standard_normal((300, 8))
    matrix[299] = matrix[10]
    return Vectors([f"w{i}" for i in range(300)], matrix)


def test_query_rows_are_not_neighbours(vectors):
    rows = np.random.default_rng(1).permutation(300)
    truth = search_others(as_index(None, vectors), vectors, rows, 5)
    for row, ids in zip(rows, truth.ids, strict=True):
        cosines = vectors.unit_rows @ vectors.unit_rows[row]
        cosines[row] = -2
        assert set(ids) == set(np.argsort(-cosines, kind="stable")[:5])
    assert truth.ids[list(rows).index(10)][0] == 299


def test_each_index_is_measured(vectors):
    specs = ["exact", "lsh:bits=8,rerank=20", "lsh:bits=8,rerank=300", "faiss:factory=IVF500,Flat"]
    exact, rough, whole, failed = measure_indexes(vectors, np.arange(1, 300, 7)[:40], specs, top=5)
    assert [exact[name] for name in ("recall", "low", "high", "bytes")] == [1, 1, 1, 0]
    assert [exact[name] for name in ("rows", "dim", "queries", "top")] == [300, 8, 40, 5]
    assert whole["recall"] == 1
    assert whole["build_seconds"] == rough["build_seconds"]  # the same signatures
    assert rough["low"] < rough["recall"] < rough["high"] < 1
    assert (failed["recall"], "IVF" in failed["reason"]) == (None, True)
    by_family = {name: len(members) for name, members in families([exact, rough, whole, failed]).items()}
    assert by_family == {"exact": 1, "lsh:bits=8": 2}


def test_specs():
    assert family("faiss:factory=IVF256,Flat,nprobe=4") == "faiss:factory=IVF256,Flat"
    assert family("lsh:rerank=2,bits=4,orthogonal=false") == "lsh:bits=4,orthogonal=false"
    for rows, dim in ((10, 1), (300, 7), (68_000, 100)):
        specs = every_spec(rows, dim)
        assert len(set(specs)) == len(specs)
        for spec in specs:
            registry.create("index", *parse_spec(spec))


def test_the_report(vectors, tmp_path):
    vectors.save(tmp_path / "v.bin")
    specs = [f"lsh:bits={bits},rerank={rerank}" for bits in (8, 16) for rerank in (10, 90)]
    main([str(tmp_path / "v.bin"), "--index", *specs, "--queries", "10", "--out", str(tmp_path / "r")])
    content = json.loads((tmp_path / "r" / "neighbours.json").read_text())
    (grid,) = content["grids"]
    assert (grid["vectors"], [one["index"] for one in grid["results"]]) == ("v.bin", specs)
    assert (tmp_path / "r" / "neighbours.md").read_text() == markdown_tables(content)
    points = drawn_points(tmp_path / "r" / "neighbours.svg")
    assert {name: len(points[name]) for name in families(grid["results"])} == {"lsh:bits=8": 2, "lsh:bits=16": 2}
