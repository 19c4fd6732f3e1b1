"""Tables in Markdown."""

from embeddings.support.markdown_table import format_number, markdown_table


def test_cells_cannot_break_the_table():
    assert markdown_table(["a", "b"], [["x|y", "one\n two"]]) == [
        "| a | b |",
        "| --- | --- |",
        r"| x\|y | one two |",
    ]


def test_numbers():
    assert [format_number(value, ",.0f", digits=3) for value in (12345.6, None, "n/a")] == ["12,300", "-", "n/a"]
