"""The report: whole, alone, escaped against hostile words, the same twice, and looked up by a parser."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from embeddings.errors import OutputError
from embeddings.eval import Suite
from embeddings.eval.report import Judged, write_report
from embeddings.eval.report.interval_plot import Scale
from embeddings.eval.report.run_record import fingerprint
from embeddings.eval.report.word_map import choose, flat, neighbours, turned
from embeddings.support.cosine import unit
from embeddings.support.html import text, word
from embeddings.vectors.vectors import Vectors

HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a&b;<b>",
    "\u202eevil",
    "\x00nul",
    "x" * 500,
]
VOID = {"meta"}


class Page(HTMLParser):
    """Checks that elements are closed in order, and keeps what would reach outside or run."""

    def __init__(self, page):
        super().__init__()
        self.open, self.names, self.attributes, self.texts = [], [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, name, attributes):
        self.names.append(name)
        self.attributes += attributes
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A report of two files of vectors with hostile words, the suite and what was judged."""
    folder, rng = tmp_path_factory.mktemp("report"), np.random.default_rng(0)
    words = [*HOSTILE, *(f"word{i}" for i in range(60))]
    (folder / "pairs").write_text("".join(f"word{i}\tword{i + 1}\t{rng.uniform(0, 9)}\n" for i in range(40)))
    (folder / "q").write_text(
        ": s<i>\nword1 word2 word3 word4\nword2 word3 word4 word5\n: gram\nword1 word2 word3 word9\n"
    )
    (folder / "c").write_text("".join(f"word{i}\t{'even' if i % 2 == 0 else 'odd'}\n" for i in range(40)))
    suite = Suite.read(similarity=folder / "pairs", analogy=folder / "q", categories=folder / "c", facts=True)
    vectors = [Vectors(words, rng.standard_normal((66, 8))), Vectors(words[:-3], rng.standard_normal((63, 5)))]
    names = ["first", "<b>second</b>"]
    judged = [Judged(name, one, suite.judge(one, name)) for name, one in zip(names, vectors, strict=True)]
    shown = [*HOSTILE, "word1", "nobody"]
    write_report(folder / "r.html", suite, judged, words=shown, command="embeddings <x>")
    return folder, suite, judged


def page(made):
    return (made[0] / "r.html").read_text(encoding="utf-8")


def test_it_is_whole_and_needs_nothing_else(made):
    parsed = Page(page(made))
    assert set(parsed.names) >= {"svg", "table", "style", "details", "circle", "line"}
    assert not set(parsed.names) & {"link", "img", "iframe", "object", "embed", "base", "form"}
    assert parsed.names.count("script") == 1
    assert not [name for name, _ in parsed.attributes if name.startswith("on") or name in ("src", "srcset", "style")]
    assert all(value.startswith("#") for name, value in parsed.attributes if name == "href")
    assert "default-src 'none'" in page(made)
    assert "url(" not in page(made)
    assert "@import" not in page(made)


def test_hostile_words_are_texts(made):
    found = page(made)
    for one in ("<script>alert", "<img", "<b>", "<i>", "\u202e", "\x00"):
        assert one not in found.replace("\\u003c", "")
    assert "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in found
    assert "&lt;b&gt;second&lt;/b&gt;" in found
    assert "x" * 500 not in found.split('<script type="application/json"')[0].replace(f'title="{"x" * 500}"', "")


def test_the_same_values_for_programs(made):
    told = json.loads(re.search(r'<script type="application/json" id="results">(.*)</script>', page(made)).group(1))
    results = [outcome.result() for one in made[2] for outcome in one.outcomes]
    assert [(one["set"], one["value"]) for one in told["results"]] == [(one.set, one.value) for one in results]
    assert told["record"]["vectors"][1]["name"] == "<b>second</b>"
    assert told["record"]["command"] == "embeddings <x>"


def test_everything_has_its_place(made):
    vectors, judged = [one.vectors for one in made[2]], made[2]
    headings = re.findall(r"<h2[^>]*>(.*?)</h2>", page(made))
    assert headings == [
        "Vectors", "Similarity", "Accuracy", "Categories", "Clusters", "Paired tests", "Plain facts", "Neighbours",
        "Maps", "In detail", "To do it again",
    ]  # fmt: skip
    texts = " ".join(Page(page(made)).texts)
    for one in [outcome.result() for each in judged for outcome in each.outcomes]:
        assert one.value is None or one.set == "facts" or f"{one.value:.4f}" in texts
    for near, cosine in vectors[0].most_similar("word1", top=8):
        if near not in HOSTILE:
            assert re.search(rf"<bdi>{near}</bdi> <small>{cosine:.3f}</small>", page(made))
    assert "has no vector in any" in texts
    assert fingerprint(vectors[0].words, vectors[0].matrix) in texts
    assert "scikit-learn" in texts
    assert "bootstrap over pairs" in texts


