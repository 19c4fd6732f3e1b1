"""Tables of results: as text, HTML, Markdown and data frames, and still lists of their rows."""

import copy
import json
import pickle
from dataclasses import asdict, dataclass
from html.parser import HTMLParser

import numpy as np

from embeddings.support.result_table import ResultTable, TabularResult, format_number, markdown_table


@dataclass(frozen=True)
class Score:
    """A score.

    Arguments:
        name: of the set.
        value: higher is better.
    """

    name: str
    value: float | None
    items: tuple[int, ...] = ()


class Scores(ResultTable[Score]):
    columns = {"value": "Higher is better."}  # noqa: RUF012

    def shown(self, row):
        return {"name": row.name, "value": row.value}

    def visible(self):
        return [one for one in self if one.name != "detail"]


class Cells(HTMLParser):
    """The tags, titles, styles and texts of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.titles, self.styles, self.texts = [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        attributes = dict(attrs)
        self.titles += filter(None, [attributes.get("title")])
        self.styles += filter(None, [attributes.get("style")])

    def handle_data(self, data):
        self.texts.append(data)


def test_text_is_aligned():
    table = ResultTable(
        [{"word": "the", "count": 5}, {"word": "日本", "count": None}, {"word": "queen", "count": 1234}]
    )
    assert repr(table).splitlines() == ["word   count", "the        5", "日本       -", "queen   1234"]
    assert str(table) == repr(table)


def test_a_column_of_text_can_be_aligned_to_the_right():
    class Lines(ResultTable):
        right = ("left",)

    assert repr(Lines([{"left": "a", "keyword": "x"}, {"left": "bcd", "keyword": "x"}])).splitlines() == [
        "left  keyword",
        "   a  x",
        " bcd  x",
    ]


def test_html_is_escaped_and_explained():
    table = Scores([Score("<b>", 0.5), Score("a\x1b[2J", None)], notes=["one & two"])
    page = Cells(table._repr_html_())
    assert set(page.tags) == {"div", "table", "thead", "tbody", "tr", "th", "td", "bdi", "p"}
    assert page.texts == ["name", "value", "<b>", "0.5000", "a\ufffd[2J", "-", "one & two"]
    assert page.titles == ["Higher is better."]
    assert [style for style in page.styles if "right" in style] == ["text-align:right"] * 3
    assert not any("color" in style or "background" in style for style in page.styles)  # of the page, light or dark


def test_hidden_rows_are_announced_and_kept():
    table = Scores([Score("whole", 0.5), Score("detail", 0.25)])
    assert len(table) == 2
    assert "detail" not in repr(table)
    assert "1 more row:" in repr(table)
    assert "1 more row:" in table._repr_html_()
    assert list(table.to_pandas().name) == table.to_arrow()["name"].to_pylist() == ["whole", "detail"]
    assert len(repr(ResultTable([{"a": 1}] * 100)).splitlines()) == 62


def test_data_frames_have_all_fields():
    table = Scores([Score("a", np.nan, (1, 2))])
    assert list(table.to_pandas().columns) == table.to_arrow().column_names == ["name", "value", "items"]
    assert table.to_arrow().to_pylist() == [{"name": "a", "value": None, "items": [1, 2]}]
    for empty in (Scores(), Scores().to_pandas(), Scores().to_arrow()):
        assert len(empty) == 0
    assert list(Scores().to_pandas().columns) == Scores().to_arrow().column_names == ["value"]
    assert repr(Scores()) == "no rows"
    Cells(Scores()._repr_html_())


def test_a_table_is_a_list():
    table = ResultTable([("a", 0.5), ("b", 0.25)], columns={"word": "", "cosine": ""}, notes=["n"])
    assert table == [("a", 0.5), ("b", 0.25)]
    assert json.dumps(table) == '[["a", 0.5], ["b", 0.25]]'
    assert [word for word, _ in table] == ["a", "b"]
    assert repr(table[:1]).splitlines() == ["word  cosine", "a     0.5000"]
    for other in (pickle.loads(pickle.dumps(table)), copy.deepcopy(table)):
        assert repr(other) == repr(table)


def test_a_result_of_several_tables():
    @dataclass(repr=False)
    class Outcome(TabularResult):
        scores: list[Score]

        @property
        def tables(self):
            return [Scores(self.scores), ResultTable(), ResultTable([{"n": 1}])]

    outcome = Outcome(Scores([Score("a", 0.5)]))
    assert repr(outcome).splitlines() == ["name   value", "a     0.5000", "", "n", "1"]
    assert Cells(outcome._repr_html_()).tags.count("table") == 2
    assert outcome.to_pandas().shape == (1, 3)
    assert outcome.to_arrow().num_rows == 1
    assert asdict(outcome)["scores"][0]["name"] == "a"


def test_cells_cannot_break_the_table():
    assert markdown_table(["a", "b"], [["x|y", "one\n two"]]) == [
        "| a | b |",
        "| --- | --- |",
        r"| x\|y | one two |",
    ]


def test_numbers():
    assert [format_number(value, ",.0f", digits=3) for value in (12345.6, None, "n/a")] == ["12,300", "-", "n/a"]
