"""Elements, attributes and texts of a page."""

from html.parser import HTMLParser

VOID = {"meta"}


class Page(HTMLParser):
    """Checks that elements are closed in order, and keeps names, attributes and texts."""

    def __init__(self, page):
        super().__init__()
        self.open, self.names, self.attributes, self.texts = [], [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, name, attributes):
        assert name not in {"img", "br"}
        self.names.append(name)
        self.attributes += attributes
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        self.texts.append(data)
