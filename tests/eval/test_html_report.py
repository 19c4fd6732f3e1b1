"""The report: complete, self-contained, escaped against hostile words; a scale holds all values of a measure."""

import json
import re

import numpy as np
import pytest
from html_elements import Page

from embeddings.errors import OutputError
from embeddings.eval import Suite
from embeddings.eval.report import write_report
from embeddings.eval.test_sets import content_fingerprint
from embeddings.vectors.vectors import Vectors

HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a&b;<b>",
    "\u202eevil",
    "\x00nul",
    "x" * 500,
]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A page on two files of vectors with hostile words, the suite, the vectors and their scores."""
    folder, rng = tmp_path_factory.mktemp("report"), np.random.default_rng(0)
    words = [*HOSTILE, *(f"word{i}" for i in range(60))]
    (folder / "pairs").write_text("".join(f"word{i}\tword{i + 1}\t{rng.uniform(0, 9)}\n" for i in range(40)))
    (folder / "q").write_text(
        ": s<i>\nword1 word2 word3 word4\nword2 word3 word4 word5\n: gram\nword1 word2 word3 word9\n"
    )
    (folder / "c").write_text("".join(f"word{i}\t{'even' if i % 2 == 0 else 'odd'}\n" for i in range(40)))
    suite = Suite.read(similarity=folder / "pairs", analogy=folder / "q", categories=folder / "c")
    vectors = [Vectors(words, rng.standard_normal((66, 8))), Vectors(words[:-3], rng.standard_normal((63, 5)))]
    names = ["".join(HOSTILE), "<b>second</b>"]
    scores = [suite.score(one, name) for name, one in zip(names, vectors, strict=True)]
    write_report(folder / "r.html", suite, vectors, scores, command="embeddings <x>")
    return (folder / "r.html").read_text(encoding="utf-8"), suite, vectors, scores


def test_the_page_is_valid_and_self_contained(report):
    parsed = Page(report[0])
    assert set(parsed.names) >= {"svg", "table", "style", "details", "circle", "line"}
    assert not set(parsed.names) & {"link", "img", "iframe", "object", "embed", "base", "form"}
    assert parsed.names.count("script") == 1
    assert not [name for name, _ in parsed.attributes if name.startswith("on") or name in ("src", "srcset", "style")]
    places = [float(value[:-1]) for name, value in parsed.attributes if name in ("x1", "x2", "cx")]
    assert min(places) >= 2
    assert max(places) <= 98
    ids = {value for name, value in parsed.attributes if name == "id"}
    assert all(value[0] == "#" and value[1:] in ids for name, value in parsed.attributes if name == "href")
    assert "default-src 'none'" in report[0]
    assert "url(" not in report[0]
    assert "@import" not in report[0]


def test_hostile_words_are_escaped(report):
    page = report[0]
    for one in ("<script>alert", "<img", "<b>", "<i>", "\u202e", "\x00"):
        assert one not in page.replace("\\u003c", "")
    assert "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;b&gt;second&lt;/b&gt;" in page
    shown = re.sub('title="[^"]*"', "", page.split("<pre>")[0])
    assert "x" * 500 not in shown


def test_the_page_embeds_results_as_json(report):
    data = json.loads(re.search(r'<script type="application/json" id="results">(.*)</script>', report[0]).group(1))
    results = [one.result() for part in report[3] for one in part]
    assert [(one["set"], one["value"]) for one in data["results"]] == [(one.set, one.value) for one in results]
    assert data["record"]["vectors"][1]["name"] == "<b>second</b>"
    assert data["record"]["command"] == "embeddings <x>"


def test_sections_and_their_content(report):
    page, _, vectors, scores = report
    headings = [re.sub("<[^>]*>", "", one) for one in re.findall(r"<h2[^>]*>(.*?)</h2>", page)]
    assert headings == ["pairs", "q", "c", "Reproduction"]
    texts = " ".join(Page(re.sub("(?s)<script.*?</script>", "", page)).texts)  # the tables, not the data
    for one in [one.result() for part in scores for one in part]:
        assert one.value is None or f"{one.value:.4f}".rstrip("0") in texts
    assert content_fingerprint([list(vectors[0].words), vectors[0].fingerprint]) in texts
    assert all(one in texts for one in ("scikit-learn", "bootstrap over pairs", "p_holm"))
    assert page.count("Paired tests<") == 3


def test_a_single_file_and_too_few_words(report, tmp_path):
    suite = report[1]
    for number, vectors in enumerate([Vectors(["word1"], np.ones((1, 2))), Vectors(["a", "b"], np.zeros((2, 1)))]):
        write_report(tmp_path / f"{number}", suite, [vectors], [suite.score(vectors, "v")])
        page = (tmp_path / f"{number}").read_text()
        Page(page)
        assert "Paired tests" not in page
        assert "a correlation requires two pairs" in page


def test_an_existing_file_is_replaced_only_with_force(report, tmp_path):
    _, *evaluated = report
    (tmp_path / "r").write_text("precious")
    with pytest.raises(OutputError, match="exists"):
        write_report(tmp_path / "r", *evaluated)
    assert (tmp_path / "r").read_text() == "precious"
    write_report(tmp_path / "r", *evaluated, force=True)
    assert (tmp_path / "r").read_text().startswith("<!DOCTYPE html>")
