"""`embeddings align`, and searches among the vectors of another language."""

import json

import numpy as np
import pytest
from commands import expect, table

import embeddings as em


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    matrix, rotation = rng.standard_normal((40, 6)), np.linalg.qr(rng.standard_normal((6, 6)))[0]
    em.Vectors([f"a{n}" for n in range(40)], matrix).save("a.vec")
    em.Vectors([f"b{n}" for n in range(40)], matrix @ rotation).save("b.vec")
    (tmp_path / "pairs.txt").write_text("".join(f"a{n} b{n}\n" for n in range(20)))
    (tmp_path / "test.txt").write_text("".join(f"a{n} b{n}\n" for n in range(20, 40)))
    return tmp_path


def test_align_search_and_evaluate(folder):
    result = expect("align", "a.vec", "b.vec", "--dictionary", "pairs.txt", "-o", "out.vec")
    assert "20 pairs" in result.stderr
    for method in ("cosine", "csls"):
        rows = table(
            expect("neighbours", "out.vec", "a30", "a31", "--among", "b.vec", "--top", 1, "--method", method).stdout
        )
        assert [(row["word"], row["neighbour"]) for row in rows] == [("a30", "b30"), ("a31", "b31")]
        assert method in rows[0]
    rows = json.loads(expect("evaluate", "out.vec", "--translation", "test.txt", "--target", "b.vec", "--json").stdout)
    assert [(one["value"], one["covered"]) for one in rows] == [(1, 20)] * 4


def test_methods_that_change_both_spaces(folder):
    arguments = ("align", "a.vec", "b.vec", "--dictionary", "pairs.txt", "-o", "out.vec")
    assert "--onto-out" in expect(*arguments, "--method", "whitened", code=2).stderr
    assert "--onto-out" in expect(*arguments, "--onto-out", "c.vec", code=2).stderr
    same = expect(*arguments, "--method", "whitened", "--onto-out", "./out.vec", "--force", code=2).stderr
    assert "overwrite --out" in same
    assert not (folder / "out.vec").exists()
    record = json.loads(expect(*arguments, "--method", "whitened", "--onto-out", "c.arrow", "--json").stdout)
    assert (record["files"], record["pairs"]) == (["out.vec", "c.arrow"], 20)
    source, target = em.load("out.vec"), em.load("c.arrow")
    assert target.most_similar(source["a33"], top=1)[0][0] == "b33"


def test_retrofit(folder):
    (folder / "lexicon.txt").write_text("a1 a2 a3\na2 a1\n")
    expect("export", "a.vec", "fitted.vec", "--retrofit", "lexicon.txt")
    before, after = em.load("a.vec"), em.load("fitted.vec")
    assert after.similarity("a1", "a2") > before.similarity("a1", "a2") + 0.1
    assert after.similarity("a5", "a6") == pytest.approx(before.similarity("a5", "a6"), abs=1e-5)
