"""The table of a study of replicas, worked by hand, and a run that skips what is done."""

import pytest
from studies import replica_study
from studies.grid import append_rows, read_rows
from study import main

COLUMNS = (*replica_study.Replicas.keys, *replica_study.Replicas.values)
CELLS = [
    (("text", "cbow", "3", "0", "0", "", "0.05", "1"), "40.0", "10", "0"),
    (("text", "cbow", "3", "0", "0", "", "0.05", "2"), "42.0", "10", "0"),
    (("text", "cbow", "3", "0", "0", "", "0.1", "1"), "39.0", "10", "0"),
    (("text", "cbow", "3", "8", "200000", "adasum", "0.05", "1"), "40.18", "10", "1"),
    (("text", "skipgram", "3", "8", "50000", "mean", "0.05", "1"), "20.0", "8", "2"),
]
TABLE = """| corpus | model | epochs | replicas | merge every | rule | rate | seeds | score | loss | merging |
| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |
| text | `cbow` | 3 |  |  |  | 0.05 | 2 | 41.0 |  |  |
| text | `cbow` | 3 |  |  |  | 0.1 | 1 | 39.0 |  |  |
| text | `cbow` | 3 | 8 | 200,000 | `adasum` | 0.05 | 1 | 40.2 | 2.0% | 10% |
| text | `skipgram` | 3 | 8 | 50,000 | `mean` | 0.05 | 1 | 20.0 |  | 25% |
"""


def test_the_loss_is_that_from_the_best_rate_of_one_thread(tmp_path):
    measures = (replica_study.SCORE, replica_study.SECONDS, replica_study.MERGE_SECONDS)
    rows = [[*key, name, value] for key, *values in CELLS for name, value in zip(measures, values, strict=True)]
    append_rows(tmp_path / "results.tsv", COLUMNS, rows)
    main(["replicas", "--only-table", "--out", str(tmp_path / "results")])
    assert (tmp_path / "results.md").read_text(encoding="utf-8").startswith(TABLE)


@pytest.mark.slow
def test_a_run_skips_cells_that_are_done(tmp_path, capsys):
    text, pairs, folder = tmp_path / "text.txt", tmp_path / "pairs.txt", tmp_path / "results"
    text.write_text("the cat sat on the mat the dog sat on the log " * 50)
    pairs.write_text("cat dog 9\nmat log 8\ncat on 1\nsat the 2\n")
    command = ["replicas", "--out", str(folder / "results"), "--corpus", str(text), "--epochs", "1"]
    command += ["--similarity", str(pairs)]
    command += ["--replicas", "0", "2", "--merge-every", "100"]
    main(command)
    assert len(capsys.readouterr().err.splitlines()) == 2
    rows = read_rows(folder / "results.tsv")
    assert {(row["replicas"], row["measure"]) for row in rows} >= {("0", "score"), ("2", "score"), ("2", "pairs")}
    assert (folder / "results.png").stat().st_size > 1000
    main(command)
    assert read_rows(folder / "results.tsv") == rows


def test_another_measure_is_drawn():
    cell = ["text", "skipgram", "3", "2"]
    rows = [
        dict(zip(COLUMNS, [*cell, every, "mean", "0.05", "1", measure, value], strict=True))
        for every, values in (("100", ("40", "3")), ("200", ("50", "2")))
        for measure, value in zip((replica_study.SCORE, "questions-words"), values, strict=True)
    ]
    figure = replica_study.Replicas("replicas", {"drawn": "questions-words"}).figure(rows)
    (axes,) = figure.axes
    (line,) = axes.lines
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([100, 200], [3.0, 2.0])
    assert axes.get_ylabel() == "Google analogies, accuracy in percent"
