"""`embeddings concordance` and `explain`: a word in its contexts, and the contexts that two words share."""

import json

import pytest
from commands import TEXT, expect, table


def test_lines_around_a_word(text):
    rows = table(expect("concordance", "text.txt", "King", "--lines", 2, "--quiet", "--context", "line").stdout)
    assert [row["line"] for row in rows] == ["49", "149"]
    assert {(row["document"], row["left"], row["keyword"], row["right"]) for row in rows} == {
        ("0", "the", "king", "rules the land")
    }
    result = json.loads(expect("concordance", "text.txt", "the land", "queen", "--window", 2, "--json").stdout)
    assert result["total"] == 50
    assert result["lines"][0]["keyword"] == "the land"
    result = expect("concordance", "text.txt", "king", "dog")
    assert result.stdout == ""
    assert "0 of 0" in result.stderr
    rows = table(expect("concordance", "text.txt", "ki*", "--lines", 2, "--quiet", "--sort", "left").stdout)
    assert {row["file"] for row in rows} == {"text.txt"}


def test_standard_input_is_read_once(text):
    """The text is encoded with a progress bar and then searched, and standard input is empty the second time."""
    from_file = expect("concordance", "text.txt", "king", "--quiet", "--no-original").stdout
    assert expect("concordance", "-", "king", "--quiet", stdin=TEXT.encode()).stdout == from_file


def test_contexts_of_two_words(folder):
    result = expect("explain", "model", "text.txt", "king", "queen", "--quiet")
    figures, contexts, lines = result.stdout.split("\n\n")
    pairs = dict(line.split("\t") for line in figures.splitlines())
    assert (pairs["count"], pairs["joint_count"]) == ("50", "0")
    assert -1 <= float(pairs["cosine"]) <= 1
    assert table(contexts)[0]["context"] in {"rules", "land"}
    assert {row["keyword"] for row in table(lines)} == {"king", "queen"}
    assert {row["context"] for row in table(lines)} == {row["context"] for row in table(contexts)}
    assert "another text" not in result.stderr
    evidence = json.loads(expect("explain", "model", "text.txt", "king", "queen", "--json").stdout)
    assert sum(context["share"] for context in evidence["contexts"]) == pytest.approx(1)
    never = json.loads(expect("explain", "model", "text.txt", "king", "dog", "--json").stdout)
    assert (never["joint_count"], never["pmi"]) == (0, None)
    (folder / "other.txt").write_text(TEXT * 2)
    assert "another text" in expect("explain", "model", "other.txt", "king", "queen").stderr
    evidence = json.loads(expect("explain", "v.bin", "text.txt", "king", "cat", "--case", "keep", "--json").stdout)
    assert evidence["same_corpus"] is None
