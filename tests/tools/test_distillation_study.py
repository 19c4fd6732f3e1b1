"""The study of distillation: its table, and a run on a small text."""

from itertools import pairwise

import numpy as np
import pyarrow.parquet as pq
from studies import distillation_study
from studies.grid import append_rows
from study import main

import embeddings as em

ROWS = [
    ("wiki", "words.parquet", 0, 256, 1, 256, "CPU seconds", 9.4),
    ("wiki", "words.parquet", 0, 256, 1, 256, "texts", 49500),
    ("wiki", "words.parquet", 0, 256, 1, 256, "sts", 75.0),
    ("wiki", "words.parquet", 0, 256, 2, 256, "sts", 76.0),
    ("wiki", "words.parquet", 0, 256, 1, 128, "sts", 74.0),
    ("wiki", "words.parquet", 500, 256, 1, 256, "texts", 495),
    ("wiki", "words.parquet", 500, 256, 1, 256, "sts", 60.0),
    ("wiki", "none", 0, 128, 1, 128, "sts", 60.0),
    ("wordllama", "none", 0, 0, 0, 0, "sts", 75.9),
]
TABLE = """| texts | word vectors | number | dim | CPU seconds | sts |
| --- | --- | --- | --- | --- | --- |
| wiki | yes | 49,500 | 256 | 9.4 | 75.5 ± 0.5 |
| wiki | yes |  | 128 of 256 |  | 74.0 |
| wiki | no |  | 128 |  | 60.0 |
| wordllama |  |  |  |  | 75.9 |
"""


def test_the_table_has_means_over_seeds(tmp_path):
    columns = (*distillation_study.Distillation.keys, *distillation_study.Distillation.values)
    append_rows(tmp_path / "results.tsv", columns, ROWS)
    main(["distillation", "--only-table", "--out", str(tmp_path / "results")])
    assert (tmp_path / "results.md").read_text(encoding="utf-8").startswith(TABLE)


def test_a_run_on_a_small_text(tmp_path):
    rng = np.random.default_rng(1)
    words = rng.normal(size=(20, 8))
    ids = [rng.integers(0, 20, 4) for _ in range(100)]
    texts = [" ".join(f"w{number}" for number in text) for text in ids]
    pq.write_table(
        em.corpora.text_vectors(texts, np.array([words[text].sum(0) for text in ids])), tmp_path / "a.parquet"
    )
    em.Vectors([f"w{number}" for number in range(20)], rng.normal(size=(20, 3)).astype(np.float32)).save(
        tmp_path / "v.txt"
    )
    (tmp_path / "pairs.csv").write_text("".join(f"{a},{b},{n % 5}\n" for n, (a, b) in enumerate(pairwise(texts))))
    options = [
        "--texts",
        f"a={tmp_path}/a.parquet",
        "--models",
        f"v={tmp_path}/v.txt",
        "--pairs",
        f"{tmp_path}/pairs.csv",
    ]
    sizes = ["--count", "0", "60", "--dim", "4", "--truncate", "2", "--out", str(tmp_path / "results")]
    main(["distillation", *options, *sizes])
    lines = (tmp_path / "results.md").read_text(encoding="utf-8").splitlines()
    assert [line.split(" | ")[:4] for line in lines[2:5]] == [
        ["| a", "no", "99", "4"], ["| a", "no", "", "2 of 4"], ["| v", "", "", ""]
    ]  # fmt: skip
    assert (tmp_path / "results.png").exists()
