"""Analogy questions of three formats: what they ask, several right answers, and broken files."""

import numpy as np
import pytest

from embeddings.errors import FormatError
from embeddings.eval import analogy_questions as module
from embeddings.eval import evaluate
from embeddings.eval.analogy_questions import read_questions
from embeddings.vectors.vectors import Vectors


def test_questions_without_sections(tmp_path):
    (tmp_path / "mine.txt").write_text("a b c d\ne f g h\n")
    found = read_questions(tmp_path / "mine.txt")
    assert (found.questions, found.answers) == ([("a", "b", "c"), ("e", "f", "g")], [("d",), ("h",)])
    results = evaluate(Vectors(list("abcdefgh"), np.eye(8)), analogy=tmp_path / "mine.txt", restrict=None)
    assert [(result.section, result.total) for result in results] == [(None, 2)]


def test_msr_has_its_answers_beside(tmp_path):
    (tmp_path / "w.questions").write_text("good better rough\nbe is see\ngood better bad\n")
    (tmp_path / "w.answers").write_text("jj_jjr rougher\nvb_vbz sees\njj_jjr worse\n")
    found = read_questions(tmp_path / "w.questions")
    assert found.questions == [("good", "better", "rough"), ("be", "is", "see"), ("good", "better", "bad")]
    assert found.answers == [("rougher",), ("sees",), ("worse",)]
    assert (found.name, found.sections, found.section_of) == ("w", ["jj_jjr", "vb_vbz"], [0, 1, 0])


def bats(folder):
    """A set of two relations, one in a folder of a kind."""
    (folder / "1_Some_kind").mkdir(parents=True)
    (folder / "1_Some_kind" / "E01 [x].txt").write_text("a\tb/B\nc\td/e\nf\tg\n")
    (folder / "E02.txt").write_text("a b\nc d\n")
    return folder


def test_bats_asks_each_two_lines_and_takes_any_right_answer(tmp_path):
    found = read_questions(bats(tmp_path / "BATS_3.0"))
    assert found.name == "BATS_3.0"
    assert (found.sections, found.kinds) == (["E01 [x]", "E02"], ["Some kind", None])
    assert len(found.questions) == 3 * 2 + 2
    assert (found.questions[0], found.answers[0]) == (("a", "b", "c"), ("d", "e"))
    assert (found.questions[2], found.answers[2]) == (("c", "d", "a"), ("b", "B"))
    single = read_questions(tmp_path / "BATS_3.0" / "E02.txt")
    assert (single.name, single.questions) == ("E02", [("a", "b", "c"), ("c", "d", "a")])


def test_several_answers_by_an_obvious_twin(tmp_path):
    rng = np.random.default_rng(0)
    vectors = Vectors([f"w{i}" for i in range(60)], rng.standard_normal((60, 4)))
    lines = [
        [f"w{rng.integers(70)}", [f"w{one}" for one in rng.integers(0, 70, rng.integers(1, 5))]] for _ in range(25)
    ]
    (tmp_path / "pairs.txt").write_text("".join(f"{word}\t{'/'.join(others)}\n" for word, others in lines))
    seen = right = 0
    for a, partners in lines:
        for c, answers in lines:
            if partners is answers:
                continue
            three = [a, partners[0], c]
            if all(word in vectors for word in three) and any(word in vectors for word in answers):
                seen += 1
                best = vectors.analogy(*three, top=1)[0][0]
                right += best in answers
    result = evaluate(vectors, analogy=tmp_path / "pairs.txt", restrict=None)[-1]
    assert (result.seen, result.total, round(result.value * seen)) == (seen, 25 * 24, right)
    assert right > 10


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.questions", "a b c\n", "has lines of three words, and the answers are not beside it in a.answers"),
        ("b.questions", "a b c\na b\n", "line 2: three words are needed, not 'a b'"),
        ("c.questions", "a b c\na b c\n", "has 2 questions, but .* has 1 answers"),
        ("d.questions", "a b c\n", "line 1: a section and an answer are needed, not 'x'"),
        ("e", "a b\nc\n", "line 2: a word and its partners are needed, not 'c'"),
        ("f", "a b\nc\t//\n", "line 2: a word and its partners are needed"),
        ("g", "a b\n", "holds no analogy questions"),
    ],
)
def test_broken_files(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    for answers, told in (("b", "x y\nx y\n"), ("c", "x y\n"), ("d", "x\n")):
        (tmp_path / f"{answers}.answers").write_text(told)
    with pytest.raises(FormatError, match=message):
        read_questions(tmp_path / name)


def test_a_file_that_makes_too_many_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST", 5)
    (tmp_path / "f").write_text("a b\nc d\ne f\n")
    with pytest.raises(FormatError, match="makes 6 questions of each two lines; 5 are allowed"):
        read_questions(tmp_path / "f")
