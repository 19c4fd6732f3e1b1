"""The measurement of reading and of tokenizers on small texts."""

from studies import grid, reading_speed
from study import main


def test_the_table_has_a_row_for_each_format(tmp_path, monkeypatch, capsys):
    text = tmp_path / "text"
    text.write_text('Some "words", and more\n\n' * 50)
    monkeypatch.setattr(grid, "find_spec", lambda name: None if name in ("gensim", "mwparserfromhell") else name)
    formats = reading_speed.FORMATS
    monkeypatch.setitem(formats, "WET (gzip)", formats["plain text"])
    main(["reading", "--text", str(text), "--rounds", "1", "--threads", "1", "2", "--out", str(tmp_path / "speed")])
    about, _, heads, _, *lines = (tmp_path / "speed.md").read_text().splitlines()
    assert about.endswith("0 MB of text; medians of 1.")
    *rows, (python, speed, *empty) = [line.strip("| ").split(" | ") for line in lines]
    assert [row[0] for row in rows] == [name for name in formats if name != "MediaWiki dump"]
    assert "MediaWiki dump is left out: mwparserfromhell is not installed" in capsys.readouterr().err
    assert python.startswith("Python")
    assert float(speed) >= 0
    assert empty == []
    assert {len(row) for row in rows} == {len(heads.split(" | "))} == {3}
    assert all(float(number) >= 0 for row in rows for number in row[1:])


def test_every_table_has_all_lines(tmp_path):
    """The formats that need no other library hold the lines of the text that are not empty."""
    import embeddings as em

    text = tmp_path / "text"
    text.write_text('Some "words", and, more\n\nother words\n' * 50)
    for name, file in reading_speed.FORMATS.items():
        if file not in reading_speed.LIBRARIES:
            reading_speed.write(text, tmp_path / file)
            with em.Corpus(tmp_path / file).encode() as encoded:
                assert len(encoded.ids) == 50 * 6, name


def test_the_table_has_a_row_for_each_text(tmp_path):
    (tmp_path / "text").write_text("Don't touch it\n" * 50)
    arguments = ["tokenizer-speed", "--size", "500", "--rounds", "1", "--text", f"Short={tmp_path / 'text'}"]
    main([*arguments, "--out", str(tmp_path / "speed")])
    about, _, heads, _, *lines = (tmp_path / "speed.md").read_text().splitlines()
    assert len(about.split("; ")) >= 3
    rows = [line.strip("| ").split(" | ") for line in lines]
    assert [row[0] for row in rows][:2] == ["Short", "English, repeated article"]
    assert {len(row) for row in rows} == {len(heads.split(" | "))}
    assert all(float(number) >= 0 for row in rows for number in row[1:])
