"""The measurement of what checking a cached corpus costs, on a small text."""

import measure_corpus_check
from click.testing import CliRunner


def test_the_table_has_a_row_for_each_part(tmp_path, own_cache):
    (tmp_path / "t.txt").write_text("the king and the queen\n" * 200)
    done = CliRunner().invoke(measure_corpus_check.main, [str(tmp_path / "t.txt"), "--repeats", "2"])
    assert done.exit_code == 0, done.output
    head, *rows = (line.split("\t") for line in done.output.splitlines())
    assert [row[0] for row in rows] == ["encoding", "loading the vocabulary", "checking the rest"]
    assert all(len(row) == len(head) and float(row[2]) <= float(row[1]) <= float(row[3]) for row in rows)
