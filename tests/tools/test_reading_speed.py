"""The measurement of reading on a small text."""

import reading_speed
from click.testing import CliRunner


def test_the_table_has_a_row_for_each_format(tmp_path):
    out, text = tmp_path / "speed.md", tmp_path / "text"
    text.write_text('Some "words", and more\n\n' * 50)
    arguments = [str(text), "--repeats", "1", "--threads", "1", "--threads", "2", "-o", str(out)]
    done = CliRunner().invoke(reading_speed.main, arguments)
    assert done.exit_code == 0, done.output
    about, _, heads, _, *lines = out.read_text().splitlines()
    assert len(about.split("; ")) >= 4
    rows = [line.strip("| ").split(" | ") for line in lines]
    assert [row[0] for row in rows] == [*reading_speed.FORMATS]
    assert {len(row) for row in rows} == {len(heads.split(" | "))} == {5}
    assert all(float(number) >= 0 for row in rows for number in row[1:])
    assert CliRunner().invoke(reading_speed.main, arguments).exit_code == 1  # nothing is replaced unasked
