"""The study of students of several teachers and languages."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from study import main

import embeddings as em


def test_a_row_for_each_student_and_measure(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    words = [f"w{number}" for number in range(60)]
    vectors = rng.normal(size=(60, 300))
    texts = [[int(n) for n in rng.integers(0, 60, 5)] for _ in range(700)]
    lines = [" ".join(words[n] for n in text) for text in texts]
    pq.write_table(em.corpora.text_vectors(lines, np.array([vectors[text].sum(axis=0) for text in texts])), "t.parquet")
    pq.write_table(em.corpora.text_vectors(words, vectors), "w.parquet")
    ratings = rng.random(40)
    pairs = [f"{a},{b},{rating}" for a, b, rating in zip(lines[:40], lines[40:80], ratings, strict=True)]
    (tmp_path / "pairs.csv").write_text("\n".join(pairs) + "\n")
    (tmp_path / "same.csv").write_text("".join(f"{line},{line}\n" for line in lines[:40]))
    options = ["--student", "one=t.parquet=w.parquet", "--pairs", "pairs.csv", "--translations", "same.csv"]
    main(["distilled-students", "--out", str(tmp_path / "out"), *options])
    kept = {
        line.split("\t")[2]: float(line.split("\t")[3]) for line in (tmp_path / "out.tsv").read_text().splitlines()[1:]
    }
    assert kept["dim"] == 256
    assert kept["same.csv, of 40"] == 100
    assert "pairs" in kept
    assert kept["held-out cosine"] == pytest.approx(100, abs=10)
    assert "| one |" in (tmp_path / "out.md").read_text()
