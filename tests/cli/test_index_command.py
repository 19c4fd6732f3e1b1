"""`embeddings index`, `neighbours --index` and `benchmark-indexes`."""

import json

import numpy as np
import pytest
from commands import expect, refused, table
from drawn import drawn_points
from index_benchmarks import read_benchmark

from embeddings.eval.index_quality import families, markdown_tables
from embeddings.vectors.vectors import Vectors


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("vectors")
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(300)]
    rows = rng.standard_normal((30, 10)).repeat(10, axis=0) + 0.2 * rng.standard_normal((300, 10))
    Vectors(words, rows).save(place / "v.bin")
    Vectors(words, rows[::-1]).save(place / "other.bin")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        result = expect("index", "lsh", "v.bin", "-o", "saved", "--bits", "128", "--rerank", "300")
    assert result.stdout == ""
    assert "lsh index of 300 vectors" in result.stderr
    assert result.stderr.endswith(" MB to saved\n")
    return place


@pytest.fixture(autouse=True)
def folder(place, monkeypatch):
    monkeypatch.chdir(place)
    return place


def test_index_json(folder):
    summary = json.loads(expect("index", "lsh", "v.bin", "-o", "json.lsh", "--bits", "64", "--json").stdout)
    assert (summary["out"], summary["kind"], summary["rows"], summary["dim"]) == ("json.lsh", "lsh", 300, 10)
    assert summary["settings"]["bits"] == 64


def test_a_saved_index_answers_as_exact_search_does():
    exact = expect("neighbours", "v.bin", "w3", "w77", "--top", 4).stdout
    assert len(exact.splitlines()) == 9
    for index in ("saved", "lsh:rerank=300", "faiss:factory=Flat", "exact"):
        assert expect("neighbours", "v.bin", "w3", "w77", "--top", 4, "--index", index).stdout == exact


def test_a_saved_faiss_index_needs_consent():
    expect("index", "faiss", "v.bin", "-o", "trusted", "--factory", "Flat")
    exact = expect("neighbours", "v.bin", "w3", "--top", 4).stdout
    measured = expect("benchmark-indexes", "v.bin", "--queries", 5, "--index", "trusted", "--allow-faiss").stdout
    assert table(measured)[0]["recall"] == "1"
    assert expect("neighbours", "v.bin", "w3", "--top", 4, "--index", "trusted", "--allow-faiss").stdout == exact
    for command in (["neighbours", "v.bin", "w3"], ["benchmark-indexes", "v.bin"]):
        assert "load it with --allow-faiss" in expect(*command, "--index", "trusted", code=1).stderr
        assert "--allow-faiss requires --index" in expect(*command, "--allow-faiss", code=2).stderr


def test_info_describes_an_index():
    properties = json.loads(expect("info", "saved", "--json").stdout)
    assert (properties["what"], properties["kind"], properties["rows"]) == ("saved index", "lsh", 300)
    assert properties["settings"]["bits"] == 128


def test_kinds_are_commands_with_their_settings():
    text = " ".join(expect("index", "--help").stdout.split())
    for kind in ("exact", "faiss", "lsh"):
        assert f"{kind} " in text
    assert "--factory" in expect("index", "faiss", "--help").stdout


def test_benchmarking_indexes():
    indexes = ["--index", "exact", "--index", "saved", "--index", "lsh:bits=32"]
    rows = table(expect("benchmark-indexes", "v.bin", "--queries", 20, "--top", 3, *indexes).stdout)
    assert [row["index"] for row in rows] == ["exact", "saved", "lsh:bits=32"]
    assert [row["recall"] for row in rows[:2]] == ["1", "1"]
    assert {(row["vectors"], row["rows"], row["queries"], row["top"]) for row in rows} == {("v.bin", "300", "20", "3")}


def test_ranks_of_random_points(folder):
    command = ["benchmark-indexes", "random:500x16", "--queries", 10, "--json", "--plot", "p.png"]
    ranks = {row["index"]: row["rank"] for row in json.loads(expect(*command).stdout)}
    assert ranks["exact"] == 1
    assert max(rank for rank in ranks.values() if rank is not None) > 1
    assert (folder / "p.png").stat().st_size > 1000


