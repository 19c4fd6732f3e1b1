"""The examples of the guide, and tables that are replaced in a page."""

from studies.page_tables import LANGUAGES, examples, with_table


def test_the_examples_are_current():
    page = LANGUAGES.read_text("utf-8")
    assert with_table(LANGUAGES, "examples", examples()) == page
    assert page.count("| `") >= 30


def test_a_table_is_replaced(tmp_path):
    (tmp_path / "page.md").write_text("a\n<!-- one -->\nold\n<!-- end of one -->\nb\n")
    page = with_table(tmp_path / "page.md", "one", "new\n")
    assert page == "a\n<!-- one -->\nnew\n<!-- end of one -->\nb\n"
