"""`embeddings index`, `neighbours --index` and `evaluate --neighbours`, as their users run them."""

import json
import subprocess
import sys

import numpy as np
import pytest
from drawn import drawn_points

from embeddings.eval.index_quality.recall_plot import families
from embeddings.eval.index_quality.recall_record import Record
from embeddings.eval.index_quality.recall_table import markdown
from embeddings.vectors.vectors import Vectors


def run(*args, cwd):
    return subprocess.run(
        [sys.executable, "-m", "embeddings", *map(str, args)], cwd=cwd, capture_output=True, text=True, timeout=300
    )


def ok(*args, cwd):
    done = run(*args, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vectors")
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(300)]
    rows = rng.standard_normal((30, 10)).repeat(10, axis=0) + 0.2 * rng.standard_normal((300, 10))
    Vectors(words, rows).save(folder / "v.bin")
    Vectors(words, rows[::-1]).save(folder / "other.bin")
    done = run("index", "lsh", "v.bin", "-o", "saved", "--bits", "128", "--rerank", "300", cwd=folder)
    assert done.returncode == 0
    assert done.stdout == ""
    assert done.stderr.startswith("lsh index of 300 vectors built in ")
    assert done.stderr.endswith(" MB saved in saved\n")
    return folder


def test_a_saved_index_answers_as_exact_search_does(folder):
    exact = ok("neighbours", "v.bin", "w3", "w77", "--top", 4, cwd=folder)
    assert len(exact.splitlines()) == 9
    for index in ("saved", "lsh:rerank=300", "faiss:factory=Flat", "exact"):
        assert ok("neighbours", "v.bin", "w3", "w77", "--top", 4, "--index", index, cwd=folder) == exact


def test_info_tells_what_an_index_is(folder):
    facts = json.loads(ok("info", "saved", "--json", cwd=folder))
    assert (facts["what"], facts["kind"], facts["rows"], facts["dim"]) == ("saved index", "lsh", 300, 10)
    assert facts["settings"]["bits"] == 128


def test_kinds_are_commands_with_their_settings(folder):
    text = " ".join(ok("index", "--help", cwd=folder).split())
    for kind in ("exact", "faiss", "lsh"):
        assert f"{kind} " in text
    text = " ".join(ok("index", "faiss", "--help", cwd=folder).split())
    assert "--factory TEXT What FAISS calls the index. [default: HNSW32]" in text


def test_judging_indexes(folder):
    lines = ok(
        "evaluate", "v.bin", "--neighbours", "--queries", 20, "--top", 3,
        "--index", "exact", "--index", "saved", "--index", "lsh:bits=32", cwd=folder,
    ).splitlines()  # fmt: skip
    header = lines[0].split("\t")
    rows = [dict(zip(header, line.split("\t"), strict=True)) for line in lines[1:]]
    assert [row["index"] for row in rows] == ["exact", "saved", "lsh:bits=32"]
    assert [row["recall"] for row in rows[:2]] == ["1", "1"]
    assert {(row["vectors"], row["rows"], row["queries"], row["top"]) for row in rows} == {("v.bin", "300", "20", "3")}


def test_the_rule_of_thumb_is_a_command(folder):
    asked = ["evaluate", "random:500x16", "--neighbours", "--queries", 10, "--json", "--plot", "p.png"]
    rows = json.loads(ok(*asked, cwd=folder))
    ranks = {row["index"]: row["rank"] for row in rows}
    assert ranks["exact"] == 1
    assert ranks["lsh:mode=tables,bits=8,tables=1,probes=1,orthogonal=false"] > 1
    assert (folder / "p.png").stat().st_size > 1000


