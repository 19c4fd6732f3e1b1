"""The measurement of tokenizers on small texts."""

import tokenizer_speed
from click.testing import CliRunner


def test_the_table_has_a_row_for_each_text(tmp_path):
    out, text = tmp_path / "speed.md", tmp_path / "text"
    text.write_text("Don't touch it\n" * 50)
    arguments = ["--size", "500", "--repeats", "1", "--text", f"Short={text}", "-o", str(out)]
    done = CliRunner().invoke(tokenizer_speed.main, arguments)
    assert done.exit_code == 0, done.output
    about, _, heads, _, *lines = out.read_text().splitlines()
    assert len(about.split("; ")) >= 4
    rows = [line.strip("| ").split(" | ") for line in lines]
    assert [row[0] for row in rows][:2] == ["Short", "English, repeated article"]
    assert {len(row) for row in rows} == {len(heads.split(" | "))}
    assert all(float(number) >= 0 for row in rows for number in row[1:])
    assert CliRunner().invoke(tokenizer_speed.main, arguments).exit_code == 1  # nothing is replaced unasked
