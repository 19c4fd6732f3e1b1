"""The measurement of text vectors on a small file."""

from optional_libraries import needs
from studies.text_vector_speed import TextVectors
from study import main

pytestmark = needs("tokenizers")


def test_a_small_file(tmp_path):
    """Without peers there is one row, whose vectors are equal to themselves."""
    text = "".join(
        f"The {number}th paragraph is about the number {number} and about other numbers.\n" for number in range(90)
    )
    (tmp_path / "t.txt").write_text(text)
    arguments = ["--text", str(tmp_path / "t.txt"), "--texts", "70", "--dim", "8", "--rounds", "1"]
    main(["text-vectors", *arguments, "--out", str(tmp_path / "speed")])
    about, _, *lines = (tmp_path / "speed.md").read_text().splitlines()
    assert "70 paragraphs" in about
    heads, _, row = (line.strip("| ").split(" | ") for line in lines)
    assert heads == ["tool", *TextVectors.columns]
    assert row[0] == "embeddings"
    assert row[-2:] == ["1.000000", "0.000%"]
