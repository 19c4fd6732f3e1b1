"""Dumps of MediaWiki as corpora."""

import bz2
import re
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import decoded, encode

from embeddings.corpora.reading import text_pool
from embeddings.corpora.reading.wikipedia_dump import without_open_brackets, without_tables
from embeddings.errors import CorpusError, EmbeddingsError

MARKUP = """{{Infobox|name={{nested}}|text=hidden}}
'''Käse''' is a [[milk|dairy product]] from [[Europe]].<ref name="a">A hidden source</ref>{{cite}}
<!-- hidden -->
== Kinds of cheese ==
* [[Datei:Hidden.jpg|thumb|hidden [[caption]]]] Old &amp; young
* see [http://example.org the site] and http://example.org
{| class="wikitable"
| hidden || cell
|}
__NOTOC__
x<br>y <math>hidden</math> ''nested '''bold''' text''

[[Kategorie:Hidden]]
[[de:Käse]]
"""
LINES = [
    "Käse is a dairy product from Europe.",
    "Kinds of cheese",
    "Old & young",
    "see the site and",
    "x",
    "y nested bold text",
    "de:Käse",
]


def page(title, text, ns=0, extra="", number=1):
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return (
        f"<page><title>{title}</title><ns>{ns}</ns><id>{number}</id>{extra}<revision><id>99</id><contributor>"
        f"<username>U</username><id>5</id></contributor><model>wikitext</model><text>{text}</text></revision></page>"
    )


def dump(*pages):
    head = (
        '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11"><siteinfo><namespaces>'
        '<namespace key="0"/><namespace key="6">Datei</namespace><namespace key="14">Kategorie</namespace></namespaces>'
        "</siteinfo>"
    )
    return (head + "".join(pages) + "</mediawiki>").encode()


@pytest.fixture(params=[1, 2], ids=["one process", "two processes"])
def processes(request, monkeypatch):
    pytest.importorskip("mwparserfromhell")
    monkeypatch.setattr(text_pool, "available_threads", lambda: request.param)
    monkeypatch.setattr("embeddings.corpora.reading.wikipedia_dump.JOB_SIZE", 5000)


@pytest.mark.parametrize("size", [10, 1 << 18])
def test_a_dump_of_wikipedia(tmp_path, processes, size):
    pages = [page(f"Title {number}", MARKUP, number=number) for number in range(100)]
    pages[1:1] = [page("Talk", "hidden", ns=1), page("Redirect", "hidden", extra='<redirect title="x"/>')]
    data = dump(*pages)
    packed = bz2.compress(data[:5000]) + bz2.compress(data[5000:])  # as in multistream dumps
    (tmp_path / "wiki.xml.bz2").write_bytes(packed)
    with encode(
        tmp_path / "wiki.xml.bz2", tokenizer="whitespace", case="keep", tag_column="title", block_size=size
    ) as encoded:
        assert [" ".join(line) for line in decoded(encoded)] == LINES * 100
        assert encoded.tags.to_pylist() == [f"Title {number}" for number in range(100)]
    with encode(tmp_path / "wiki.xml.bz2", tag_column="id", rows=3) as encoded:
        assert encoded.tags.to_pylist() == ["0", "1", "2"]


def test_an_empty_dump_and_a_truncated_one(tmp_path, processes):
    (tmp_path / "empty").write_bytes(dump() + b"\n")
    (tmp_path / "one").write_bytes(dump(page("A", "a b")))
    with encode(tmp_path / "empty", tmp_path / "one") as encoded:
        assert decoded(encoded) == [["a", "b"]]
    (tmp_path / "cut").write_bytes(dump(page("A", "a b"))[:-30])
    with pytest.raises(CorpusError, match="cut is truncated, or not a MediaWiki dump: "):
        encode(tmp_path / "cut")
    with pytest.raises(CorpusError, match="no column 'author'; its columns: title, id, text"):
        encode(tmp_path / "one", tag_column="author")


def test_a_page_that_never_ends_is_refused(tmp_path, monkeypatch, processes):
    monkeypatch.setattr("embeddings.corpora.reading.wikipedia_dump.MAX_PAGE", 1 << 20)
    (tmp_path / "t").write_bytes(dump(page("A", "a " * (1 << 20))))
    with pytest.raises(CorpusError, match="no page ends within 1048576 bytes"):
        encode(tmp_path / "t", block_size=1 << 12)


