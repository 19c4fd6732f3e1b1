"""The measurement of loading times on small files."""

import loading_times
import pytest
from click.testing import CliRunner
from optional_libraries import import_gensim


@pytest.fixture(scope="module")
def rows():
    """What was measured on 50 vectors of 4 components."""
    import_gensim()
    return list(loading_times.measure(50, 4, 1))


def test_every_reader_reads_a_small_file(rows):
    assert [row[:2] for row in rows] == list(loading_times.READERS)
    assert all(float(value) >= 0 for row in rows for value in row[2:])
    assert {row[-1] for row in rows if row[1] == "embeddings"} == {"1.0"}


def test_the_table_is_written(tmp_path, rows, monkeypatch):
    monkeypatch.setattr(loading_times, "measure", lambda words, dim, repeats: {(50, 4, 1): rows}[words, dim, repeats])
    out = tmp_path / "loading.md"
    arguments = ["--words", "50", "--dim", "4", "--repeats", "1", "-o", str(out)]
    done = CliRunner().invoke(loading_times.main, arguments)
    assert done.exit_code == 0, done.output
    printed = [line.split("\t") for line in done.output.splitlines()]
    about, _, heads, _, *lines = out.read_text().splitlines()
    assert "50 vectors of 4 components" in about
    assert len(heads.split(" | ")) == len(printed[0])
    assert [line.strip("| ").split(" | ") for line in lines] == printed[1:]
    assert CliRunner().invoke(loading_times.main, arguments).exit_code == 1  # nothing is replaced unasked
