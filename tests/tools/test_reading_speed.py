"""The measurement of reading on a small text."""

import reading_speed
from click.testing import CliRunner


def test_the_table_has_a_row_for_each_format(tmp_path, monkeypatch):
    out, text = tmp_path / "speed.md", tmp_path / "text"
    text.write_text('Some "words", and more\n\n' * 50)
    monkeypatch.setattr(
        reading_speed, "find_spec", lambda name: None if name in ("gensim", "mwparserfromhell") else name
    )
    monkeypatch.setitem(reading_speed.FORMATS, "WET (gzip)", reading_speed.Format("text", reading_speed.copy_text))
    arguments = [str(text), "--repeats", "1", "--threads", "1", "--threads", "2", "-o", str(out)]
    done = CliRunner().invoke(reading_speed.main, arguments)
    assert done.exit_code == 0, done.output
    about, _, heads, _, *lines = out.read_text().splitlines()
    assert len(about.split("; ")) >= 4
    rows = [line.strip("| ").split(" | ") for line in lines]
    *formats, (python, speed, *empty) = rows
    assert [row[0] for row in formats] == [name for name in reading_speed.FORMATS if name != "MediaWiki dump"]
    assert "MediaWiki dump is left out: mwparserfromhell is not installed" in done.output
    assert python.startswith("Python")
    assert float(speed) >= 0
    assert empty == ["-"] * 3
    assert {len(row) for row in rows} == {len(heads.split(" | "))} == {5}
    assert all(float(number) >= 0 for row in formats for number in row[1:])
    assert CliRunner().invoke(reading_speed.main, arguments).exit_code == 1  # nothing is replaced unasked
