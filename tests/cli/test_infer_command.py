"""Documents: `embeddings infer`, and neighbours and exports of documents."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from commands import expect, refused, table

import embeddings as em

SMALL = ["--dim", "8", "--epochs", "30", "--min-count", "1", "--subsample", "0", "--threads", "1", "--quiet"]
COLUMNS = ["--text-column", "text", "--tag-column", "tag"]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("documents") / "d.csv"
    rng = np.random.default_rng(1)
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["tag", "label", "text"])
        for number in range(150):
            kind = ("sea", "hill", "town")[number % 3]
            words = [f"{kind}{rng.integers(9)} w{rng.integers(9)}" for _ in range(6)]
            rows.writerow([f"{kind}/{number}", kind, " ".join(words[:3]) + ".\n" + " ".join(words[3:])])
    return path


@pytest.fixture(scope="module")
def models(documents: Path) -> tuple[Path, Path]:
    dbow, dm = documents.parent / "dbow", documents.parent / "dm"
    expect("train", "paragraph-dbow", documents, "-o", dbow, *COLUMNS, *SMALL, "--learning-rate", "0.05")
    expect("train", "paragraph-dm", documents, "-o", dm, *COLUMNS, *SMALL, "--combine", "sum")
    return dbow, dm


def test_neighbours_of_documents(models):
    search = ["neighbours", models[1], "--documents", "sea/0", "--top", 3]
    rows = table(expect(*search).stdout)
    assert [row["document"] for row in rows] == ["sea/0"] * 3
    assert all(row["neighbour"].startswith("sea/") for row in rows)
    assert [row["word"] for row in json.loads(expect(*search, "--json").stdout)] == ["sea/0"] * 3
    message = refused("neighbours", models[1], "--documents", "sea", code=1)
    assert "'sea'" in message
    assert "documents" in message
    assert "words" not in message


def test_inferred_vectors_are_those_of_python(models, documents, tmp_path):
    out = tmp_path / "v.parquet"
    options = [*COLUMNS, "--threads", 2, "--seed", 3, "--json"]
    result = expect("infer", models[0], documents, "-o", out, *options)
    assert "150 vectors of dimension 8" in result.stderr
    summary = json.loads(result.stdout)
    assert (summary["files"][0], summary["documents"], summary["dim"]) == (str(out), 150, 8)
    vectors = em.load(out)
    with documents.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert vectors.words == [row["tag"] for row in rows]
    expected = em.load_model(models[0]).infer([row["text"] for row in rows], seed=3)
    np.testing.assert_allclose(vectors.matrix, expected, rtol=1e-5, atol=1e-7)


def test_lines_of_a_text_are_numbered(models, tmp_path):
    (tmp_path / "lines").write_text("sea1 sea2\n\nnothing known\nhill3\n")
    expect("infer", models[0], tmp_path / "lines", "-o", tmp_path / "v.npy", "--quiet")
    vectors = em.load(tmp_path / "v.npy")
    assert vectors.words == ["0", "1", "2", "3"]
    assert vectors.matrix.any(axis=1).tolist() == [True, False, False, True]
    assert "exists" in refused("infer", models[0], tmp_path / "lines", "-o", tmp_path / "v.npy", code=1)