@pytest.mark.slow
def test_results_are_written_as_files(folder):
    asked = ["evaluate", "v.bin", "random:400x8", "--neighbours", "--queries", 10, "--results"]
    lines = ok(*asked, "written", cwd=folder).splitlines()
    record = Record.read(folder / "written" / "neighbours.json")
    assert [(one.grid, one.vectors) for one in record.judged] == [
        ("speed", "v.bin"), ("rank", "v.bin"), ("rank", "random:400x8")
    ]  # fmt: skip
    assert sum(len(one.found) for one in record.judged) == len(lines) - 1
    assert (folder / "written" / "neighbours.md").read_text() == markdown(record)
    drawn = drawn_points(folder / "written" / "neighbours.svg")
    assert {name: len(drawn[name]) for name in drawn.keys() & families(record.judged[0].found)} == {
        name: len(found) for name, found in families(record.judged[0].found).items()
    }
    done = run(*asked, "written", cwd=folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert "neighbours.md exists" in done.stderr
    before = (folder / "written" / "neighbours.json").read_text()
    ok("evaluate", folder / "v.bin", "--neighbours", "--index", "exact", "--results", "written", "--force", cwd=folder)
    assert (folder / "written" / "neighbours.json").read_text() != before
    assert [one.vectors for one in Record.read(folder / "written" / "neighbours.json").judged] == ["v.bin"]


def test_what_was_found_is_printed_though_the_rest_fails(folder, tmp_path):
    """The last index is of other vectors, which only its turn can tell."""
    asked = ["evaluate", "other.bin", "--neighbours", "--queries", 5, "--index", "exact", "--index", "saved"]
    done = run(*asked, cwd=folder)
    assert done.returncode == 2
    assert "saved was built from other vectors" in done.stderr
    assert [line.split("\t")[1] for line in done.stdout.splitlines()] == ["index", "exact"]
    done = run(*asked, "--json", cwd=folder)
    assert done.returncode == 2
    assert [row["index"] for row in json.loads(done.stdout)] == ["exact"]


@pytest.mark.slow
def test_a_picture_is_replaced_when_told(folder):
    asked = ["evaluate", "v.bin", "--neighbours", "--queries", 5, "--index", "saved:rerank=300", "--plot", "again.svg"]
    ok(*asked, cwd=folder)
    assert "exists" in run(*asked, cwd=folder).stderr
    before = (folder / "again.svg").stat().st_mtime_ns
    ok(*asked, "--force", cwd=folder)
    assert (folder / "again.svg").stat().st_mtime_ns > before


BAD = [
    (["index", "lsh", "v.bin", "-o", "saved"], 1, "saved exists; choose another name, or --force"),
    (["index", "lsh", "v.bin", "-o", "x", "--bits", "0"], 2, "bits must be at least 1"),
    (["index", "lsh", "v.bin", "-o", "x", "--tables", "3"], 2, "tables has no meaning with mode hamming"),
    (["index", "faiss", "v.bin", "-o", "x", "--factory", "what"], 2, "FAISS refuses it: could not parse"),
    (["index", "tree", "v.bin", "-o", "x"], 2, "no index called 'tree'; installed: exact, faiss, lsh"),
    (["index", "lsh", "missing", "-o", "x"], 1, "missing does not exist"),
    (["index", "lsh", "v.bin", "-o", "no/x"], 1, "is not a folder"),
    (["index", "lsh", "v.bin", "-o", "v.bin", "--force"], 1, "v.bin is not a saved index, and is not replaced"),
    (["neighbours", "other.bin", "w1", "--index", "saved"], 2, "saved was built from other vectors"),
    (["neighbours", "v.bin", "w1", "--index", "nope"], 2, "no index called 'nope'"),
    (["neighbours", "v.bin", "w1", "--index", "lsh:bits=no"], 2, "bits must be a whole number, not 'no'"),
    (["neighbours", "v.bin", "w1", "--index", "v.bin"], 1, "v.bin is no saved index"),
    (["neighbours", "v.bin", "w1", "--index", "faiss", "--restrict", "5"], 2, "cannot restrict candidates"),
    (["evaluate", "v.bin", "--neighbours", "--compose"], 2, "--compose does not go with --neighbours"),
    (["evaluate", "v.bin", "--neighbours", "--window", "0"], 2, "--window does not go with --neighbours"),
    (["evaluate", "v.bin", "--seed", "0"], 2, "--seed goes with --neighbours only"),
    (["evaluate", "v.bin", "--neighbours", "--report", "r"], 2, "--report does not go with --neighbours"),
    (["evaluate", "v.bin", "--neighbours", "--word", "w1"], 2, "--word does not go with --neighbours"),
    (["evaluate", "v.bin", "--index", "lsh"], 2, "--index goes with --neighbours only"),
    (["evaluate", "v.bin", "--plot", "p.png"], 2, "--plot goes with --neighbours only"),
    (["evaluate", "v.bin", "v.bin", "--neighbours", "--plot", "q.png"], 2, "--plot draws one VECTORS at a time"),
    (["evaluate", "v.bin", "--neighbours", "--plot", "q.doc"], 2, "a picture must end in .png"),
    (["evaluate", "random:1x5", "--neighbours"], 2, "random points must be at least 2x1"),
    (["evaluate", "v.bin", "--neighbours", "--index", "nope"], 2, "no index called 'nope'"),
    (["evaluate", "v.bin", "--neighbours", "--force"], 2, "--force is of use only with --plot or --results"),
    (["evaluate", "v.bin", "--neighbours", "--grid", "rank", "--index", "exact"], 2, "--grid is of use only without"),
    (["evaluate", "v.bin", "--results", "r"], 2, "--results goes with --neighbours only"),
    (["evaluate", "v.bin", "--neighbours", "--results", "v.bin"], 1, "is not a folder"),
    (["evaluate", "v.bin", "--neighbours", "--results", "no/r"], 1, "is not a folder"),
    (["evaluate", "v.bin", "missing", "--neighbours"], 1, "missing does not exist"),
    (["evaluate", "v.bin", "random:1x5", "--neighbours"], 2, "random points must be at least 2x1"),
    (["evaluate", "v.bin", "--neighbours", "--index", "exact", "--index", "saved:bits=no"], 2, "not 'no'"),
    (["neighbours", "v.bin", "w1", "--index", "saved:bits=8"], 2, "bits would need a new index"),
    (["evaluate", "random:10x5"], 1, "random:10x5 does not exist"),
]


@pytest.mark.parametrize(("args", "code", "message"), BAD, ids=[" ".join(args) for args, _, _ in BAD])
def test_bad_input_gets_one_line_and_leaves_nothing(folder, args, code, message):
    before = sorted(folder.rglob("*"))
    done = run(*args, cwd=folder)
    assert done.returncode == code
    errors = [line for line in done.stderr.splitlines() if not line.startswith("judging ")]
    assert len(errors) == 1
    assert errors[0].startswith("Error: ")
    assert message in errors[0]
    assert done.stdout == ""
    assert sorted(folder.rglob("*")) == before


def test_help_needs_no_heavy_import():
    code = "import sys, embeddings.cli; print(*[m for m in ('numpy', 'numba', 'faiss') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == ""