def test_pages_in_pages_are_read_once(tmp_path, processes):
    (tmp_path / "t").write_bytes(dump(page("A", "a b", extra="<page>" * 2000 + page("B", "c d") + "</page>" * 2000)))
    with encode(tmp_path / "t", tag_column="title") as encoded:
        assert len(decoded(encoded)) == 1


HOSTILE = ["{{a|", "<b>", "<b ", "[[a", "[[File:a|b [[c]]", "[http://a ", "[//a ", "[x:a ", "[[http://a ", "http://a "]
HOSTILE += ["<ref>x ", "{|", "}}", "*", "''x", "<!-- a"]


@pytest.mark.parametrize(("marks", "expected"), [(20, "*" * 20 + "x"), (21, "x")])
def test_long_runs_of_list_marks_are_left_out(marks, expected):
    assert without_tables("*" * marks + "x") == expected


@pytest.mark.parametrize("mark", HOSTILE)
def test_unclosed_markup_takes_linear_time(tmp_path, monkeypatch, mark):
    pytest.importorskip("mwparserfromhell")
    monkeypatch.setattr(text_pool, "available_threads", lambda: 1)
    (tmp_path / "t").write_bytes(dump(page("A", f"fine {mark * 5_000}\nend"), page("B", "x")))
    before = time.process_time()
    with encode(tmp_path / "t", tag_column="title") as encoded:
        assert decoded(encoded)[0][0] == "fine"
        assert encoded.tags.to_pylist() == ["A", "B"]
    assert time.process_time() - before < 30  # in quadratic time, minutes


@settings(deadline=None, max_examples=200)
@given(st.lists(st.sampled_from(["[[", "]]", "{{", "}}", "a", "|"]), max_size=14).map("".join))
def test_brackets_that_stay_are_closed(markup):
    text, depth = without_open_brackets(markup)
    assert without_open_brackets(text) == (text, depth)
    assert re.sub(r"[\[\]{}]", "", text) == re.sub(r"[\[\]{}]", "", markup)
    rest = re.sub("[a|]", "", text)
    for _ in range(depth):
        assert rest
        rest = re.sub(r"(?:\[\[\]\]|\{\{\}\})+", "", rest)
    assert rest == ""


@pytest.mark.parametrize(
    ("markup", "lines"),
    [
        ("İ<ref>hidden</ref>a<REF name=x/>b<references>c", ["İabc"]),
        ("<nowiki>[[x]] 'y'</nowiki> <b>z</b> &lt;i&gt;", ["[[x]] 'y' z <i>"]),
        ("a <ref name=b>c [[d", ["a c d"]),
        ("5 < 6 <7 <!-- x", ["5 < 6 <7"]),
    ],
)
def test_tags(tmp_path, processes, markup, lines):
    (tmp_path / "t").write_bytes(dump(page("A", markup)))
    with encode(tmp_path / "t", tokenizer="whitespace", case="keep") as encoded:
        assert [" ".join(line) for line in decoded(encoded)] == lines


def test_deeply_nested_markup_is_skipped(tmp_path, caplog, processes):
    deep = ["{{a|" * 51 + "}}" * 51, "[[a|" * 20_000 + "]]" * 20_000]
    shallow = "{{a|" * 50 + "}}" * 50 + "b " + "<b>" * 2_000 + "c" + "</b>" * 2_000
    (tmp_path / "t").write_bytes(dump(*(page("Deep", text) for text in deep), page("A", shallow)))
    with encode(tmp_path / "t", tag_column="title") as encoded:
        assert decoded(encoded) == [["b", "c"]]
        assert encoded.tags.to_pylist() == ["A"]
    assert "skipped 2 pages" in caplog.text


def test_tables_are_left_out(tmp_path, processes):
    text = "a\n:{| x\n| b\n{|\n| c\n|}\n| d\n|} e\n{{t|\n{|\n| f\n|}\n}}g\n" + "{|\n" + "| h || h\n" * 50_000 + "|}\ni"
    (tmp_path / "t").write_bytes(dump(page("A", text)))
    with encode(tmp_path / "t") as encoded:
        assert decoded(encoded) == [["a"], ["e"], ["g"], ["i"]]


def test_a_missing_library_is_named_and_a_web_archive_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mwparserfromhell", None)
    (tmp_path / "t").write_bytes(dump())
    with pytest.raises(EmbeddingsError, match=r"t is a .* requires mwparserfromhell.*pip install"):
        encode(tmp_path / "t")
    (tmp_path / "t").write_bytes(b"WARC/1.0\r\n")
    with pytest.raises(CorpusError, match=r"t is a web archive"):
        encode(tmp_path / "t")
