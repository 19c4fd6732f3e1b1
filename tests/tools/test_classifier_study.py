"""The texts of the classifier study, its cells, and its table, worked by hand."""

from itertools import product

import pyarrow
import pytest
from studies.classifier_study import Classifiers, labelled
from studies.grid import append_rows, read_rows
from study import main

ROWS = [
    ("train", "sst", "0", "embeddings", "10", "threads 1 seed 1", "CPU seconds", "2.04"),
    ("train", "sst", "0", "embeddings", "10", "threads 1 seed 1", "accuracy", "0.8"),
    ("train", "sst", "0", "embeddings", "10", "threads 1 seed 2", "CPU seconds", "1.0"),
    ("train", "sst", "0", "embeddings", "10", "threads 1 seed 2", "accuracy", "0.7"),
    ("quantize", "sst", "0", "fastText", "10", "--cutoff 7", "bytes", "12441307"),
    ("train", "imdb", "0", "TF-IDF + logistic regression", "0", "", "macro-f1", "0.79"),
]
TABLE = """| dataset | tool | dim | options | accuracy | macro-f1 | CPU seconds |
| --- | --- | --- | --- | ---: | ---: | ---: |
| imdb | TF-IDF + logistic regression | 0 |  |  | 0.7900 |  |
| sst | embeddings | 10 | threads 1 | 0.7500 |  | 1.5 |

| dataset | tool | dim | options | bytes | accuracy |
| --- | --- | --- | --- | ---: | ---: |
| sst | fastText | 10 | --cutoff 7 | 12,441,307 |  |
"""


def test_table(tmp_path):
    append_rows(tmp_path / "results.tsv", (*Classifiers.keys, *Classifiers.values), ROWS)
    main(["classifiers", "--only-table", "--out", str(tmp_path / "results")])
    assert (tmp_path / "results.md").read_text(encoding="utf-8").startswith(TABLE)


def test_a_part_of_the_cells():
    options = {"dim": [10], "dataset": ["sst"], "part": ["train", "autotune"], "trials": 3, "seed": [1]}
    cells = list(Classifiers("classifiers", options).cells())
    assert [cell[:3] for cell in cells] == [("train", "sst", 0)] * 5 + [("autotune", "imdb", 0)]
    assert len(set(cells)) == len(cells)


def test_lines_for_fasttext():
    assert labelled("pos", "It's GOOD,<br />really…") == "__label__pos it ' s good , really …"


@pytest.mark.slow
def test_our_classifier_and_that_of_scikit_learn_are_measured(tmp_path, capsys):
    """A program that fails, in place of fastText, leaves its cells out."""
    data = tmp_path / "data"
    data.mkdir()
    lines = {"neg": "1\t2\ta bad dull film\n", "pos": "1\t9\ta good fine film\n"}
    for side, (name, line) in product(("train", "test"), lines.items()):
        with pyarrow.output_stream(data / f"imdb-{side}_{name}.tsv.zst", compression="zstd") as file:
            file.write((line * 2000).encode())
    (data / "ag-news-7600.csv").write_text("label,title,description\n" + "a,good film,fine\nb,bad film,dull\n" * 50)
    for side in ("train", "test"):
        (data / f"sst-binary-{side}.txt").write_text("1 a good fine film\n0 a bad dull film\n" * 50)
    arguments = ["classifiers", "--data", str(data), "--work", str(tmp_path / "work"), "--fasttext", "false"]
    arguments += ["--part", "train", "--dataset", "imdb", "--dim", "4", "--seed", "1"]
    main([*arguments, "--out", str(tmp_path / "results")])
    assert capsys.readouterr().err.count("false: exit code 1") == 2
    rows = {row["tool"]: row["value"] for row in read_rows(tmp_path / "results.tsv") if row["measure"] == "accuracy"}
    assert {tool: float(value) for tool, value in rows.items()} == {
        "embeddings": 1,
        "TF-IDF + logistic regression": 1,
        "the most frequent label": 0.5,
    }
