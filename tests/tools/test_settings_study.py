"""The table of a study, worked by hand, and a run that skips what is done."""

from pathlib import Path

import numpy as np
import settings_study
from study_rows import append_rows, read_rows

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
    path = tmp_path / "results.tsv"
    append_rows(path, settings_study.COLUMNS, [[*row, "9", "9"] for row in ROWS])
    assert settings_study.table(path) == TABLE


def test_a_run_skips_what_the_file_holds(tmp_path, capsys):
    text, pairs, path = tmp_path / "text.txt", tmp_path / "pairs.txt", tmp_path / "results.tsv"
    text.write_text("the cat sat on the mat\nthe dog sat on the log\n" * 50)
    pairs.write_text("cat dog 9\nmat log 8\ncat on 1\nsat the 2\n")
    command = ["run", str(path), "--corpus", f"small={text}", "--similarity", str(pairs), "--seed", "1"]
    command += ["--common", "epochs=1,dim=4", "cbow", "cbow:schedule=constant"]
    settings_study.main(command)
    first = path.read_text()
    assert len(first.splitlines()) == 3
    settings_study.main(command)
    assert path.read_text() == first
    settings_study.main(["table", str(path)])
    assert capsys.readouterr().out.count("`cbow") == 2


def test_models_of_words_classify_documents_and_start_from_vectors(tmp_path):
    words, results = ["sun", "moon", "star", "tea", "cup", "pot"], tmp_path / "results.tsv"
    lines = [f"d{i},{words[i % 3]} {words[i % 2]} {words[3 * (i % 2)]},{'ab'[i % 2]}" for i in range(40)]
    (documents := tmp_path / "documents.csv").write_text("id,text,label\n" + "\n".join(lines))
    em.Vectors(words[:4], np.eye(4, dtype=np.float32)).save(given := tmp_path / "given.txt")
    models = ["dim=4,freeze=true", "dim=6,init_mode=concatenate", "dim=3,init_mode=project", "dim=4"]
    run = f"run {results} --corpus small={documents} --documents {documents},{documents} --seed 1 --init {given}"
    settings_study.main([*run.split(), "--common", "epochs=1", *(f"cbow:{model}" for model in models)])
    rows = read_rows(results)
    assert [row["model"] for row in rows] == [f"cbow:{model}" for model in models]
    assert {row["set"] for row in rows} == {"documents"}


def test_tables_of_the_documentation_are_those_of_the_runs():
    folder = Path(__file__).parents[2] / "eval" / "results" / "settings"
    studies = sorted(folder.glob("*.tsv"))
    assert len(studies) == 6
    for path in studies:
        make = settings_study.halves if path.stem in ("defaults", "choices") else settings_study.table
        assert path.with_suffix(".md").read_text(encoding="utf-8") == make(path)


def test_each_half_of_a_set_is_scored(tmp_path):
    words = ["sun", "moon", "star", "sky", "tea", "cup", "pot", "milk"]
    text, results = tmp_path / "text.txt", tmp_path / "r.tsv"
    text.write_text("\n".join(" ".join(words[i % 8 :] + words[: i % 8]) for i in range(60)))
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{a}\t{b}\t{i + j}\n" for i, a in enumerate(words) for j, b in enumerate(words[:i])))
    arguments = [
        "run",
        str(results),
        "--corpus",
        f"small={text}",
        "--similarity",
        str(pairs),
        "--seed",
        "1",
        "--halves",
    ]
    settings_study.main([*arguments, "--common", "epochs=1,dim=4", "cbow:window=2"])
    rows = read_rows(results)
    assert [row["set"] for row in rows] == ["pairs-dev", "pairs-test"]
    assert sum(int(row["total"]) for row in rows) == 28
    assert settings_study.halves(results).startswith("| model | small |\n")
