"""The examples of the guide, and tables that are replaced in a page."""

from processes import replace_part, with_part
from studies.page_tables import LANGUAGES, examples


def test_the_examples_are_current():
    page = LANGUAGES.read_text("utf-8")
    assert with_part(page, "examples", examples()) == page
    assert page.count("| `") >= 30


def test_a_table_is_replaced(tmp_path):
    (tmp_path / "page.md").write_text("a\n<!-- one -->\nold\n<!-- end of one -->\nb\n")
    replace_part(tmp_path / "page.md", "one", "new\n")
    assert (tmp_path / "page.md").read_text() == "a\n<!-- one -->\nnew\n<!-- end of one -->\nb\n"
