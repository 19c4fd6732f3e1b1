"""Documents on the command line, through real processes: train, infer, neighbours, export, evaluate."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import embeddings as em

SMALL = ["--dim", "8", "--epochs", "30", "--min-count", "1", "--sample", "0", "--threads", "1", "--quiet"]
COLUMNS = ["--text-column", "text", "--tag-column", "tag"]


def run(*args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "embeddings", *map(str, args)], capture_output=True, text=True, timeout=300
    )


def ok(*args: object) -> str:
    done = run(*args)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
def models(table: Path) -> tuple[Path, Path]:
    dbow, dm = table.parent / "dbow", table.parent / "dm"
    ok("train", "paragraph-dbow", table, "-o", dbow, *COLUMNS, *SMALL, "--rate", "0.05")
    ok("train", "paragraph-dm", table, "-o", dm, *COLUMNS, *SMALL, "--combine", "sum")
    return dbow, dm


def test_neighbours_of_documents(models: tuple[Path, Path]) -> None:
    rows = [line.split("\t") for line in ok("neighbours", models[1], "--documents", "sea/0", "--top", 3).splitlines()]
    assert [row[0] for row in rows] == ["word", "sea/0", "sea/0", "sea/0"]
    assert all(row[1].startswith("sea/") for row in rows[1:])
    assert "no vector for 'sea'" in run("neighbours", models[1], "--documents", "sea").stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["exact", "lsh", "faiss"])
def test_an_index_of_documents(models: tuple[Path, Path], tmp_path: Path, kind: str) -> None:
    asked = ["neighbours", models[1], "--documents", "sea/0", "--top", 3]
    ok("index", kind, models[1], "--documents", "-o", tmp_path / "i", *(["--rerank", 150] if kind == "lsh" else []))
    assert ok(*asked, "--index", tmp_path / "i") == ok(*asked)
    ok("index", kind, models[1], "-o", tmp_path / "words")
    assert "was built from other vectors" in run(*asked, "--index", tmp_path / "words").stderr


@pytest.mark.parametrize("ending", [".parquet", ".npy", ".kv", ".bin", ".txt", ".arrow"])
def test_inferred_in_every_format_are_those_of_python(
    models: tuple[Path, Path], table: Path, tmp_path: Path, ending: str
) -> None:
    out = tmp_path / f"v{ending}"
    done = run("infer", models[0], table, "-o", out, *COLUMNS, "--beside", models[1], "--threads", 2, "--seed", 3)
    assert done.returncode == 0, done.stderr
    assert f"150 vectors of 16 components written to {out}" in done.stderr
    found = em.load(out, allow_pickle=True)
    with table.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert found.words == [row["tag"] for row in rows]
    both = em.concatenate(*map(em.load_model, models))
    np.testing.assert_allclose(found.matrix, both.infer([row["text"] for row in rows], seed=3), rtol=1e-5, atol=1e-7)


def test_lines_of_a_text_are_numbered_and_outputs_are_kept(models: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("sea1 sea2\n\nnothing known\nhill3\n")
    ok("infer", models[0], tmp_path / "lines", "-o", tmp_path / "v.npy", "--quiet")
    found = em.load(tmp_path / "v.npy")
    assert found.words == ["0", "1", "2", "3"]
    assert found.matrix.any(axis=1).tolist() == [True, False, False, True]
    done = run("infer", models[0], tmp_path / "lines", "-o", tmp_path / "v.npy")
    assert (done.returncode, "exists" in done.stderr) == (1, True)


def test_a_tag_that_the_format_cannot_hold_is_told_before_anything_is_inferred(
    models: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "d.csv").write_text("tag,text\nNew York,sea1 sea2\n")
    done = run("infer", models[0], tmp_path / "d.csv", "-o", tmp_path / "v.bin", *COLUMNS)
    assert done.returncode == 1
    assert "format cannot hold the word 'New York', which holds white space" in done.stderr.splitlines()[-1]
    assert "inferr" not in done.stderr.replace(done.stderr.splitlines()[-1], "")
    assert not (tmp_path / "v.bin").exists()
    ok("infer", models[0], tmp_path / "d.csv", "-o", tmp_path / "v.parquet", *COLUMNS)


def test_what_was_inferred_is_not_lost_where_it_cannot_be_written(
    models: tuple[Path, Path], table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    from embeddings.cli import main
    from embeddings.models import document_vectors

    out, infer = tmp_path / "v.npy", document_vectors.Concatenated.infer

    def in_the_way(*given: object, **more: object) -> np.ndarray:
        out.write_text("from elsewhere")
        return infer(*given, **more)

    monkeypatch.setattr(document_vectors.Concatenated, "infer", in_the_way)
    done = CliRunner().invoke(main, ["infer", *map(str, [models[0], table, "-o", out, *COLUMNS])])
    assert done.exit_code == 1
    assert (
        f"exists; choose another name, or --force to replace it; what was learned is saved in {tmp_path}" in done.stderr
    )
    assert out.read_text() == "from elsewhere"
    assert len(em.load(tmp_path / "v.1.npy")) == 150


def test_export_of_documents(models: tuple[Path, Path], tmp_path: Path) -> None:
    ok("export", models[0], tmp_path / "d.parquet", "--table", "documents")
    found, expected = em.load(tmp_path / "d.parquet"), em.load_model(models[0]).documents
    assert found.words == expected.words
    np.testing.assert_array_equal(found.matrix, expected.matrix)


def test_evaluation_infers(models: tuple[Path, Path], table: Path) -> None:
    lines = ok("evaluate", models[1], "--documents", table).splitlines()
    row = dict(zip(lines[0].split("\t"), lines[1].split("\t"), strict=True))
    assert (row["measure"], row["seen"], row["total"]) == ("accuracy", "150", "150")
    assert float(row["value"]) > 0.95
    assert "that the model infers" in ok("evaluate", models[1], "--documents", table, "--json")


@pytest.mark.slow
def test_evaluation_of_what_was_learned_and_of_models_side_by_side(models: tuple[Path, Path], table: Path) -> None:
    def values(*more: object) -> list[list[str]]:
        return [line.split("\t") for line in ok("evaluate", models[0], "--documents", table, *more).splitlines()[1:]]

    learned = values("--name-column", "tag")
    assert [row[4] for row in learned] == ["accuracy"]
    assert "none: no document has a vector of its name" in values("--trained")[0]
    both = values("--beside", models[1])
    assert [(row[0], row[4]) for row in both] == [(str(models[0]), "accuracy")]
    done = run("evaluate", models[0], "--beside", models[1])
    assert (done.returncode, "are judged by documents" in done.stderr) == (2, True)
    assert "--trained is of use only with --documents" in run("evaluate", models[0], "--trained").stderr


@pytest.mark.slow
def test_what_cannot_be_done_is_told(models: tuple[Path, Path], table: Path, tmp_path: Path) -> None:
    out = tmp_path / "v.npy"
    ok("train", "skipgram", table, "-o", tmp_path / "sg", "--text-column", "text", *SMALL)
    for args, code, told in [
        (["infer", tmp_path / "sg", table, "-o", out, "--text-column", "text"], 2, "a skipgram model finds no vectors"),
        (["neighbours", tmp_path / "sg", "--documents", "0"], 2, "a skipgram model has no vectors of documents"),
        (["infer", models[0], table, "-o", out, "--text-column", "text", "--tag-column", "label"], 1, "the tag 'sea'"),
        (["infer", models[0], table, "-o", table, "--force", *COLUMNS], 1, "no format goes with the ending"),
        (["infer", tmp_path, table, "-o", out], 1, "no saved model"),
        (["infer", models[0], tmp_path / "none", "-o", out], 1, "no file or folder called"),
        (["train", "paragraph-dm", table, "-o", tmp_path / "m", "--combine", "all"], 2, "'all' is not one of"),
    ]:
        done = run(*args)
        assert (done.returncode, done.stdout) == (code, "")
        assert told in done.stderr.splitlines()[-1], done.stderr
        assert not out.exists()


def test_a_vector_file_is_said_to_hold_no_documents(table: Path, tmp_path: Path) -> None:
    done = run("train", "paragraph-dbow", table, "-o", tmp_path / "v.bin", *COLUMNS, *SMALL[:-1])
    assert f"{tmp_path / 'v.bin'} will hold vectors of words; a folder keeps those of documents" in done.stderr
    assert "documents" not in run("train", "paragraph-dbow", table, "-o", tmp_path / "m", *COLUMNS, *SMALL[:-1]).stderr
