"""The measurement of tokenizers on small texts."""

from study import main


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
