"""The texts of the classifier study, its cells, and its table, worked by hand."""

from studies import classification_data
from studies.classifier_study import Classifiers
from studies.grid import append_rows
from study import main

ROWS = [
    ("train", "sst", "0", "embeddings", "10", "threads 1 seed 1", "CPU seconds", "2.04"),
    ("train", "sst", "0", "embeddings", "10", "threads 1 seed 1", "accuracy", "0.8"),
    ("train", "sst", "0", "embeddings", "10", "threads 1 seed 1", "macro-f1", "0.79"),
    ("train", "sst", "0", "embeddings", "10", "threads 1 seed 1", "accuracy of the majority", "0.5"),
    ("train", "sst", "0", "embeddings", "10", "threads 1 seed 1", "macro-f1 of the majority", "0.33"),
    ("train", "sst", "0", "embeddings", "10", "threads 1 seed 1", "texts", "200"),
    ("train", "sst", "0", "embeddings", "10", "threads 1 seed 2", "CPU seconds", "1.0"),
    ("train", "sst", "0", "embeddings", "10", "threads 1 seed 2", "accuracy", "0.7"),
    ("train", "sst", "0", "embeddings", "10", "threads 1 seed 2", "macro-f1", "0.71"),
    ("train", "sst", "0", "embeddings", "10", "threads 1 seed 2", "accuracy of the majority", "0.5"),
    ("train", "sst", "0", "embeddings", "10", "threads 1 seed 2", "macro-f1 of the majority", "0.33"),
    ("train", "sst", "0", "embeddings", "10", "threads 1 seed 2", "texts", "200"),
    ("quantize", "imdb", "0", "fastText", "10", "--cutoff 7", "bytes", "12441307"),
    ("quantize", "imdb", "0", "fastText", "10", "--cutoff 7", "accuracy", "0.61"),
]
TABLE = """| texts | classifier | dim | accuracy | macro-F1 | CPU seconds |
| --- | --- | ---: | ---: | ---: | ---: |
| sst | the most frequent label |  | 0.5000 | 0.3300 |  |
| sst | embeddings | 10 | 0.7500 ± 0.0306 | 0.7500 | 1.5 |

| texts | options | quantised by | bytes | accuracy |
| --- | --- | --- | ---: | ---: |
| imdb | `--qnorm --cutoff 7` | fastText | 12,441,307 | 0.6100 |
"""


def test_table(tmp_path):
    append_rows(tmp_path / "results.tsv", (*Classifiers.keys, *Classifiers.values), ROWS)
    main(["classifiers", "--only-table", "--out", str(tmp_path / "results")])
    assert (tmp_path / "results.md").read_text(encoding="utf-8").startswith(TABLE)


def test_a_part_of_the_cells():
    options = {"dim": [10], "dataset": ["sst"], "part": ["train", "autotune"], "trials": 3, "seed": [1]}
    cells = list(Classifiers("classifiers", options).cells())
    assert [cell[:3] for cell in cells] == [("train", "sst", 0)] * 4 + [("autotune", "imdb", 0)]
    assert len(set(cells)) == len(cells)


def test_lines_for_fasttext():
    assert classification_data.labelled("pos", "It's GOOD,<br />really…") == "__label__pos it ' s good , really …"
