"""The measurement of text vectors on a small file."""

import text_vector_speed
from click.testing import CliRunner
from optional_libraries import needs

pytestmark = needs("tokenizers")


def test_a_small_file(tmp_path):
    """Without peers there is one row, whose vectors are equal to themselves."""
    text = "".join(
        f"The {number}th paragraph is about the number {number} and about other numbers.\n" for number in range(90)
    )
    (tmp_path / "t.txt").write_text(text)
    out = tmp_path / "speed.md"
    arguments = [str(tmp_path / "t.txt"), "--texts", "70", "--dim", "8", "--repeats", "1", "-o", str(out)]
    done = CliRunner().invoke(text_vector_speed.main, arguments)
    assert done.exit_code == 0, done.output
    rows = [line.split("\t") for line in done.output.splitlines()]
    assert rows[0] == list(text_vector_speed.HEADS)
    assert rows[1][0] == "embeddings"
    assert rows[1][-2:] == ["1.000000", "0.000%"]
    assert "70 paragraphs" in out.read_text()
    assert CliRunner().invoke(text_vector_speed.main, arguments).exit_code == 1  # nothing is replaced unasked