def test_one_file_alone_and_nothing_to_draw(made, tmp_path):
    suite = made[1]
    for number, vectors in enumerate([Vectors(["word1"], np.ones((1, 2))), Vectors(["a", "b"], np.zeros((2, 1)))]):
        write_report(tmp_path / f"{number}", suite, [Judged("v", vectors, suite.judge(vectors, "v"))])
        found = (tmp_path / f"{number}").read_text()
        Page(found)
        assert "Paired tests" not in found
        assert "none: a correlation needs two pairs" in found
        assert "too few different vectors for a map" in found


def test_a_report_is_replaced_only_when_told(made, tmp_path):
    _, suite, judged = made
    (tmp_path / "r").write_text("precious")
    with pytest.raises(OutputError, match="exists"):
        write_report(tmp_path / "r", suite, judged)
    assert (tmp_path / "r").read_text() == "precious"
    write_report(tmp_path / "r", suite, judged, force=True)
    assert (tmp_path / "r").read_text().startswith("<!DOCTYPE html>")


def test_texts():
    assert text("<a & 'b'>\n\x07\ud800") == "&lt;a &amp; &#x27;b&#x27;&gt;\n\ufffd\ufffd"
    assert word("y" * 61) == f'<bdi title="{"y" * 61}">{"y" * 59}…</bdi>'


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0.12, 0.44], [0.1, 0.2, 0.3, 0.4, 0.5]),
        ([-1, 1], [-1, -0.5, 0, 0.5, 1]),
        ([None, 3], [3]),
        ([], [0, 0.2, 0.4, 0.6, 0.8, 1]),
        ([0.0, 0.0], [0]),
    ],
)
def test_scales_have_round_marks_and_hold_all(values, ticks):
    scale = Scale.of(values)
    assert scale.ticks()[: len(ticks)] == pytest.approx(ticks)
    assert 1 < len(scale.ticks()) <= 8
    for value in values:
        if value is not None:
            assert 1.99 <= float(scale.place(value).rstrip("%")) <= 98.01


def test_maps_keep_neighbours_and_lie_alike():
    rng = np.random.default_rng(3)
    groups = np.repeat(np.eye(3), 12, axis=0) + 0.05 * rng.standard_normal((36, 3))
    places = flat(unit(groups))
    assert np.array_equal(places, flat(unit(groups)))
    group = np.repeat(np.arange(3), 12)
    distances = np.linalg.norm(places[:, None] - places[None], axis=2) + np.eye(36) * 1e9
    assert (group[distances.argmin(axis=1)] == group).all()
    angle = np.array([[0, 1], [-1, 0]])
    assert turned(places @ angle, places) == pytest.approx(places, abs=1e-6)
    assert flat(np.ones((30, 4))) is None
    assert flat(unit(rng.standard_normal((5, 1)))) is None
    assert flat(unit(rng.standard_normal((5, 2)))).shape == (5, 2)


def test_words_that_are_shown_are_those_all_have():
    words = [chr(97 + place % 26) * 4 + "q" * place for place in range(450)]
    one, two = (Vectors(words[:count], np.ones((count, 2))) for count in (450, 150))
    assert len(choose([one])) == 3
    assert choose([one, two]) == [one.words[99]]
    assert choose([Vectors(["a", "b"], np.ones((2, 2)))]) == ["a", "b"]


def test_neighbours_of_a_word_that_is_composed():
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((12, 4))
    plain = Vectors([f"w{i}" for i in range(12)], rows)
    seen = rows[5:6].astype(np.float32)
    composing = Vectors(plain.words, rows, compose=lambda words: np.concatenate([seen * (w == "new") for w in words]))
    shown = neighbours([composing, plain], ["a", "b"], ["new"])
    assert "has no vector in any" not in shown
    assert re.search(r"<bdi>w5</bdi> <small>1\.000</small>", shown)
    assert "has no vector in any" in neighbours([composing], ["a"], ["unheard"])


def test_fingerprints_tell_apart():
    assert fingerprint(["ab", "c"]) != fingerprint(["a", "bc"])
    assert fingerprint(np.zeros(2)) != fingerprint(np.zeros((2, 1)))
    assert fingerprint(["a\ud800"]) == fingerprint(["a\ud800"])