@pytest.mark.slow
def test_results_are_written_as_files(folder):
    command = ["benchmark-indexes", "v.bin", "random:400x8", "--queries", 10, "--results", "written"]
    lines = expect(*command).stdout.splitlines()
    benchmark = read_benchmark(folder / "written" / "neighbours.json")
    assert [(one.grid, one.vectors) for one in benchmark.grids] == [
        ("speed", "v.bin"), ("rank", "v.bin"), ("rank", "random:400x8")
    ]  # fmt: skip
    assert sum(len(one.results) for one in benchmark.grids) == len(lines) - 1
    assert (folder / "written" / "neighbours.md").read_text() == markdown_tables(benchmark.machine, benchmark.grids)
    points = drawn_points(folder / "written" / "neighbours.svg")
    assert {name: len(points[name]) for name in points.keys() & families(benchmark.grids[0].results)} == {
        name: len(qualities) for name, qualities in families(benchmark.grids[0].results).items()
    }
    assert "neighbours.md" in refused(*command, code=1)
    before = (folder / "written" / "neighbours.json").read_text()
    expect("benchmark-indexes", folder / "v.bin", "--index", "exact", "--results", "written", "--force")
    assert (folder / "written" / "neighbours.json").read_text() != before
    assert [one.vectors for one in read_benchmark(folder / "written" / "neighbours.json").grids] == ["v.bin"]


@pytest.mark.parametrize("as_json", [True, False])
def test_measurements_before_a_failure_are_printed(as_json):
    """The second index is of other vectors, which is known only when it is searched."""
    command = ["benchmark-indexes", "other.bin", "--queries", 5, "--index", "exact", "--index", "saved"]
    result = expect(*command, *["--json"] * as_json, code=2)
    assert "other vectors" in result.stderr
    rows = json.loads(result.stdout) if as_json else table(result.stdout)
    assert [row["index"] for row in rows] == ["exact"]


@pytest.mark.slow
def test_a_plot_is_replaced_with_force(folder):
    command = ["benchmark-indexes", "v.bin", "--queries", 5, "--index", "saved:rerank=300", "--plot", "again.svg"]
    expect(*command)
    assert "exists" in refused(*command, code=1)
    before = (folder / "again.svg").stat().st_mtime_ns
    expect(*command, "--force")
    assert (folder / "again.svg").stat().st_mtime_ns > before


BAD = [
    (["index", "lsh", "v.bin", "-o", "saved"], 1, ["saved", "exists", "--force"]),
    (["index", "lsh", "v.bin", "-o", "x", "--bits", "0"], 2, ["bits", "1", "0"]),
    (["index", "faiss", "v.bin", "-o", "x", "--factory", "what"], 2, ["FAISS", "parse"]),
    (["index", "tree", "v.bin", "-o", "x"], 2, ["'tree'", "no such file", "exact, faiss, lsh"]),
    (["index", "lsh", "missing", "-o", "x"], 1, ["missing does not exist"]),
    (["index", "lsh", "v.bin", "-o", "no/x"], 1, ["not a folder"]),
    (["index", "lsh", "v.bin", "-o", "v.bin", "--force"], 1, ["v.bin is not a saved index"]),
    (["neighbours", "other.bin", "w1", "--index", "saved"], 2, ["saved", "other vectors"]),
    (["neighbours", "v.bin", "w1", "--index", "nope"], 2, ["'nope'"]),
    (["neighbours", "v.bin", "w1", "--index", "lsh:bits=no"], 2, ["bits", "'no'"]),
    (["neighbours", "v.bin", "w1", "--index", "v.bin"], 1, ["v.bin", "saved index"]),
    (["neighbours", "v.bin", "w1", "--index", "faiss", "--restrict", "5"], 2, ["restrict"]),
    (["neighbours", "v.bin", "w1", "--index", "saved:bits=8"], 2, ["bits", "new index"]),
    (["evaluate", "v.bin", "--index", "lsh"], 2, ["--index"]),
    (["evaluate", "random:10x5"], 1, ["random:10x5 does not exist"]),
    (["benchmark-indexes", "v.bin", "v.bin", "--plot", "q.png"], 2, ["--plot", "one VECTORS"]),
    (["benchmark-indexes", "v.bin", "--plot", "q.doc"], 2, [".png"]),
    (["benchmark-indexes", "v.bin", "--index", "nope"], 2, ["'nope'"]),
    (["benchmark-indexes", "v.bin", "--force"], 2, ["--force requires --plot or --results"]),
    (["benchmark-indexes", "v.bin", "--grid", "rank", "--index", "exact"], 2, ["--grid", "--index"]),
    (["benchmark-indexes", "v.bin", "--results", "v.bin"], 1, ["not a folder"]),
    (["benchmark-indexes", "v.bin", "--results", "no/r"], 1, ["not a folder"]),
    (["benchmark-indexes", "v.bin", "missing"], 1, ["missing does not exist"]),
    (["benchmark-indexes", "v.bin", "random:1x5"], 2, ["2x1"]),
    (["benchmark-indexes", "v.bin", "--index", "exact", "--index", "saved:bits=no"], 2, ["'no'"]),
]


@pytest.mark.parametrize(("args", "code", "facts"), BAD, ids=[" ".join(args) for args, _, _ in BAD])
def test_bad_input_gets_one_line_and_leaves_nothing(folder, args, code, facts):
    before = sorted(folder.rglob("*"))
    message = refused(*args, code=code)
    assert all(fact in message for fact in facts), message
    assert sorted(folder.rglob("*")) == before
