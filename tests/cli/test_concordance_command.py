"""`embeddings concordance`: a word in its contexts."""

import json
from pathlib import Path

import pytest
from commands import TEXT, expect, refused, table


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text(TEXT)
    return tmp_path


def test_lines_around_a_word(folder):
    rows = table(expect("concordance", "corpus.txt", "King", "--lines", 2, "--quiet", "--context", "line").stdout)
    assert [row["line"] for row in rows] == ["49", "149"]
    assert {(row["document"], row["left"], row["keyword"], row["right"]) for row in rows} == {
        ("0", "the", "king", "rules the land")
    }
    result = json.loads(expect("concordance", "corpus.txt", "the land", "queen", "--window", 2, "--json").stdout)
    assert result["total"] == 50
    assert result["lines"][0]["keyword"] == "the land"
    assert expect("concordance", "corpus.txt", "king", "dog").stdout == ""
    assert "0 of 0" in expect("concordance", "corpus.txt", "king", "dog").stderr
    rows = table(expect("concordance", "corpus.txt", "ki*", "--lines", 2, "--quiet", "--sort", "left").stdout)
    assert {row["file"] for row in rows} == {"corpus.txt"}
    assert "OTHER" in refused("concordance", "corpus.txt", "king", "--window", 3, code=2)
    message = refused("concordance", "corpus.txt", "kin", "--quiet", code=1)
    assert all(fact in message for fact in ("'kin'", "king", "corpus"))


def test_standard_input_is_read_once(folder):
    """The text is encoded with a progress bar and then searched, and standard input is empty the second time."""
    from_file = expect("concordance", "corpus.txt", "king", "--quiet", "--no-original").stdout
    assert expect("concordance", "-", "king", "--quiet", stdin=TEXT.encode()).stdout == from_file
