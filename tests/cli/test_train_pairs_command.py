"""`embeddings train text-pairs` with pairs of which nothing can be learned: one clear line each."""

import pytest
from commands import expect, refused

FILES = {
    "same.txt": "a b\tc d\t1\n" * 3,
    "equal.txt": "a b\tc d\t1\na f\tc e\t1\n",
    "empty.txt": "a b\t\t1\n\tc e\t2\n",
    "words.txt": "a b\tc\t1\na f\tc e\thigh\n",
    "lines.txt": "one\ntwo\n",
    "ragged.txt": "a\tb\nc\td\te\n",
    "headings.txt": "Title\nshort\n\nOther\nshort\n",
    "unsplit.txt": "Title\n" + "A paragraph that is long enough to be one of a pair of texts.\n" * 150,
    "table.csv": "question,answer,topic\na b,c d,e\nf g,h i,j\n",
    "labels.jsonl": '{"a": "b c", "d": 5}\n',
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (["same.txt"], ["all 3 pairs", "same.txt", "the same"]),
        (["equal.txt", "--objective", "cosent"], ["equal.txt", "ratings", "vary"]),
        (["empty.txt"], ["all 2", "empty", "empty.txt, line 1"]),
        (["words.txt"], ["words.txt, line 2", "number", "'high'"]),
        (["lines.txt"], ["lines.txt, line 1", "tabs"]),
        (["ragged.txt"], ["ragged.txt, line 2", "expected 2", "got 3"]),
        (["headings.txt", "--pairs", "title-body"], ["headings.txt", "no pairs", "title-body", "40 bytes"]),
        (["unsplit.txt", "--pairs", "title-body"], ["unsplit.txt", "single title", "blank line"]),
        (["table.csv", "--left-column", "question", "--right-column", "reply"], ["'reply'", "question, answer, topic"]),
        (["labels.jsonl"], ["labels.jsonl", "--left-column", "a, d"]),
    ],
)
def test_bad_pairs_are_one_line(folder, arguments, facts):
    message = refused("train", "text-pairs", *arguments, "-o", "m", "--quiet", "--dim", 8, code=1)
    assert all(fact in message for fact in facts), message
    assert not (folder / "m").exists()


def test_wrong_options_are_one_line():
    message = refused("train", "text-pairs", "same.txt", "--pairs", "titles", "-o", "m", code=2)
    assert "title-body" in message
    assert "titles" in message


def test_pairs_with_an_empty_side_are_dropped_with_a_warning(folder):
    (folder / "some.txt").write_text("a b\tc d\ne f\t \ng a\th b\n" * 20)
    result = expect("train", "text-pairs", "some.txt", "-o", "m", "--dim", 8, "--epochs", 1, "--threads", 1, "--quiet")
    assert "dropped 20 of 60 pairs" in result.stderr
    assert "line 2" in result.stderr
