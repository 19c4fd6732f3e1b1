"""The table of a study, worked by hand, and a run that lists refused cells and skips what is done."""

import pytest
from studies.grid import append_rows, read_rows
from studies.objective_study import Objectives
from study import main

ROWS = [
    ("cbow", "nce", "embeddings", "1", "900", "3", "CPU seconds", "2.54"),
    ("cbow", "nce", "embeddings", "1", "900", "3", "pairs", "20.0"),
    ("cbow", "nce", "embeddings", "1", "900", "3", "perplexity", "70.4"),
    ("cbow", "nce", "embeddings", "2", "900", "3", "CPU seconds", "2.14"),
    ("cbow", "nce", "embeddings", "2", "900", "3", "pairs", "21.0"),
    ("cbow", "nce", "embeddings", "2", "900", "3", "perplexity", "71.4"),
    ("skipgram", "negative-sampling", "gensim", "1", "1900", "3", "CPU seconds", "1.0"),
    ("paragraph-dm", "nce", "embeddings", "1", "900", "3", "refused", "because"),
    ("paragraph-dm", "nce", "embeddings", "2", "900", "3", "refused", "because"),
]
TABLE = """| model | objective | tool | words | epochs | CPU seconds | pairs | perplexity |
| --- | --- | --- | --- | --- | ---: | ---: | ---: |
| skipgram | negative-sampling | gensim | 1,900 | 3 | 1.0 |  |  |
| cbow | nce | embeddings | 900 | 3 | 2.1 | 20.5 ± 0.5 | 71 |

Refused combinations:

- paragraph-dm with nce: because
"""


def test_table_has_the_means_over_seeds_and_the_fastest(tmp_path):
    append_rows(tmp_path / "results.tsv", (*Objectives.keys, *Objectives.values), ROWS)
    main(["objectives", "--only-table", "--out", str(tmp_path / "results")])
    assert (tmp_path / "results.md").read_text(encoding="utf-8").startswith(TABLE)


@pytest.mark.slow
def test_a_run_lists_refused_cells_and_skips_what_the_file_holds(tmp_path, capsys):
    text, pairs, path = tmp_path / "text.txt", tmp_path / "pairs.txt", tmp_path / "results.tsv"
    text.write_text("the cat sat on the mat the dog sat on the log " * 50)
    pairs.write_text("cat dog 9\nmat log 8\ncat on 1\nsat the 2\n")
    command = ["objectives", "--out", str(tmp_path / "results"), "--corpus", str(text)]
    command += ["--words", "550", "--heldout-words", "50", "--epochs", "1"]
    command += ["--similarity", str(pairs), "--objective", "hierarchical-softmax"]
    command += ["--model", "skipgram", "paragraph-dbow"]
    main(command)
    assert len(capsys.readouterr().err.splitlines()) == 2
    rows = [tuple(row[name] for name in ("model", "measure")) for row in read_rows(path)]
    measures = ["CPU seconds", "pairs", "perplexity"]
    assert sorted(rows) == [("paragraph-dbow", "refused"), *(("skipgram", name) for name in measures)]
    assert "Refused combinations:\n\n- paragraph-dbow" in path.with_suffix(".md").read_text(encoding="utf-8")
    first = path.read_text()
    main(command)
    assert path.read_text() == first
    with pytest.raises(SystemExit):
        main([*command, "--words", "9999"])
    assert "has no words after the first 9999" in capsys.readouterr().err
