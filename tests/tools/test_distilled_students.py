"""The study of students of several teachers and languages."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from study import main

import embeddings as em


def test_a_column_for_each_student_and_other_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    words = [f"w{number}" for number in range(60)]
    vectors = rng.normal(size=(60, 300))
    texts = [[int(n) for n in rng.integers(0, 60, 5)] for _ in range(700)]
    lines = [" ".join(words[n] for n in text) for text in texts]
    pq.write_table(em.corpora.text_vectors(lines, np.array([vectors[text].sum(axis=0) for text in texts])), "t.parquet")
    pq.write_table(em.corpora.text_vectors(words, vectors), "w.parquet")
    em.Vectors(words, vectors.astype(np.float32)).save("peer.arrow")
    (tmp_path / "some_teacher.py").write_text(
        "import numpy as np\n"
        f"rows = np.load({str(tmp_path / 'rows.npy')!r})\n"
        "encode = lambda texts: np.array([sum(rows[int(word[1:])] for word in text.split()) for text in texts])\n"
    )
    np.save("rows.npy", vectors)
    ratings = rng.random(40)
    pairs = [f"{a},{b},{rating}" for a, b, rating in zip(lines[:40], lines[40:80], ratings, strict=True)]
    (tmp_path / "pairs.csv").write_text("\n".join(pairs) + "\n")
    (tmp_path / "similarity.txt").write_text("w10 w20 3\nw30 w40 2\nw50 w55 1\n")
    (tmp_path / "same.csv").write_text("".join(f"{line},{line}\n" for line in lines[:40]))
    (tmp_path / "labels.csv").write_text("label,text\n" + "".join(f"{n % 2},w{n % 2} w{n}\n" for n in range(50)))
    (tmp_path / "beir").mkdir()
    documents = [json.dumps({"_id": str(n), "text": line}) + "\n" for n, line in enumerate(lines[:40])]
    for name in ("corpus", "queries"):
        (tmp_path / "beir" / f"{name}.jsonl").write_text("".join(documents))
    (tmp_path / "beir" / "qrels.tsv").write_text("".join(f"{n}\t{n + 1}\t1\n" for n in range(0, 40, 2)))
    options = ["--pairs", "pairs.csv", "--similarity", "similarity.txt", "--translations", "same.csv"]
    options += ["--documents", "labels.csv", "--retrieval", "beir", "--seed", "1", "2", "--student"]
    others = ["peer=peer.arrow", "teacher=python:some_teacher:encode"]
    main(["distilled-students", "--out", str(tmp_path / "out"), *options, "one=t.parquet=w.parquet=256", *others])
    rows = [line.split("\t") for line in (tmp_path / "out.tsv").read_text().splitlines()[1:]]
    scores = {(student, seed, measure): float(value) for student, seed, measure, value in rows}
    shared = {"pairs", "similarity", "same.csv, of 40"}
    of_models = {"labels, accuracy", "beir, ndcg@10"}
    measures = {key: {name for *other, name in scores if tuple(other) == key} for key in {key[:2] for key in scores}}
    student = shared | of_models | {"CPU s", "held-out cosine"}
    assert measures == {
        ("one", "1"): student, ("one", "2"): student, ("peer", "0"): shared | of_models, ("teacher", "0"): shared,
    }  # fmt: skip
    assert all(scores[*key, "same.csv, of 40"] == 100 for key in measures)
    assert scores["peer", "0", "pairs"] == scores["teacher", "0", "pairs"]
    assert scores["one", "1", "held-out cosine"] == pytest.approx(100, abs=10)
    assert "| one | peer | teacher |" in (tmp_path / "out.md").read_text()
