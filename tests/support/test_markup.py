"""HTML and Markdown: everything from outside is escaped."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from embeddings.support import markup


class Collector(HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


@given(st.text(st.characters(exclude_categories=["C"])))
def test_text_and_attributes_are_shown_as_they_are(text):
    page = Collector(markup.tag("p", text, markup.tag("b", text), title=text, class_=None))
    assert (page.tags, page.text, page.attributes) == (["p", "b"], 2 * text, [("title", text)])


def test_unprintable_characters_are_replaced():
    assert markup.text("a\x1b[2J\ud800\nb\u202ec") == "a\ufffd[2J\ufffd\nb\ufffdc"


def test_long_words_are_cut_and_isolated():
    page = Collector(markup.word("x" * 1000))
    assert page.tags == ["bdi"]
    assert page.text == "x" * (markup.MAX_WORD - 1) + "…"
    assert page.attributes == [("title", "x" * 10 * markup.MAX_WORD)]


def test_tables():
    page = Collector(markup.table(["word", "score"], [["<b>", markup.number(0.5)], ["c", markup.number(None)]]))
    assert page.tags == ["div", "table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td", "tr", "td", "td"]
    assert page.text == f"wordscore<b>0.5c{markup.NONE}"
    assert markup.table_lines(["a", "b"], [["x|y", "one\n two"]]) == [
        "| a | b |",
        "| --- | --- |",
        r"| x\|y | one two |",
    ]
