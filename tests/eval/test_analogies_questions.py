"""Analogy questions in three formats, several correct answers, and malformed files."""

import numpy as np
import pytest

from embeddings.errors import FormatError
from embeddings.eval import evaluate
from embeddings.eval.tasks import analogies as module
from embeddings.eval.tasks.analogies import read_questions
from embeddings.vectors.vectors import Vectors


def test_questions_without_sections(tmp_path):
    (tmp_path / "mine.txt").write_text("a b c d\ne f g h\n")
    found = read_questions(tmp_path / "mine.txt")
    assert (found.questions, found.answers) == ([("a", "b", "c"), ("e", "f", "g")], [("d",), ("h",)])
    results = evaluate(Vectors(list("abcdefgh"), np.eye(8)), analogy=tmp_path / "mine.txt", restrict=None)
    assert [(result.section, result.total) for result in results] == [(None, 2)]


def test_msr_has_answers_in_a_second_file(tmp_path):
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


def test_bats_makes_a_question_of_every_two_lines(tmp_path):
    found = read_questions(bats(tmp_path / "BATS_3.0"))
    assert found.name == "BATS_3.0"
    assert (found.sections, found.kinds) == (["E01 [x]", "E02"], ["Some kind", None])
    assert len(found.questions) == 3 * 2 + 2
    assert (found.questions[0], found.answers[0]) == (("a", "b", "c"), ("d", "e"))
    assert (found.questions[2], found.answers[2]) == (("c", "d", "a"), ("b", "B"))
    single = read_questions(tmp_path / "BATS_3.0" / "E02.txt")
    assert (single.name, single.questions) == ("E02", [("a", "b", "c"), ("c", "d", "a")])


def test_several_answers_equal_the_naive_implementation(tmp_path):
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
    assert (result.covered, result.total, round(result.value * seen)) == (seen, 25 * 24, right)
    assert right > 10


def test_too_many_questions_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_QUESTIONS", 5)
    (tmp_path / "f").write_text("a b\nc d\ne f\n")
    with pytest.raises(FormatError, match=r"6 questions.*5"):
        read_questions(tmp_path / "f")


def test_google_analogies():
    google = read_questions("google-analogies")
    assert len(google.questions) == len(google.section_of) == 19544
    assert len(google.sections) == 14
    assert (google.questions[0], google.answers[0]) == (("Athens", "Greece", "Baghdad"), ("Iraq",))
    assert (google.questions[-1], google.answers[-1]) == (("write", "writes", "work"), ("works",))
    assert google.section_of[-1] == 13


def test_halves_keep_sections_of_one_name_and_two_kinds_apart(tmp_path):
    for kind in "xy":
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "same.txt").write_text("".join(f"{kind}{row} {kind}{row}s\n" for row in range(6)))
    whole = read_questions(tmp_path)
    for half in ("dev", "test"):
        part = whole.select(half)
        kinds = [part.kinds[section] for section in part.section_of]
        assert kinds == [question[0][0] for question in part.questions]
        assert set(kinds) == {"x", "y"}
