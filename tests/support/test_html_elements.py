"""HTML: everything from outside is escaped."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from embeddings.support import html_elements


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


@given(st.text(st.characters(exclude_categories=["C", "Zl", "Zp"])))
def test_text_and_attributes_are_shown_as_they_are(text):
    page = Collector(html_elements.tag("p", text, html_elements.tag("b", text), title=text, class_=None))
    assert (page.tags, page.text, page.attributes) == (["p", "b"], 2 * text, [("title", text)])


def test_unprintable_characters_are_replaced():
    assert html_elements.text("a\x1b[2J\ud800\nb\u202ec") == "a\ufffd[2J\ufffd\nb\ufffdc"
    assert html_elements.text("a\u2028b") == "a\ufffdb"


def test_joiners_of_a_word_and_tabs_stay():
    for text in ("\u0645\u06cc\u200c\u062e", "\U0001f469\u200d\U0001f467", "a\tb"):
        assert html_elements.text(text) == text


def test_long_words_are_cut_and_isolated():
    page = Collector(html_elements.word("x" * 1000))
    assert page.tags == ["bdi"]
    assert page.text == "x" * (html_elements.MAX_WORD - 1) + "…"
    assert page.attributes == [("title", "x" * 10 * html_elements.MAX_WORD)]
