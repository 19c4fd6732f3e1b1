"""The table of a study, worked by hand, and a run that skips what is done."""

import numpy as np
from studies.grid import append_rows, read_rows
from study import main

import embeddings as em

ROWS = [
    ("a", "cbow:epochs=1", "1", "x", "0.5"), ("a", "cbow:epochs=1", "2", "x", "0.3"),
    ("b", "cbow:epochs=1", "1", "x", "0.1"), ("b", "cbow:epochs=1", "2", "x", "0.2"),
    ("a", "cbow:epochs=2", "1", "x", "0.6"), ("b", "cbow:epochs=2", "1", "x", "0.6"),
    ("a", "skipgram", "1", "x", "0.9"),
]  # fmt: skip
TABLE = """| model | a: x | b: x | mean | range of seeds |
| --- | ---: | ---: | ---: | ---: |
| `cbow:epochs=2` | 60.0 | 60.0 | 60.0 | 0.0 |
| `cbow:epochs=1` | 40.0 | 15.0 | 27.5 | 5.0 |
| `skipgram` | 90.0 |  |  |  |
"""


def test_table_has_the_means_over_seeds_and_the_best_first(tmp_path):
    columns = ("corpus", "model", "seed", "set", "value", "covered", "total")
    append_rows(tmp_path / "results.tsv", columns, [[*row, "9", "9"] for row in ROWS])
    main(["settings", "--only-table", "--out", str(tmp_path / "results")])
    assert (tmp_path / "results.md").read_text(encoding="utf-8") == TABLE


def test_a_run_skips_what_the_file_holds(tmp_path, capsys):
    text, pairs, path = tmp_path / "text.txt", tmp_path / "pairs.txt", tmp_path / "results.tsv"
    text.write_text("the cat sat on the mat\nthe dog sat on the log\n" * 50)
    pairs.write_text("cat dog 9\nmat log 8\ncat on 1\nsat the 2\n")
    command = ["settings", "--out", str(tmp_path / "results"), "--corpus", f"small={text}", "--similarity", str(pairs)]
    command += ["--common", "epochs=1,dim=4", "--model", "cbow", "cbow:schedule=constant"]
    main(command)
    first = path.read_text()
    assert len(first.splitlines()) == 3
    assert len(capsys.readouterr().err.splitlines()) == 2
    main(command)
    assert path.read_text() == first
    assert capsys.readouterr().err == ""
    assert path.with_suffix(".md").read_text().count("`cbow") == 2


def test_models_of_words_classify_documents_and_start_from_vectors(tmp_path):
    words, results = ["sun", "moon", "star", "tea", "cup", "pot"], tmp_path / "results.tsv"
    lines = [f"d{i},{words[i % 3]} {words[i % 2]} {words[3 * (i % 2)]},{'ab'[i % 2]}" for i in range(40)]
    (documents := tmp_path / "documents.csv").write_text("id,text,label\n" + "\n".join(lines))
    em.Vectors(words[:4], np.eye(4, dtype=np.float32)).save(given := tmp_path / "given.txt")
    models = ["dim=4,freeze=true", "dim=6,init_mode=concatenate", "dim=3,init_mode=project", "dim=4"]
    run = f"settings --out {tmp_path}/results --corpus small={documents} --documents {documents},{documents}"
    models = [f"cbow:{model}" for model in models]
    main([*run.split(), "--init", str(given), "--common", "epochs=1", "--model", *models])
    rows = read_rows(results)
    assert [row["model"] for row in rows] == models
    assert {row["set"] for row in rows} == {"documents"}


def test_each_half_of_a_set_is_scored(tmp_path):
    words = ["sun", "moon", "star", "sky", "tea", "cup", "pot", "milk"]
    text, results = tmp_path / "text.txt", tmp_path / "r.tsv"
    text.write_text("\n".join(" ".join(words[i % 8 :] + words[: i % 8]) for i in range(60)))
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{a}\t{b}\t{i + j}\n" for i, a in enumerate(words) for j, b in enumerate(words[:i])))
    arguments = ["settings", "--out", str(tmp_path / "r"), "--corpus", f"small={text}", "--similarity", str(pairs)]
    main([*arguments, "--halves", "--common", "epochs=1,dim=4", "--model", "cbow:window=2"])
    rows = read_rows(results)
    assert [row["set"] for row in rows] == ["pairs-dev", "pairs-test"]
    assert sum(int(row["total"]) for row in rows) == 28
    assert results.with_suffix(".md").read_text().startswith("| model | small |\n")
